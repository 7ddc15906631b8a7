"""What the mirror has of the nodes with a GPU, read for the finder: three queries, whatever their number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from django.db.models import Exists, OuterRef, Q

from inventory.models import Node, NodeTotals
from inventory.pieces import OneCard, unpacked
from kube import objects
from kube.decoders import decoder
from stacks.engine.fitting import Open

#: (id of a cluster, name of a node)
NodeKey = tuple[int, str]
_decoder = decoder(objects.Node)
_TOTALS = (
    *(
        "cluster_id",
        "node_name",
        "pieces",
        "allocations_count",
        "unit",
        "model",
        "cards_total",
        "cards_free",
        "memory_free_bytes",
    ),
    *("largest_gap_bytes", "cpu_free_millis", "host_memory_free_bytes"),
)


class NodeState(NamedTuple):
    """What a node says of itself. node: None when its row cannot be read."""

    ready: bool | None
    cordoned: bool
    node: objects.Node | None


class Figures(NamedTuple):
    """The totals of a node that the answer tells, in bytes; None: not known.

    pods: that have cards there. cpu_free, host_memory_free: no more than this is free; in thousandths, and in bytes.
    """

    stacks: tuple[str, ...]
    pods: int
    unit: str
    model: str
    cards_total: int | None
    cards_free: int | None
    memory_free: int | None
    largest_gap: int | None
    cpu_free: int | None
    host_memory_free: int | None


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
    figures: dict[NodeKey, Figures] = {}
    cards: dict[NodeKey, list[OneCard]] = {}
    held: dict[NodeKey, dict[str, int]] = {}
    open_: dict[NodeKey, list[Open]] = {}
    for cluster, name, text, *more in NodeTotals.objects.filter(cluster_id__in=ids).values_list(*_TOTALS):
        place, found = (cluster, name), unpacked(text)
        if found is None:
            continue  # not counted
        figures[place] = Figures(found.stacks, *more)
        cards[place], held[place], open_[place] = found.cards, found.held, found.open
    return Rows(
        nodes={
            (cluster, name): NodeState(ready, cordoned, _decoded(facts))
            for cluster, name, ready, cordoned, facts in nodes.filter(with_gpu).values_list(
                "cluster_id", "name", "ready", "unschedulable", "facts"
            )
        },
        figures=figures,
        cards=cards,
        held=held,
        open=open_,
        without_gpu=nodes.exclude(with_gpu).count(),
    )


def _decoded(facts: str) -> objects.Node | None:
    try:
        return _decoder.decode(facts)
    except msgspec.DecodeError:  # somebody wrote into the table
        return None
