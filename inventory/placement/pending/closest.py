"""Which nodes come closest to taking a pod, and what each of them lacks: by the synced data, for a constant number of queries.

Few nodes are looked at closely: those with the largest free pieces, the most free cards and the most cards. What the pod's selector
admits and which taints it tolerates is not mirrored: the scheduler's own message says it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
from django.db.models import F, QuerySet, Sum
from django.db.models.functions import Coalesce

from inventory.models import Allocation, Node, NodeTotals, Pod
from inventory.models.choices import UnavailableReason
from inventory.placement.pending.asked import Ask, asks_of, nodes_with
from inventory.queries.availability import of_node, taints_of, written
from inventory.queries.rows import by_node
from kube import objects as kube
from kube.unschedulable import Unschedulable
from runtime.scope import counting
from stacks.engine.offers import offer

#: Nodes looked at by each of the orders, and told of.
LOOKED, TOLD = 40, 5
NOT_READY, CORDONED, TAINT, NOT_OFFERED, SHORT, BLOCK = (
    UnavailableReason.NOT_READY.value,
    UnavailableReason.CORDONED.value,
    "taint",
    "not-offered",
    "short",
    "block",
)
#: Taints that say what is said of the node anyway.
_OWN = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/unschedulable")
_decoder = msgspec.json.Decoder(kube.Node)


@dataclass(frozen=True)
class Lack:
    """What a node lacks. wanted, there: in the resource's own unit, or bytes for BLOCK. what: the taint, or the resource."""

    code: str
    what: str = ""
    wanted: int = 0
    there: int = 0


@dataclass(frozen=True)
class Near:
    """One node. offers: resource → what it can give out at all; free: what of it is left."""

    totals: NodeTotals
    ready: bool | None
    unschedulable: bool
    lacks: list[Lack]
    offers: dict[str, int] = field(default_factory=dict)
    free: dict[str, int] = field(default_factory=dict)


def nearest(pod: Pod, told: Unschedulable) -> list[Near]:
    """All nodes that were looked at, the closest first. Six queries at most. told: the scheduler's message of the pod."""
    asks = asks_of(pod)
    if not asks:
        return []
    rows = _looked_at(nodes_with(pod.cluster_id, asks), any(ask.memory for ask in asks))
    names = [row.node_name for row in rows]
    nodes = {row.name: row for row in Node.objects.filter(cluster_id=pod.cluster_id, name__in=names)}
    held = _held(pod.cluster_id, names, [ask.resource for ask in asks])
    found = [_near(row, nodes[row.node_name], asks, held, told) for row in rows if row.node_name in nodes]
    seen = {resource for one in found for resource in one.offers}
    with_missing = [_with_missing(one, asks, seen) for one in found]
    return sorted(with_missing, key=_distance)


def _looked_at(rows: QuerySet[NodeTotals], memory: bool) -> list[NodeTotals]:
    """The best of each order, each once."""
    # What is apart counts too: a node that is kept off may come closest, once it is let in again.
    unavailable, own = ("gap_unavailable_bytes", "largest_gap_bytes") if memory else ("cards_unavailable", "cards_free")
    by_room = Coalesce(F(unavailable), F(own)).desc(nulls_last=True)
    orders: Iterable[QuerySet[NodeTotals]] = (
        rows.filter(by_node(ready=True, unschedulable=False)).order_by(by_room, "id"),
        rows.order_by(by_room, "id"),
        rows.order_by(F("cards_total").desc(nulls_last=True), "id"),
    )
    found = {row.pk: row for order in orders for row in order.select_related("cluster").defer("tiles")[:LOOKED]}
    return list(found.values())


def _held(cluster_id: int, names: list[str], resources: list[str]) -> dict[tuple[str, str], int]:
    """(node, resource) → what is held of it, by whomever."""
    with counting():
        rows = Allocation.objects.filter(
            cluster_id=cluster_id, node_name__in=names, ended_at=None, resource__in=resources
        )
    sums = rows.order_by().values_list("node_name", "resource").annotate(Sum("quantity"))
    return {(node, resource): int(number or 0) for node, resource, number in sums}


def _near(
    totals: NodeTotals, node: Node, asks: list[Ask], held: dict[tuple[str, str], int], told: Unschedulable
) -> Near:
    facts = _facts(node)
    found = {ask.resource: offer(facts, ask.resource).allocatable for ask in asks}
    offers = {name: number for name, number in found.items() if number is not None}
    free = {name: number - held.get((node.name, name), 0) for name, number in offers.items()}
    lacks = [*_of_node(node, facts, {ask.resource for ask in asks}, told)]
    for ask in asks:
        if ask.resource in free and free[ask.resource] < ask.quantity:
            lacks.append(Lack(SHORT, ask.resource, ask.quantity, max(0, free[ask.resource])))
        size, gap = ask.bytes_by(totals.unit), _gap(totals)
        if size is not None and gap is not None and gap < size:
            lacks.append(Lack(BLOCK, ask.resource, size, max(0, gap)))
    return Near(totals, node.ready, node.unschedulable, lacks, offers, free)


def _gap(totals: NodeTotals) -> int | None:
    """The largest piece that would be free if no pod were kept off."""
    found = [one for one in (totals.largest_gap_bytes, totals.gap_unavailable_bytes) if one is not None]
    return max(found, default=None)


def _facts(node: Node) -> kube.Node:
    try:
        return _decoder.decode(node.facts)
    except (msgspec.MsgspecError, ValueError):  # somebody wrote into the column
        return kube.Node()


def _of_node(node: Node, facts: kube.Node, resources: set[str], told: Unschedulable) -> Iterable[Lack]:
    for why in of_node(node.ready, node.unschedulable):
        yield Lack(CORDONED if why == UnavailableReason.CORDONED else NOT_READY)
    refused = _taints_in(told)
    for taint in taints_of(facts):
        # A taint of a resource's own name is tolerated by whoever asks for the resource, where the API server adds that.
        if taint.key not in _OWN and taint.key not in resources and (refused is None or taint.key in refused):
            yield Lack(TAINT, written(taint))


def _taints_in(told: Unschedulable) -> set[str] | None:
    """Keys of the taints that the scheduler names; None where it names none of those that it found, or said nothing."""
    texts = [one.text for one in told.reasons if "taint" in one.text]
    if told.nodes is None or any("{" not in text for text in texts):
        return None
    return {text.partition("{")[2].partition(":")[0] for text in texts}


def _with_missing(one: Near, asks: list[Ask], seen: set[str]) -> Near:
    """With what other nodes offer and this one does not. What none offers is nobody's to offer: an extender counts it."""
    missing = [
        Lack(NOT_OFFERED, ask.resource, ask.quantity)
        for ask in asks
        if ask.resource in seen and ask.resource not in one.offers
    ]
    return Near(one.totals, one.ready, one.unschedulable, [*missing, *one.lacks], one.offers, one.free)


def _distance(one: Near) -> tuple[int, float, str]:
    """What is not there at all counts most, then what a person can change, then how much is missing."""
    weights = {NOT_OFFERED: 100, NOT_READY: 10, CORDONED: 4, TAINT: 3}
    short = sum(1 - lack.there / lack.wanted for lack in one.lacks if lack.code in (SHORT, BLOCK) and lack.wanted)
    return (sum(weights.get(lack.code, 1) for lack in one.lacks), short, one.totals.node_name)
