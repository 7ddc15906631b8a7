"""What the nodes of a cluster offer and have left, for pods that wait: one query for all clusters of a page.

The figures are those that the reconciler writes for each node: what the scheduler counts of each resource, and the largest free block
on one card. Which taints a node has and how its cards are divided is not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

import msgspec

from inventory.models import NodeTotals
from kube.decoders import decoder
from runtime.cached import shared
from stacks import STACKS

_offers = decoder(dict[str, tuple[int, int]])
#: Stack → resources that are offered more often than there are cards.
_SLOTS = {stack.name: stack.slots for stack in STACKS if stack.slots}
_COLUMNS = (
    *(
        "cluster_id",
        "node_name",
        "stacks",
        "unit",
        "model",
        "unavailable_reason",
        "offers",
        "cards_total",
        "cards_free",
    ),
    *("cards_unavailable", "largest_gap_bytes", "gap_unavailable_bytes", "largest_card_bytes"),
)


class Counted(NamedTuple):
    """What a container can have of a node, of something that is requested by number: when the node is empty, and of what is left."""

    there: int
    free: int


class Offer(msgspec.Struct, frozen=True, gc=False):
    """One node. reason: why no pod is given anything of it now, an `UnavailableReason`; "" when pods are.

    resources: of cards, by name. gap: the largest free block on one card, bytes; if_let: the same if pods were let in.
    cards_free: in the same way. largest: bytes of its largest card. None: unknown.
    """

    node: str
    stacks: tuple[str, ...]
    unit: str
    model: str
    reason: str
    resources: dict[str, Counted]
    cards_total: int | None
    cards_free: int | None
    gap: int | None
    if_let: int | None
    largest: int | None


class Board:
    """The nodes of one cluster, in the order of their names."""

    def __init__(self, offers: Iterable[Offer]) -> None:
        self.offers = tuple(offers)

    @cached_property
    def most(self) -> Mapping[str, int]:
        """Resource → what the node with the most of it can give out at all."""
        found: dict[str, int] = {}
        for one in self.offers:
            for name, number in one.resources.items():
                found[name] = max(found.get(name, 0), number.there)
        return found

    @cached_property
    def stacks(self) -> frozenset[str]:
        return frozenset(name for one in self.offers for name in one.stacks)

    def of(self, stacks: Collection[str]) -> list[Offer]:
        """Nodes that have one of these stacks; all of them for none."""
        return [one for one in self.offers if not stacks or not set(stacks).isdisjoint(one.stacks)]

    def largest_card(self, stack: str) -> int | None:
        """Bytes of the largest card on nodes of a stack; None when not known of any."""
        return max(
            (one.largest for one in self.offers if one.largest is not None and stack in one.stacks), default=None
        )


def boards(clusters: Iterable[int]) -> dict[int, Board]:
    """Id of a cluster → its board. One query."""
    ids = tuple(sorted(set(clusters)))
    return shared("boards of pending pods", ids, lambda: _read(ids)) if ids else {}


def _read(ids: tuple[int, ...]) -> dict[int, Board]:
    found: dict[int, list[Offer]] = {one: [] for one in ids}
    rows = NodeTotals.objects.filter(cluster_id__in=ids).order_by("cluster_id", "node_name").values_list(*_COLUMNS)
    for cluster, node, stacks, unit, model, reason, text, total, free, away, gap, gap_away, largest in rows:
        found[cluster].append(
            Offer(
                *(node, tuple(map(str, stacks)), unit, model, reason, _resources(text, stacks, total), total),
                *(_either(free, away, lambda one, other: one + other), gap, _either(gap, gap_away, max), largest),
            )
        )
    return {cluster: Board(offers) for cluster, offers in found.items()}


def _resources(text: str, stacks: list[str], cards: int | None) -> dict[str, Counted]:
    try:
        found = _offers.decode(text) if text else {}
    except msgspec.DecodeError:  # somebody wrote into the table
        return {}
    slots = {name for stack in stacks for name in _SLOTS.get(stack, ())} if cards is not None else ()
    most = cards or 0
    return {
        name: Counted(min(there, most), min(free, most)) if name in slots else Counted(there, free)
        for name, (there, free) in found.items()
    }


def _either(one: int | None, other: int | None, both: Callable[[int, int], int]) -> int | None:
    return other if one is None else one if other is None else both(one, other)
