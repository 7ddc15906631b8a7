"""What people do with cases: by page, REST and command alike. Each act is in the audit log, with before and after.

Each act can be repeated, and returns whether it did it: where it is done already it changes nothing, and the audit log gets no entry.

Nothing here asks a cluster: a row is written, and the launch worker does the rest (`quarantine.steps`). `plan_accept` and
`plan_return` say what it would do, by what is known of the node. Who may: operators for cases; administrators for the switch, its
reset, and `validations.policies.manage.take_out`. Of a case's cluster the scope must see all.
"""

from __future__ import annotations

from typing import Any

from audit.actions import Action
from audit.acts import Act, act
from quarantine.models import Case, CaseState, How, QuarantineSwitch, ReturnReason
from quarantine.moves import accepted, move, target
from quarantine.planned import Plan, how_of, of_accepting, of_returning
from quarantine.wake import wake
from runtime.clock import database_now
from runtime.scope import current
from validations.planning import Refused
from wording.said import Said, sentence

LONGEST_NOTE = 500


#: What an act moves a case to → states in which that is done already.
_DONE = {
    CaseState.ACCEPTED: (CaseState.ACCEPTED, CaseState.OUT),
    CaseState.DECLINED: (CaseState.DECLINED,),
    CaseState.RETURNING: (CaseState.RETURNING, CaseState.RETURNED),
}


def accept(case: Case, user: Any = None, *, note: str = "", how: str = "") -> bool:
    """Take it out of service. how: a value of `How`, "" for what the cluster has. Raises Refused."""
    if _done(case, CaseState.ACCEPTED):
        return False
    note, chosen = _note(note), _how(case, how)
    columns = accepted(chosen) | {"accepted_by_name": _name(user), "accepted_note": note}
    with act(Action.CASE_ACCEPT, target(case), how=chosen, note=note) as entry:
        wake(case.cluster_id)
        return _move(case, entry, CaseState.ACCEPTED, (CaseState.RECOMMENDED,), columns)


def decline(case: Case, user: Any = None, *, note: str = "") -> bool:
    """It stays in service; nothing is recommended again for the same run. Raises Refused."""
    if _done(case, CaseState.DECLINED):
        return False
    note = _note(note)
    columns = {"declined_at": database_now(), "declined_by_name": _name(user), "declined_note": note}
    with act(Action.CASE_DECLINE, target(case), note=note) as entry:
        return _move(case, entry, CaseState.DECLINED, (CaseState.RECOMMENDED,), columns)


def give_back(case: Case, user: Any = None, *, note: str) -> bool:
    """Return it to service without a pass. note: why, which must be said. Raises Refused."""
    if _done(case, CaseState.RETURNING):
        return False
    note = _note(note)
    if not note:
        raise Refused({"note": [sentence("Enter a reason.")]})
    columns = {
        "return_reason": ReturnReason.PERSON.value,
        "return_requested_at": database_now(),
        "returned_by_name": _name(user),
        "returned_note": note,
        "next_look_at": None,
    }
    with act(Action.CASE_RETURN, target(case), note=note) as entry:
        wake(case.cluster_id)
        return _move(case, entry, CaseState.RETURNING, (CaseState.ACCEPTED, CaseState.OUT), columns)


def plan_accept(case: Case, how: str = "") -> Plan:
    """What `accept` would do now. Raises Refused as it does."""
    _in(case, CaseState.RECOMMENDED, CaseState.ACCEPTED)
    return of_accepting(case, _how(case, how))


def plan_return(case: Case) -> Plan:
    """What `give_back` would do now. Raises Refused as it does."""
    _in(case, CaseState.ACCEPTED, CaseState.OUT, CaseState.RETURNING)
    return of_returning(case)


def switch() -> QuarantineSwitch:
    """The row, as it is or would be made."""
    return QuarantineSwitch.objects.filter(pk=1).first() or QuarantineSwitch()


def change_switch(
    user: Any = None, *, automatic: bool | None = None, cap_percent: int | None = None
) -> QuarantineSwitch:
    """For administrators. None: as it is. Raises Refused."""
    if cap_percent is not None and not 1 <= cap_percent <= 100:
        raise Refused({"cap_percent": [sentence("Must be an integer from {least} to {most}.", least=1, most=100)]})
    with act(Action.QUARANTINE_CHANGE, "") as changed:
        row, _ = QuarantineSwitch.objects.select_for_update().get_or_create(pk=1)
        told = {
            name: f"{getattr(row, name)} → {value}"
            for name, value in (("automatic", automatic), ("cap_percent", cap_percent))
            if value is not None and value != getattr(row, name)
        }
        if not told:
            changed.nothing()
            return row
        changed.on("", **told)
        row.automatic = row.automatic if automatic is None else automatic
        row.cap_percent = row.cap_percent if cap_percent is None else cap_percent
        row.changed_at, row.changed_by_name = database_now(), _name(user)
        row.save()
    return row


def reset(user: Any = None) -> QuarantineSwitch:
    """Let policies act by themselves again after the cap was reached. For administrators."""
    with act(Action.QUARANTINE_RESET, "") as done:
        row, _ = QuarantineSwitch.objects.select_for_update().get_or_create(pk=1)
        if row.tripped_at is None:
            done.nothing()
            return row
        done.on("", tripped=f"{row.tripped_at:%Y-%m-%d %H:%M} UTC → no")
        row.tripped_at, row.tripped_reason, row.tripped_wording = None, "", None
        row.reset_at, row.reset_by_name = database_now(), _name(user)
        row.save()
    return row


def hows(case: Case) -> tuple[str, ...]:
    """By which marks this case can be taken out, the one of its cluster first."""
    first = how_of(case)
    if first == How.NVSENTINEL:
        return (How.NVSENTINEL.value,)
    others = (How.TAINT.value, How.CORDON.value)
    return (first, *(one for one in others if one != first))


def _how(case: Case, how: str) -> str:
    known = hows(case)
    if how and how not in known:
        raise Refused({"how": [sentence("Must be one of: {names}.", names=", ".join(known))]})
    return how or known[0]


def _may(case: Case) -> None:
    if not current().sees_whole(case.cluster_id):
        raise Refused({"": [sentence("Requires a scope that covers the whole cluster.")]})


def _in(case: Case, *states: CaseState) -> None:
    _may(case)
    if case.state not in states:
        raise _moved(case)


def _done(case: Case, state: CaseState) -> bool:
    _may(case)
    return case.state in _DONE[state]


def _move(case: Case, entry: Act, state: CaseState, before: tuple[CaseState, ...], columns: dict[str, Any]) -> bool:
    """False and no entry where another user has done the same meanwhile. Raises Refused where the state does not allow it."""
    was = CaseState(case.state)
    if was in before and move(case, was, database_now(), state=state, **columns):
        entry.on(target(case), id=case.pk, state=f"{was.value} → {state.value}")
        return True
    case.refresh_from_db()
    if case.state not in _DONE[state]:
        raise _moved(case)
    entry.nothing()
    return False


def _moved(case: Case) -> Refused:
    return Refused({"": [state_words(case)]})


def state_words(case: Case) -> Said:
    return sentence("The case is {state} now.", state=CaseState(case.state).value)


def _note(text: str) -> str:
    return " ".join(text.replace("\0", "").split())[:LONGEST_NOTE]


def _name(user: Any) -> str:
    return user.get_username()[:150] if user else ""
