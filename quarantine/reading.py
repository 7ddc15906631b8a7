"""Cases and marked nodes as they are read by pages, REST and commands. Within the scope of who asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from django.db.models import QuerySet

from inventory.marks import OURS, Mark
from inventory.models import Cluster, Node, NodeTotals
from quarantine.models import OPEN, Case
from runtime.scope import current
from validations.ids import ById


class MarkedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU node with marks. costs: cards and bytes that pods cannot be given there now; None: not known, or none is kept from them.

    cases: open cases of the node. strays: marks of ours that name no open case: a person decides about them.
    """

    cluster: Cluster
    node: Node
    marks: Sequence[Mark]
    cards: int | None
    memory_bytes: int | None
    cases: Sequence[Case]
    strays: Sequence[Mark]

    @property
    def blocked(self) -> bool:
        return any(one.blocks for one in self.marks)


def cases() -> ById[Case]:
    rows: ById[Case] = Case.objects.get_queryset()
    return rows.select_related("cluster", "run", "policy")


def open_cases() -> QuerySet[Case]:
    return cases().filter(state__in=OPEN)


def marked_nodes(rows: QuerySet[Node] | None = None) -> list[MarkedNode]:
    """GPU nodes with marks, by cluster and name. rows: of them, to take some only. Three queries."""
    nodes = (Node.objects.all() if rows is None else rows).filter(has_gpu=True).exclude(marks="")
    found = list(nodes.select_related("cluster").order_by("cluster__name", "name"))
    names = {one.name for one in found}
    totals = {
        (cluster, node): (cards, memory)
        for cluster, node, cards, memory in NodeTotals.objects.filter(node_name__in=names).values_list(
            "cluster_id", "node_name", "cards_unavailable", "memory_unavailable_bytes"
        )
    }
    known: dict[tuple[int, str], list[Case]] = {}
    for case in open_cases().filter(node_name__in=names):
        known.setdefault((case.cluster_id, case.node_name), []).append(case)
    return [_marked(one, totals.get((one.cluster_id, one.name), (None, None)), known) for one in found]


def _marked(node: Node, costs: tuple[int | None, int | None], known: dict[tuple[int, str], list[Case]]) -> MarkedNode:
    mine, marks = known.get((node.cluster_id, node.name), []), node.found_marks
    return MarkedNode(
        cluster=node.cluster,
        node=node,
        marks=marks,
        cards=costs[0],
        memory_bytes=costs[1],
        cases=mine,
        strays=strays(marks, mine),
    )


def strays(marks: Iterable[Mark], cases: Iterable[Case]) -> list[Mark]:
    """Marks of ours that name no open case."""
    ids = {one.pk for one in cases}
    return [one for one in marks if one.tool == OURS and one.case not in ids]


def may_act(cluster_id: int) -> bool:
    """Whether the scope lets who asks act on cases of this cluster."""
    return current().sees_whole(cluster_id)


def acts_in(cluster: Cluster) -> bool:
    """Whether gpudash marks nodes there; else it recommends, and prints what to run."""
    return bool(cluster.quarantine_kubeconfig)
