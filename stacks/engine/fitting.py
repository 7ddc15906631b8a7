"""Where a request would be placed: what a rule of a system looks at, and what it answers of one node.

What keeps any pod off a node (cordon, taints, labels) is not asked here: `inventory.placement.finder` does that for all systems
alike. Must not know any system by name. Pure: no clock, no I/O. What is not known never fits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from kube.claims import ResourceSlice
from kube.objects import Node
from stacks.engine.base import Context

# Why a node does not take a request, by the rule of a system.
NOT_OFFERED = "not-offered"  # the node gives out none of the resource now
FEW_CARDS = "few-cards"  # it has fewer cards than are asked for
TOO_SMALL = "too-small"  # its cards are smaller than what is asked for, even when they are empty
TOO_FEW_FREE = "too-few-free"  # cards are given as a whole, and too few are free
NO_BLOCK = "no-block"  # too few cards have so much memory in one piece
UNHEALTHY_CARDS = "unhealthy-cards"  # with the unhealthy ones there would be enough
MIXED_CARDS = "mixed-cards"  # some that are free are smaller, and the system may give one of these
NO_SLOTS = "no-slots"  # memory is free on cards that take no further holder
NO_CORES = "no-cores"  # memory is free on cards whose cores are all held
ONE_CARD = "one-card"  # the system gives a pod a part of one card only
NOT_METERED = "not-metered"  # cards are shared, and nobody meters their memory
MEMORY_UNKNOWN = "memory-unknown"  # nothing says how much memory its cards have
OCCUPANCY_UNKNOWN = "occupancy-unknown"  # a pod holds something of the node, not known on which card
CARDS_UNKNOWN = "cards-unknown"  # how many cards there are is not known
LAYOUT_UNKNOWN = "layout-unknown"  # cards are cut as pods come, and what fits beside what is there is not known here
UNIT_UNKNOWN = "unit-unknown"  # nothing says in which unit memory is asked for
REASONS = (
    *(NOT_OFFERED, FEW_CARDS, TOO_SMALL, TOO_FEW_FREE, NO_BLOCK, UNHEALTHY_CARDS, MIXED_CARDS, NO_SLOTS, NO_CORES),
    *(ONE_CARD, NOT_METERED, MEMORY_UNKNOWN, OCCUPANCY_UNKNOWN, CARDS_UNKNOWN, UNIT_UNKNOWN, LAYOUT_UNKNOWN),
)

# What is to be known of a node that takes it.
CARD_NOT_KNOWN = "card-not-known"  # how many are free is known, not which
MAY_BE_UNHEALTHY = "may-be-unhealthy"  # cards that others call unhealthy are given out too
NOT_ISOLATED = "not-isolated"  # what a pod takes of the memory is not limited to what it asked for
SELECTORS = "selectors"  # selectors of claims and classes are not evaluated
PART_OF_CARD = "part-of-card"  # parts of cards are meant, which a request for whole cards does not get
NOTES = (CARD_NOT_KNOWN, MAY_BE_UNHEALTHY, NOT_ISOLATED, SELECTORS, PART_OF_CARD)


class Want(NamedTuple):
    """What is asked for: so many cards of a node for one container, memory bytes on each; None: whatever a card has."""

    cards: int
    memory: int | None = None


class Part(NamedTuple):
    """Parts of one kind that a card can give besides what is held of it. memory: bytes of each, None when not known.

    sure: so many in any case; most: more than these in no case.
    """

    memory: int | None
    sure: int
    most: int


class Parts(NamedTuple):
    """together: all kinds can be given together; else each number is for its kind alone. kinds: none where nothing can be said."""

    kinds: tuple[Part, ...]
    together: bool = False


class Piece(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One card as a rule sees it.

    total, free: bytes, None when not known or not metered. unheld: known to have no holder. doubtful: not known whether it has one.
    shares: holders that it takes, None when nobody counts; holds: those that it has; cores: percent that these hold.
    parts: of a card that pods can have in parts, where a rule of its system asks for them; None of any other.
    """

    id: int
    key: str
    index: int | None
    mode: str
    profile: str
    total: int | None
    free: int | None
    unheld: bool
    doubtful: bool
    healthy: bool
    shares: int | None = None
    holds: int = 0
    cores: int = 0
    parts: Parts | None = None


class Open(NamedTuple):
    """What is held on a node of one resource by pods whose card is not known. memory: bytes; metered: whether that is all."""

    resource: str
    stack: str
    mode: str
    memory: int
    metered: bool


class Spot(msgspec.Struct, frozen=True):
    """What a rule sees of one node: its cards of one system (stack), and what is held of each resource, by name.

    open: what of that is held on no known card, and may be held on one of these.
    unit: "GiB" or "MiB" where the system counts memory in units, else "". cards_known: whether all cards are among `cards`.
    """

    node: Node
    context: Context
    stack: str
    cards: tuple[Piece, ...]
    held: Mapping[str, int] = {}
    open: tuple[Open, ...] = ()
    unit: str = ""
    cards_known: bool = True


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule says of a node. why: one of REASONS; "" when it takes the request. notes: some of NOTES.

    cards: ids of the cards that would take it, first those that the system would choose first. limits: what the container asks for,
    by resource; labels: what the pod carries besides; scheduler: the one that it needs, "" for that of the cluster.
    npu: what it gets are no GPUs, so programs for GPUs do not run there. parts: what it gets are parts of cards that are given out
    by themselves; a process uses one of them.
    """

    why: str = ""
    notes: tuple[str, ...] = ()
    cards: tuple[int, ...] = ()
    limits: Mapping[str, int] = {}
    labels: Mapping[str, str] = {}
    scheduler: str = ""
    npu: bool = False
    parts: bool = False


#: (what is asked for, a node) → the answer; None when the node has nothing that is asked for in this way.
Rule = Callable[[Want, Spot], Answer | None]


class ClaimRequest(Protocol):
    """(what is asked for, slices of the node, keys of the cards that would take it, whether parts of them are meant) → what stands
    under `exactly` in the request of a ResourceClaim; None where the slices have no such device."""

    def __call__(
        self, want: Want, slices: Sequence[ResourceSlice], cards: Collection[str], parts: bool
    ) -> dict[str, Any] | None: ...


class Way(NamedTuple):
    """A way to ask a system for cards. name: unique among all systems. label, rule: for people, in English, marked
    for translation.

    rule: what the system's scheduler does with such a request. in_parts: whether the rule looks at the parts in which cards can be
    had. claim: makes the request of a pod's claim; None where a container requests resources.
    """

    name: str
    label: str
    rule: str
    place: Rule
    in_parts: bool = False
    claim: ClaimRequest | None = None
