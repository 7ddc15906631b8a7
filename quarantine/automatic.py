"""Policies that take cards out by themselves: only where an administrator has switched that on, and within a cap over all nodes that
are out, whoever took them out. Where the cap is reached nothing is automatic any more until a person resets it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec
from django.db import transaction

from audit.actions import Action
from audit.acts import act
from inventory.models import Node, NodeTotals
from inventory.queries.availability import unbelieved
from quarantine import moves
from quarantine.models import ACTING, Case, CaseState, QuarantineSwitch
from quarantine.planned import how_of
from quarantine.wake import wake
from validations.models import PolicySwitch
from wording.said import Said, cut, sentence, stored


class Room(msgspec.Struct, frozen=True):
    """out: nodes of the pool that are out now, without the one that is asked for. is_out: whether that one is out already."""

    pool: str
    nodes: int
    out: int
    limit: int
    is_out: bool

    @property
    def free(self) -> bool:
        return self.is_out or self.out < self.limit


def accept_due(at: datetime) -> int:
    """Accept what policies may accept. Returns how many."""
    if PolicySwitch.all_paused() or not QuarantineSwitch.objects.filter(pk=1, automatic=True, tripped_at=None).exists():
        return 0
    rows = Case.objects.filter(state=CaseState.RECOMMENDED, policy__takes_out=True, policy__paused=False)
    # Nodes of a cluster whose data is stale cannot be counted.
    believed = rows.exclude(cluster__quarantine_kubeconfig="").exclude(cluster_id__in=unbelieved())
    waiting = believed.select_related("cluster", "policy").order_by("pk")
    return sum(_accept(case, at) for case in waiting)


def _accept(case: Case, at: datetime) -> bool:
    """One after the other, under the switch's lock: two processes do not use the same room."""
    with transaction.atomic():
        switch = QuarantineSwitch.objects.select_for_update().filter(pk=1).first()
        if switch is None or not switch.automatic or switch.tripped_at is not None:
            return False
        room = room_for(case, switch.cap_percent)
        if room is None:
            return False
        if not room.free:
            _trip(switch, case, room, at)
            return False
        how = how_of(case)
        told = {"how": how, "policy": case.policy.name if case.policy else "", "out": f"{room.out} of {room.nodes}"}
        with act(Action.CASE_ACCEPT, moves.target(case), id=case.pk, state="recommended → accepted", **told) as done:
            columns = moves.accepted(how) | {"automatic": True}
            if not moves.move(case, CaseState.RECOMMENDED, at, state=CaseState.ACCEPTED, **columns):
                done.nothing()
                return False
        wake(case.cluster_id)
    return True


def room_for(case: Case, percent: int) -> Room | None:
    """None where the pool of the node is not known."""
    mine = NodeTotals.objects.filter(cluster_id=case.cluster_id, node_name=case.node_name).first()
    if mine is None or not mine.pool:
        return None
    names = set(
        NodeTotals.objects.filter(cluster_id=case.cluster_id, pool=mine.pool).values_list("node_name", flat=True)
    )
    out = out_of_service(case.cluster_id, names)
    limit = max(1, len(names) * percent // 100)
    return Room(mine.pool, len(names), len(out - {case.node_name}), limit, case.node_name in out)


def out_of_service(cluster_id: int, names: Iterable[str]) -> set[str]:
    """Of these nodes, those that pods cannot be given: cordoned, tainted, not ready, or with a case, whoever did it."""
    known = set(names)
    rows = Node.objects.filter(cluster_id=cluster_id, name__in=known).only("name", "ready", "unschedulable", "marks")
    out = {
        node.name
        for node in rows
        if node.ready is not True or node.unschedulable or any(one.blocks for one in node.found_marks)
    }
    acting = Case.objects.filter(cluster_id=cluster_id, node_name__in=known, state__in=ACTING)
    return out | set(acting.values_list("node_name", flat=True))


def _trip(switch: QuarantineSwitch, case: Case, room: Room, at: datetime) -> None:
    why = _words(case, room)
    with act(Action.QUARANTINE_TRIP, moves.target(case), reason=why, case=case.pk):
        switch.tripped_at, switch.tripped_reason, switch.tripped_wording = at, cut(why, 1000), stored(why)
        switch.save(update_fields=["tripped_at", "tripped_reason", "tripped_wording"])


def _words(case: Case, room: Room) -> Said:
    return sentence(
        "{out} of {nodes} nodes of the pool {pool} in {cluster} are out of service. At most {limit} may be: node {node} "
        "stays in service.",
        out=room.out,
        nodes=room.nodes,
        pool=room.pool,
        cluster=case.cluster.name,
        limit=room.limit,
        node=case.node_name,
    )
