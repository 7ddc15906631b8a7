"""The one way to read the mirror: pages, REST, metrics and commands take their rows from here, so that they cannot disagree.

They hold what the scope in force lets see (`runtime.scoped`). Lists are plain querysets without order and without filters of the
user (`resources` adds both). Sums are in `inventory.queries.totals`. Nothing here calls a cluster, and nothing here knows of
requests or of validations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Case, Exists, IntegerField, OuterRef, Prefetch, Q, QuerySet, When

from inventory.condition import watches
from inventory.models import (
    Allocation,
    Card,
    Cluster,
    Component,
    ComponentChange,
    Finding,
    Node,
    NodeChange,
    NodeTotals,
    Pod,
    Unreadable,
)
from inventory.queries.availability import totals_now
from inventory.queries.holds import holds
from stacks.engine.base import ERROR, WARNING


def clusters() -> QuerySet[Cluster]:
    """All clusters with their watches."""
    return Cluster.objects.prefetch_related(Prefetch("watches", queryset=watches().order_by("kind")))


def node_totals() -> QuerySet[NodeTotals]:
    """One row per node with a GPU: its totals. `with_nodes` adds the node itself."""
    return NodeTotals.objects.select_related("cluster").defer("pieces")


#: What is said of a node whose row is not there.
_UNKNOWN = Node(ready=None)
_UNKNOWN.unschedulable = None  # type: ignore[assignment] # the column has no null, its answer has


@dataclass(frozen=True)
class NodeRow:
    """The totals of a node beside it. node is None when the node's row has just gone or has not arrived."""

    totals: NodeTotals
    node: Node | None

    @property
    def own(self) -> Node:
        """The node, or one of which nothing is known."""
        return self.node or _UNKNOWN


def with_nodes(rows: Iterable[NodeTotals]) -> list[NodeRow]:
    """Join the totals of one page with their nodes: one query, whatever the length."""
    found = list(rows)
    totals_now(found)
    names = {totals.node_name for totals in found}
    cluster_ids = {totals.cluster_id for totals in found}
    nodes = {
        (node.cluster_id, node.name): node
        for node in Node.objects.filter(cluster_id__in=cluster_ids, name__in=names).defer("facts")
    }
    return [NodeRow(totals, nodes.get((totals.cluster_id, totals.node_name))) for totals in found]


def node_row(cluster: str, name: str) -> NodeRow | None:
    """The totals and the node of this name; None when there is no such node with a GPU."""
    found = node_totals().filter(cluster__name=cluster, node_name=name).first()
    return None if found is None else with_nodes([found])[0]


def by_node(**conditions: object) -> Q:
    """Condition on totals: their node fulfils `conditions` (fields of Node)."""
    nodes = Node.objects.filter(cluster_id=OuterRef("cluster_id"), name=OuterRef("node_name"), **conditions)
    return Q(Exists(nodes))


def cards_present() -> QuerySet[Card]:
    """Cards that their node has now."""
    return Card.objects.filter(removed_at=None).select_related("cluster")


def cards_ever() -> QuerySet[Card]:
    """Cards that are and that were (`removed_at`)."""
    return Card.objects.select_related("cluster")


def with_holders(cards: QuerySet[Card]) -> QuerySet[Card]:
    """The same cards, each with the list `holders` of its allocations now: one query for all of them."""
    held = holds().select_related(None).filter(ended_at=None).order_by("started_at", "id")
    return cards.prefetch_related(Prefetch("allocations", queryset=held, to_attr="holders"))


def allocations_ever() -> QuerySet[Allocation]:
    """Allocations that are and that were (`ended_at`)."""
    return Allocation.objects.select_related("cluster", "card")


def holds_ended_on(cluster_id: int, node_name: str) -> QuerySet[Allocation]:
    """What was held on a node before; of other namespaces without names."""
    return holds().filter(cluster_id=cluster_id, node_name=node_name, ended_at__isnull=False)


def holds_of_card(card_id: int) -> QuerySet[Allocation]:
    """What was and is held of a card; of other namespaces without names."""
    return holds().filter(card_id=card_id)


def holds_of_cards(ids: Iterable[int]) -> QuerySet[Allocation]:
    """What was and is held of some cards; of other namespaces without names."""
    return holds().filter(card__in=ids)


def allocations_now() -> QuerySet[Allocation]:
    return allocations_ever().filter(ended_at=None)


def allocations_ended() -> QuerySet[Allocation]:
    """History: what was held before."""
    return allocations_ever().filter(ended_at__isnull=False)


def unplaced(cluster_id: int, node_name: str) -> QuerySet[Allocation]:
    """What is held on a node by pods whose card is not known; of other namespaces without names."""
    return (
        holds()
        .filter(ended_at=None)
        .filter(cluster_id=cluster_id, node_name=node_name, card=None)
        .order_by("started_at", "id")
    )


def pods() -> QuerySet[Pod]:
    """Pods that ask for a GPU, hold one, or are a component; `facts` is not read."""
    return Pod.objects.select_related("cluster").defer("facts")


def pods_pending() -> QuerySet[Pod]:
    """Demand that no node takes yet."""
    return pods().filter(pending=True)


def findings_ever() -> QuerySet[Finding]:
    """Findings that are and that were (`ended_at`), with `severity_rank`: 0 error, 1 warning, 2 info."""
    ranks = Case(When(severity=ERROR, then=0), When(severity=WARNING, then=1), default=2, output_field=IntegerField())
    return Finding.objects.select_related("cluster").annotate(severity_rank=ranks)


def findings_now() -> QuerySet[Finding]:
    return findings_ever().filter(ended_at=None)


def components() -> QuerySet[Component]:
    """The GPU software of nodes, and what clusters have once (`node_name` "")."""
    return Component.objects.select_related("cluster")


def components_of_node(cluster_id: int, node_name: str) -> QuerySet[Component]:
    """In the order of blame."""
    return components().filter(cluster_id=cluster_id, node_name=node_name).order_by("position", "id")


def component_changes() -> QuerySet[ComponentChange]:
    """How components changed."""
    return ComponentChange.objects.select_related("cluster")


def node_changes() -> QuerySet[NodeChange]:
    """How nodes changed."""
    return NodeChange.objects.select_related("cluster")


def unreadable() -> QuerySet[Unreadable]:
    """Objects that did not decode, newest first."""
    return Unreadable.objects.select_related("cluster").order_by("-seen_at", "id")
