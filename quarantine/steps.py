"""One node of a cluster: its cases beside what the node is. Level-triggered; each step may be repeated, and killed anywhere.

The row says what is to be before the node is changed: `accepted` before the mark, `returning` before it is taken away. A process that
dies in between leaves a row that the next pass compares with the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kube.client import ApiError
from quarantine import moves
from quarantine.calls import Api
from quarantine.changes import NodeNow
from quarantine.models import MARKED, Case, CaseState, ReturnReason
from quarantine.nodes import waits_for
from quarantine.wish import cordoned, patch_of, was
from wording.said import of_error, sentence

#: How often a node is read again in one pass, because another writer wrote to it meanwhile.
CONFLICTS = 3


def node_step(api: Api, name: str, cases: Sequence[Case], at: datetime) -> None:
    """cases: those of the node that act. Raises ApiError where the cluster cannot be asked at all."""
    for _ in range(CONFLICTS):
        now = api.node(name)
        if now is None:
            _gone(cases, at)
            return
        mine = by_hand(now, _same_node(now, cases, at), at)
        why = waits_for(now) or unknown_marks(now, mine)
        if why:
            _wait(mine, at, why)
            return
        if _written(api, now, mine, at):
            return
    _wait(cases, at, sentence("Node {node} changes too often. gpudash tries again.", node=name))


def _written(api: Api, now: NodeNow, cases: Sequence[Case], at: datetime) -> bool:
    """Whether the node and its rows agree; False where another writer wrote to the node meanwhile."""
    _prepare(now, cases)
    staying = [one for one in cases if one.state in MARKED]
    patch = patch_of(now, staying, [one for one in cases if one.state == CaseState.RETURNING])
    if patch is not None:
        try:
            api.patch_node(now.name, patch)
        except ApiError as error:
            if error.status == 409:
                return False
            if error.status in (0, 401, 429) or error.status >= 500:
                raise
            for case in cases:
                moves.failed(case, at, of_error(error))
            return True
    settle(cases, at, (patch or {}).get("spec"))
    return True


def settle(cases: Sequence[Case], at: datetime, after: object = None) -> None:
    """The node is as its cases want it."""
    for case in cases:
        if case.state == CaseState.ACCEPTED:
            moves.marked(case, at, after)
        elif case.state == CaseState.RETURNING:
            moves.returned(case, at, after)
        else:
            moves.seen(case, at)


def _prepare(now: NodeNow, cases: Sequence[Case]) -> None:
    """What stood there before is in the row before the mark is on the node. A mark that is there already was prepared."""
    marked = [one for one in cases if one.state == CaseState.OUT]
    for case in cases:
        if case.state != CaseState.ACCEPTED:
            continue
        if not (case.was and case.pk in now.cases):
            moves.note(case, was=was(now, marked), node_uid=now.uid[:128])
        marked.append(case)


def by_hand(now: NodeNow, cases: Sequence[Case], at: datetime) -> list[Case]:
    """A mark of ours that a person or tool removed is respected: those cases return. Never put back for the same run."""
    for case in cases:
        if case.state != CaseState.OUT:
            continue
        # At the end of a driver upgrade the GPU Operator uncordons what it found cordoned by us: no person did that.
        uncordoned = cordoned(case) and not now.unschedulable and not case.waits
        if now.tainted_for is None or uncordoned:
            moves.begin_return(case, ReturnReason.BY_HAND, at)
    return list(cases)


def _same_node(now: NodeNow, cases: Sequence[Case], at: datetime) -> list[Case]:
    """Without those of an earlier node of the same name, whose marks went with it."""
    for case in cases:
        if case.node_uid and case.node_uid != now.uid:
            end(case, ReturnReason.NODE_REPLACED, at)
    return [one for one in cases if one.open]


def _gone(cases: Sequence[Case], at: datetime) -> None:
    for case in cases:
        end(case, ReturnReason.NODE_REMOVED, at)


def end(case: Case, reason: ReturnReason, at: datetime) -> None:
    """The mark is away with its node. A return that was under way keeps its reason."""
    if case.state != CaseState.RETURNING:
        moves.begin_return(case, reason, at)
    moves.returned(case, at, None)


def unknown_marks(now: NodeNow, cases: Sequence[Case]) -> str:
    """Why nothing is changed where our marks name cases that are in no row: another database may have written them."""
    named = now.cases - {one.pk for one in cases}
    unknown = sorted(named - set(Case.objects.filter(pk__in=named).values_list("pk", flat=True))) if named else []
    if not unknown:
        return ""
    return sentence(
        "The node has a mark of gpudash for the case {case}, which this database does not have. Remove it by hand if no "
        "other gpudash marks this cluster.",
        case=unknown[0][:63],
    )


def _wait(cases: Sequence[Case], at: datetime, why: str) -> None:
    for case in cases:
        if case.open:
            moves.waits(case, at, why)
