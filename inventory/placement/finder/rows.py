"""What the mirror has of the nodes with a GPU, read for the finder: at most eight queries, whatever their number.

Only the columns that count are read. What is held is read as sums, over all namespaces whoever asks: no name is among them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.lookups import IsNull

from inventory.models import Allocation, Card, Node, NodeTotals
from inventory.models.choices import NOT_ALLOCATED, CardState
from kube import objects
from kube.decoders import decoder
from runtime.scope import counting
from stacks import STACKS
from stacks.engine.base import UNHEALTHY, Room
from stacks.engine.fitting import Open, Part, Parts, Piece

#: (id of a cluster, name of a node)
NodeKey = tuple[int, str]
_decoder = decoder(objects.Node)
_COUNTING = tuple(stack.name for stack in STACKS if any(way.counts_holds for way in stack.ways))
_IN_PARTS = tuple(stack.name for stack in STACKS if any(way.in_parts for way in stack.ways))
_room = decoder(Room)
_CARD = (
    *("cluster_id", "node_name", "id", "key", "index", "mode", "profile", "memory_total_bytes", "memory_free_bytes"),
    *("memory_unavailable_bytes", "state", "health", "shares", "stack", "model"),
)
_TOTALS = (
    *("cluster_id", "node_name", "stacks", "unit", "model", "cards_total", "cards_free", "memory_free_bytes"),
    *("largest_gap_bytes", "cpu_free_millis", "host_memory_free_bytes"),
)


class NodeState(NamedTuple):
    """What a node says of itself. node: None when its row cannot be read."""

    ready: bool | None
    cordoned: bool
    node: objects.Node | None


class Figures(NamedTuple):
    """The totals of a node that the answer tells, in bytes; None: not known.

    cpu_free, host_memory_free: no more than this is free; in thousandths, and in bytes.
    """

    stacks: tuple[str, ...]
    unit: str
    model: str
    cards_total: int | None
    cards_free: int | None
    memory_free: int | None
    largest_gap: int | None
    cpu_free: int | None
    host_memory_free: int | None


class OneCard(msgspec.Struct, frozen=True, gc=False):
    """A card, of which system, and its model ("" when it is not known)."""

    piece: Piece
    stack: str
    model: str


class Rows(NamedTuple):
    """held: resource → quantity. without_gpu: nodes of these clusters that have none."""

    nodes: dict[NodeKey, NodeState]
    figures: dict[NodeKey, Figures]
    cards: dict[NodeKey, list[OneCard]]
    held: dict[NodeKey, dict[str, int]]
    open: dict[NodeKey, list[Open]]
    without_gpu: int


def read(clusters: Iterable[int]) -> Rows:
    """Of these clusters."""
    ids = tuple(clusters)
    totals = NodeTotals.objects.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef("name"))
    with_gpu = Q(has_gpu=True) | Q(Exists(totals))
    nodes = Node.objects.filter(cluster_id__in=ids)
    figures = {
        (cluster, name): Figures(_texts(stacks), *more)
        for cluster, name, stacks, *more in NodeTotals.objects.filter(cluster_id__in=ids).values_list(*_TOTALS)
    }
    held, open_ = _held(ids)
    return Rows(
        nodes={
            (cluster, name): NodeState(ready, cordoned, _decoded(facts))
            for cluster, name, ready, cordoned, facts in nodes.filter(with_gpu).values_list(
                "cluster_id", "name", "ready", "unschedulable", "facts"
            )
        },
        figures=figures,
        cards=_cards(ids, {name for one in figures.values() for name in one.stacks}),
        held=held,
        open=open_,
        without_gpu=nodes.exclude(with_gpu).count(),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _decoded(facts: str) -> objects.Node | None:
    try:
        return _decoder.decode(facts)
    except msgspec.DecodeError:  # somebody wrote into the table
        return None


def _cards(ids: tuple[int, ...], stacks: set[str]) -> dict[NodeKey, list[OneCard]]:
    """stacks: those that the nodes have; what only other stacks' rules look at is not read."""
    holds = _holds(ids) if not stacks.isdisjoint(_COUNTING) else {}
    parts = _parts(ids) if not stacks.isdisjoint(_IN_PARTS) else {}
    found: defaultdict[NodeKey, list[OneCard]] = defaultdict(list)
    rows = Card.objects.filter(cluster_id__in=ids, removed_at=None).values_list(*_CARD)
    none, unknown = (0, 0), CardState.UNKNOWN.value
    for row in rows.iterator(chunk_size=10_000):
        cluster, node, pk, key, index, mode, profile, total, room, unavailable, state, health, shares, stack, model = (
            row
        )
        # What is unavailable is judged by the rule of its stack, which may allocate it all the same.
        room = room + unavailable if room is not None and unavailable is not None else room
        number, cores = holds.get(pk, none)
        unheld, healthy = state in NOT_ALLOCATED, health != UNHEALTHY
        piece = Piece(
            *(pk, key, index, mode, profile, total, room, unheld, state == unknown, healthy, shares),
            *(number, cores, parts.get(pk)),
        )
        found[cluster, node].append(OneCard(piece, stack, model))
    return dict(found)


def _now(ids: tuple[int, ...]) -> QuerySet[Allocation]:
    return Allocation.objects.filter(cluster_id__in=ids, ended_at=None).order_by()


def _holds(ids: tuple[int, ...]) -> dict[int, tuple[int, int]]:
    """Id of a card → its allocations, and percent of its cores; of the stacks whose rules count them."""
    with counting():
        rows = _now(ids).filter(stack__in=_COUNTING, card__isnull=False).values_list("card_id")
        return {pk: (number, cores or 0) for pk, number, cores in rows.annotate(Count("id"), Sum("core_percent"))}


def _parts(ids: tuple[int, ...]) -> dict[int, Parts]:
    """Id of a card → the parts in which pods can have it; of the systems whose rules ask for them."""
    rows = Card.objects.filter(cluster_id__in=ids, removed_at=None, stack__in=_IN_PARTS).exclude(room="").order_by()
    return {pk: _of_room(text) for pk, text in rows.values_list("id", "room").iterator(chunk_size=10_000)}


def _of_room(text: str) -> Parts:
    try:
        room = _room.decode(text)
    except msgspec.DecodeError:  # somebody wrote into the table
        return Parts(())
    kinds = tuple(Part(fit.memory_bytes, fit.sure, fit.most) for fit in room.fits if fit.profile)
    return Parts(kinds if room.made or room.on_demand else (), room.made)


def _held(ids: tuple[int, ...]) -> tuple[dict[NodeKey, dict[str, int]], dict[NodeKey, list[Open]]]:
    held: dict[NodeKey, dict[str, int]] = {}
    open_: dict[NodeKey, list[Open]] = {}
    with counting():
        rows = _now(ids).values_list("cluster_id", "node_name", "resource", "stack", "mode", IsNull(F("card_id"), True))
        told = list(rows.annotate(Sum("quantity"), Sum("memory_bytes"), Count("memory_bytes"), Count("id")))
    for cluster, node, resource, stack, mode, homeless, quantity, memory, metered, number in told:
        place = (cluster, node)
        of_node = held.setdefault(place, {})
        of_node[resource] = of_node.get(resource, 0) + quantity
        if homeless:
            open_.setdefault(place, []).append(Open(resource, stack, mode, memory or 0, metered == number))
    return held, open_
