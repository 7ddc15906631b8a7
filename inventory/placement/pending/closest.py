"""Which nodes come closest to taking a pod, and what each of them lacks. Pure: by the board of the cluster.

What the pod's selector admits and which taints it tolerates is not mirrored: the scheduler's own message says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest

from inventory.models.choices import UnavailableReason
from inventory.placement.pending.asked import Ask
from inventory.placement.pending.board import Board, Counted, Offer
from inventory.queries.availability import taints_of, written
from kube import objects as kube
from kube.unschedulable import Unschedulable

#: Nodes whose taints are read, and that are told of.
LOOKED, TOLD = 40, 5
NOT_READY, CORDONED, TAINT, NOT_OFFERED, TOO_FEW, SHORT, TOO_SMALL, BLOCK, UNKNOWN = (
    UnavailableReason.NOT_READY.value,
    UnavailableReason.CORDONED.value,
    "taint",
    "not-offered",
    "too-few",
    "short",
    "too-small",
    "block",
    "unknown",
)
#: Of how much more something counts than what pods would have to make room for: what can be changed least counts most.
_WEIGHTS = {NOT_OFFERED: 100, TOO_FEW: 20, TOO_SMALL: 20, NOT_READY: 10, UNKNOWN: 6, CORDONED: 4, TAINT: 3}
#: Taints that say what is said of the node anyway.
_OWN = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/unschedulable")


@dataclass(frozen=True)
class Lack:
    """What a node lacks. wanted, there: in the resource's own unit; bytes of one card for TOO_SMALL and BLOCK.

    what: the taint, or the resource. TOO_FEW, TOO_SMALL: even when the node is empty. UNKNOWN: how much is free is not known.
    """

    code: str
    what: str = ""
    wanted: int = 0
    there: int = 0

    @property
    def missing(self) -> int:
        return max(0, self.wanted - self.there)

    @property
    def is_held(self) -> bool:
        """Whether pods that end would give it."""
        return self.code in (SHORT, BLOCK)


@dataclass(frozen=True)
class Near:
    """One node. counted: what of the requested resources it has and has left."""

    offer: Offer
    lacks: tuple[Lack, ...] = ()
    counted: Mapping[str, Counted] = field(default_factory=dict)

    @property
    def node(self) -> str:
        return self.offer.node


def nearest(asks: Sequence[Ask], board: Board, most: int = LOOKED) -> list[Near]:
    """The nodes of the stacks that own what is asked for, the closest first; taints are not looked at."""
    if not asks:
        return []
    found = [_near(one, asks, board) for one in board.of({ask.stack for ask in asks if ask.stack})]
    return nsmallest(most, found, key=_distance)


def with_taints(
    found: Iterable[Near], nodes: Mapping[str, kube.Node], resources: set[str], told: Unschedulable
) -> list[Near]:
    """The same with the taints that keep the pod off, the closest first. nodes: by name. told: the scheduler's message of the pod."""
    refused = _taints_in(told)
    tainted = (
        replace(one, lacks=(*one.lacks, *_taints(nodes[one.node], resources, refused))) if one.node in nodes else one
        for one in found
    )
    return sorted(tainted, key=_distance)


def _near(offer: Offer, asks: Sequence[Ask], board: Board) -> Near:
    lacks = [*_of_node(offer), *(lack for ask in asks for lack in _of_ask(offer, ask, board))]
    counted = {ask.resource: offer.resources[ask.resource] for ask in asks if ask.resource in offer.resources}
    return Near(offer, tuple(lacks), counted)


def _of_node(offer: Offer) -> Iterator[Lack]:
    if offer.reason == UnavailableReason.CORDONED:
        yield Lack(CORDONED)
    elif offer.reason:
        yield Lack(NOT_READY)


def _of_ask(offer: Offer, ask: Ask, board: Board) -> Iterator[Lack]:
    found = offer.resources.get(ask.resource)
    if found is None and ask.resource in board.most:
        # What none offers is nobody's to offer: an extender counts it.
        yield Lack(NOT_OFFERED, ask.resource, ask.quantity)
    elif found is not None and found.there < ask.quantity:
        yield Lack(TOO_FEW, ask.resource, ask.quantity, found.there)
    elif block := _of_block(offer, ask):
        yield block
    elif found is not None and found.free < ask.quantity:
        yield Lack(SHORT, ask.resource, ask.quantity, max(0, found.free))


def _of_block(offer: Offer, ask: Ask) -> Lack | None:
    """Of memory, which must be free in one piece."""
    size = ask.bytes_by(offer.unit)
    if size is None:
        return None
    if offer.largest is not None and offer.largest < size:
        return Lack(TOO_SMALL, ask.resource, size, offer.largest)
    if offer.if_let is None:
        return Lack(UNKNOWN, ask.resource, size)
    return Lack(BLOCK, ask.resource, size, max(0, offer.if_let)) if offer.if_let < size else None


def _taints(node: kube.Node, resources: set[str], refused: set[str] | None) -> Iterator[Lack]:
    for taint in taints_of(node):
        # A taint of a resource's own name is tolerated by whoever asks for the resource, where the API server adds that.
        if taint.key not in _OWN and taint.key not in resources and (refused is None or taint.key in refused):
            yield Lack(TAINT, written(taint))


def _taints_in(told: Unschedulable) -> set[str] | None:
    """Keys of the taints that the scheduler names; None where it names none of those that it found, or said nothing."""
    texts = [one.text for one in told.reasons if "taint" in one.text]
    if told.nodes is None or any("{" not in text for text in texts):
        return None
    return {text.partition("{")[2].partition(":")[0] for text in texts}


def _distance(one: Near) -> tuple[int, float, str]:
    """What is not there at all counts most, then what a person can change, then how much is missing."""
    missing = sum(lack.missing / lack.wanted for lack in one.lacks if lack.wanted and lack.code != UNKNOWN)
    return sum(_WEIGHTS.get(lack.code, 1) for lack in one.lacks), missing, one.node
