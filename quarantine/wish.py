"""What a node should have, from its cases: those that are out, and those that return. Several cards of one node share its one mark.

Asks nothing: cases are given, the node is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from quarantine.changes import Entry, NodeNow, patch, was_of
from quarantine.models import Case, CaseState, How

#: Marks that are of the node, and so are one for all its cases.
OF_NODE = (How.TAINT.value, How.CORDON.value)


def patch_of(now: NodeNow, staying: Sequence[Case], returning: Sequence[Case]) -> dict[str, Any] | None:
    """The patch after which the node is as its cases want it; None where it is."""
    return patch(now, [entry(one) for one in staying], cordon(now, staying, returning))


def cordon(now: NodeNow, staying: Sequence[Case], returning: Sequence[Case]) -> bool | None:
    """True: cordon. False: the cordon is ours and no case needs it any more. None: leave it as it is.

    Where another writer had cordoned the node before us, and lifts it, our taint alone stays.
    """
    wanting = [one for one in staying if one.how == How.CORDON]
    if any(one.state == CaseState.ACCEPTED or cordoned(one) for one in wanting):
        return True
    ours = any(cordoned(one) for one in returning)
    return False if ours and not wanting and now.unschedulable and not now.foreign_cordon else None


def cordoned(case: Case) -> bool:
    """Whether it was us who cordoned the node for this case: it was schedulable right before."""
    return case.how == How.CORDON and case.was.get("unschedulable") is False


def was(now: NodeNow, others: Iterable[Case]) -> dict[str, Any]:
    """What stood there before the mark of a case. others: cases that are marked already; their cordon is ours."""
    before = was_of(now)
    if any(cordoned(one) for one in others):
        before["unschedulable"] = False
    return before


def entry(case: Case) -> Entry:
    return Entry(
        id=case.pk,
        by=case.accepted_by_name or "gpudash",
        at=f"{case.accepted_at:%Y-%m-%dT%H:%M:%SZ}" if case.accepted_at else "",
        reason=case.reason[:500],
        run=case.run_id or "",
        card=case.card_key,
        how=case.how,
        was=case.was,
    )
