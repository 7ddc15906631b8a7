"""What the cards of a node were, divided among those who held them: the parts add up to the whole, exactly. Pure.

Times are whole seconds since 1970; amounts are whole numbers of card-microseconds and MiB-seconds. What is more than a card has
(a pod that ends and the one that follows it, a system that gives out more than there is) is divided in proportion.

- A hold of a whole card is that card and its memory, however many containers of the pod name it.
- A hold by memory is its memory, and as much of the card as that is of the card's memory.
- A hold of one of n shares is an n-th of the card; the memory of a card in shares is nobody's: unmetered. Where the number of shares
  is not known, so is the card.
- A hold whose card is not known is taken from what is left of its node, where it is known how much it is: whole cards are counted,
  memory is known. Where it is not, what is left of the node is unplaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from stacks.engine import base

MICRO = 1_000_000
Span = tuple[int, int]
#: Card-microseconds, MiB-seconds.
Amount = tuple[int, int]
#: Namespace, kind and name of the owner; "" of pods that nothing controls.
Holder = tuple[str, str, str]


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A card. memory: MiB, 0 where it is not known. shares: that it is given out in; None: not known. end: None: it is there."""

    id: int
    memory: int
    shares: int | None
    begin: int
    end: int | None


class Held(msgspec.Struct, frozen=True, gc=False):
    """An allocation. card: None: unidentified. memory: MiB; None: not metered."""

    namespace: str
    pod_uid: str
    card: int | None
    mode: str
    quantity: int
    memory: int | None
    begin: int
    end: int | None
    owner_kind: str = ""
    owner_name: str = ""

    @property
    def holder(self) -> Holder:
        return self.namespace, self.owner_kind, self.owner_name


class Parts:
    """What was summed so far: each pair is of card-microseconds and MiB-seconds."""

    def __init__(self) -> None:
        self.total, self.free, self.unplaced = [0, 0], [0, 0], [0, 0]
        self.unmetered, self.unknown = [0, 0], [0, 0]
        self.holders: dict[Holder, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, other: Parts) -> None:
        """What was summed of other nodes."""
        for name in ("total", "free", "unplaced", "unmetered", "unknown"):
            mine, its = getattr(self, name), getattr(other, name)
            mine[0] += its[0]
            mine[1] += its[1]
        for holder, amounts in other.holders.items():
            mine = self.holders[holder]
            mine[0] += amounts[0]
            mine[1] += amounts[1]

    @property
    def namespaces(self) -> dict[str, list[int]]:
        """Of all owners in each."""
        found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for (namespace, _kind, _name), amounts in self.holders.items():
            for place in (0, 1):
                found[namespace][place] += amounts[place]
        return found


def add_node(into: Parts, cards: Sequence[Piece], holds: Sequence[Held], known: Sequence[Span], whole: Span) -> None:
    """Add a node. known: when it is known who held what, ordered, inside `whole`, which is what is summed."""
    for card in cards:
        begin, end = _clipped(card.begin, card.end, whole)
        seconds, recorded = max(0, end - begin), sum(_overlap(begin, end, span) for span in known)
        for place, one in enumerate((MICRO, card.memory)):
            into.total[place] += seconds * one
            into.unknown[place] += (seconds - recorded) * one
    if any(one.card is None for one in holds):
        _add(into, cards, holds, known)
        return
    by_card: dict[int, list[Held]] = defaultdict(list)
    for hold in holds:
        by_card[hold.card or 0].append(hold)
    for card in cards:
        _add(into, (card,), by_card.get(card.id, ()), known)


def _add(into: Parts, cards: Sequence[Piece], holds: Sequence[Held], known: Sequence[Span]) -> None:
    """Cards that have to do with each other: all of a node, or one."""
    for span in known:
        times = {*span}
        edges = [*((one.begin, one.end) for one in cards), *((one.begin, one.end) for one in holds)]
        times.update(time for pair in edges for time in pair if time is not None and span[0] < time < span[1])
        ordered = sorted(times)
        active: list[list[Held]] = [[] for _ in ordered[1:]]
        for hold in holds:
            begin, end = _clipped(hold.begin, hold.end, span)
            for place in range(bisect_left(ordered, begin), bisect_left(ordered, end) if end > begin else 0):
                active[place].append(hold)
        for place, (begin, end) in enumerate(pairwise(ordered)):
            there = [card for card in cards if card.begin <= begin and (card.end is None or card.end >= end)]
            _divide(into, there, active[place], end - begin)


def _divide(into: Parts, cards: Iterable[Piece], holds: Iterable[Held], seconds: int) -> None:
    """A stretch of time in which nothing changed."""
    on_card: dict[int | None, list[Held]] = defaultdict(list)
    for one in holds:
        on_card[one.card].append(one)
    left = [0, 0]
    present = list(cards)
    for card in present:
        has = (seconds * MICRO, seconds * card.memory)
        own = on_card.get(card.id)
        rest = has if own is None else _of_card(into, card, own, has)
        left[0] += rest[0]
        left[1] += rest[1]
    loose = on_card.get(None)
    if loose and present:
        unsure = _give(into, [(one.holder, _loose(one, present, seconds)) for one in loose], left)
        for place in (0, 1):
            if unsure[place]:
                into.unplaced[place] += left[place]
                left[place] = 0
    into.free[0] += left[0]
    into.free[1] += left[1]


def _of_card(into: Parts, card: Piece, holds: Sequence[Held], has: Amount) -> Amount:
    """Divide a card among who is on it; what is left of it."""
    pods: set[str] = set()
    wanted: list[tuple[Holder, tuple[int | None, int | None]]] = []
    for one in holds:
        if one.mode == base.WHOLE:
            if one.pod_uid in pods:
                continue
            pods.add(one.pod_uid)
            wanted.append((one.holder, has))
        else:
            wanted.append((one.holder, _part(one, card, has)))
    left = list(has)
    unsure = _give(into, wanted, left)
    for place in (0, 1):
        if unsure[place]:
            into.unmetered[place] += left[place]
            left[place] = 0
    return left[0], left[1]


def _part(one: Held, card: Piece, has: Amount) -> tuple[int | None, int | None]:
    """The part of a card that an allocation has; None: unknown."""
    if one.memory is not None and card.memory:
        return has[0] * one.memory // card.memory, has[1] * one.memory // card.memory
    if card.shares:
        return has[0] * one.quantity // card.shares, None
    return None, None


def _loose(one: Held, cards: Sequence[Piece], seconds: int) -> tuple[int | None, int | None]:
    """The part of its node that an unidentified allocation has."""
    sizes = {card.memory for card in cards}
    size = sizes.pop() if len(sizes) == 1 else 0
    if one.mode == base.WHOLE:
        memory = one.memory if one.memory is not None else size * one.quantity if size else None
        return one.quantity * seconds * MICRO, None if memory is None else memory * seconds
    if one.memory is not None:
        return seconds * MICRO * one.memory // size if size else None, one.memory * seconds
    shares = {card.shares for card in cards}
    [each] = shares if len(shares) == 1 else [None]
    return one.quantity * seconds * MICRO // each if each else None, None


def _give(
    into: Parts, wanted: Sequence[tuple[Holder, tuple[int | None, int | None]]], left: list[int]
) -> tuple[bool, bool]:
    """Take what is wanted from what is left, in proportion where that is less. Whether of somebody it is not known how much it is."""
    unsure = [False, False]
    for place in (0, 1):
        amounts = [(holder, one[place]) for holder, one in wanted]
        unsure[place] = any(amount is None for _, amount in amounts)
        asked = sum(amount or 0 for _, amount in amounts)
        there = left[place]
        for holder, amount in amounts:
            if amount is None:
                into.holders[holder]
                continue
            given = amount if asked <= there else amount * there // asked
            into.holders[holder][place] += given
            left[place] -= given
    return unsure[0], unsure[1]


def _clipped(begin: int, end: int | None, span: Span) -> Span:
    return max(begin, span[0]), span[1] if end is None else min(end, span[1])


def _overlap(begin: int, end: int, span: Span) -> int:
    return max(0, min(end, span[1]) - max(begin, span[0]))
