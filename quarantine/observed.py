"""Clusters in which gpudash marks no node: a person runs what it prints. Then the mirror shows whether the mark is there."""

from __future__ import annotations

from datetime import datetime

from inventory.models import DeviceTaintRule
from quarantine import moves
from quarantine.changes import NodeNow
from quarantine.devices import rule_name
from quarantine.models import ACTING, Case, CaseState, How, ReturnReason
from quarantine.nodes import mirrored
from quarantine.steps import end
from quarantine.wish import OF_NODE


def observe(at: datetime) -> int:
    """Returns how many cases have moved."""
    rows = Case.objects.filter(state__in=ACTING, cluster__quarantine_kubeconfig="")
    return sum(_moved(case, at) for case in rows.select_related("cluster").order_by("pk"))


def _moved(case: Case, at: datetime) -> bool:
    now = mirrored(case.cluster_id, case.node_name)
    if now is None:
        end(case, ReturnReason.NODE_REMOVED, at)
        return True
    there = _there(case, now)
    if case.state == CaseState.ACCEPTED:
        return bool(there) and moves.marked(case, at, None)
    if case.state == CaseState.OUT:
        return there is False and moves.begin_return(case, ReturnReason.BY_HAND, at) and moves.returned(case, at, None)
    # What was accepted and never marked is away at once; so is what nothing shows.
    return not there and moves.returned(case, at, None)


def _there(case: Case, now: NodeNow) -> bool | None:
    """Whether the mark is there. None: the mirror has no marks of this kind."""
    if case.how in OF_NODE:
        return case.pk in now.cases
    if case.how == How.DEVICE_TAINT:
        return DeviceTaintRule.objects.filter(cluster_id=case.cluster_id, name=rule_name(case.pk)).exists()
    return None
