"""The states of cases: each step a compare-and-set on the state before. Those of the workers write their audit entry here.

Who was first wins: a pass that is late writes nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec

from audit.actions import Action
from audit.acts import act
from quarantine.models import Case, CaseState, How, ReturnReason, What
from runtime.clock import database_now
from wording.said import cut, stored

#: A mark that is there is looked at again; what waits or failed is tried again.
LOOK_AGAIN, TRY_AGAIN = timedelta(seconds=60), timedelta(seconds=15)
LONGEST = 1000
_CLEAR: dict[str, Any] = {"waits": "", "waits_wording": None, "error": "", "error_wording": None}


def target(case: Case) -> str:
    """As the audit log names it."""
    card = f" card {case.card_key}" if case.card_key else ""
    return f"{case.cluster.name}/{case.node_name}{card}"


def accepted(how: str) -> dict[str, Any]:
    """The columns of a case that a person or a policy accepts now."""
    what = What.CARD if how == How.DEVICE_TAINT else What.NODE
    return {"how": how, "what": what.value, "accepted_at": database_now(), "next_look_at": None}


def marked(case: Case, at: datetime, after: Any) -> bool:
    """accepted → out: the mark is there. after: what was written, as JSON of the entry."""
    with act(
        Action.CASE_MARK, target(case), id=case.pk, how=case.how, before=_json(case.was), after=_json(after)
    ) as done:
        moved = move(case, CaseState.ACCEPTED, at, state=CaseState.OUT, marked_at=at, next_look_at=at + LOOK_AGAIN)
        if not moved:
            done.nothing()
    return moved


def returned(case: Case, at: datetime, after: Any) -> bool:
    """returning → returned: the mark is away."""
    with act(Action.CASE_UNMARK, target(case), id=case.pk, reason=case.return_reason, after=_json(after)) as done:
        moved = move(case, CaseState.RETURNING, at, state=CaseState.RETURNED, returned_at=at, next_look_at=None)
        if not moved:
            done.nothing()
    return moved


def begin_return(case: Case, reason: ReturnReason, at: datetime, **columns: Any) -> bool:
    """accepted or out → returning, for a reason that no person gave."""
    with act(
        Action.CASE_RETURN, target(case), id=case.pk, state=f"{case.state} → returning", reason=reason.value
    ) as done:
        more = {"return_reason": reason.value, "return_requested_at": at, "next_look_at": None} | columns
        moved = move(case, CaseState(case.state), at, state=CaseState.RETURNING, **more)
        if not moved:
            done.nothing()
    return moved


def move(case: Case, before: CaseState, at: datetime, *, state: CaseState, **columns: Any) -> bool:
    """Whether it was in the state before; the row and the object are changed then. What stood in the way is over."""
    columns = _CLEAR | {"state": state.value, "state_since": at, "looked_at": at} | columns
    if Case.objects.filter(pk=case.pk, state=before.value).update(**columns) != 1:
        return False
    for name, value in columns.items():
        setattr(case, name, value)
    return True


def note(case: Case, **columns: Any) -> None:
    """Write columns of a case whose state is still the one that was read."""
    if Case.objects.filter(pk=case.pk, state=case.state).update(**columns):
        for name, value in columns.items():
            setattr(case, name, value)


def seen(case: Case, at: datetime) -> None:
    """It is as it should be."""
    note(case, **_CLEAR, looked_at=at, next_look_at=at + LOOK_AGAIN)


def waits(case: Case, at: datetime, why: str, *, again: timedelta | None = TRY_AGAIN) -> None:
    """Nothing can be done now, for a reason that may pass. again: after that, None for the next pass."""
    note(
        case,
        **_CLEAR | {"waits": cut(why, LONGEST), "waits_wording": stored(why)},
        looked_at=at,
        next_look_at=None if again is None else at + again,
    )


def failed(case: Case, at: datetime, why: str) -> None:
    """The cluster refused."""
    note(
        case,
        **_CLEAR | {"error": cut(why, LONGEST), "error_wording": stored(why)},
        looked_at=at,
        next_look_at=at + TRY_AGAIN,
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode() if value else ""
