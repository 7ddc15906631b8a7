"""Pods that may move, and the rows of a node when some have left it or arrived there. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

import msgspec

from inventory.pieces import OneCard
from inventory.placement.finder.finder import Fits
from inventory.placement.finder.rows import Figures, NodeKey, Rows
from stacks.engine.base import MEMORY, WHOLE
from stacks.engine.fitting import Open, Piece

#: Owners whose pods are of their node: none is created again elsewhere.
_OF_NODE = ("DaemonSet", "Node")


class Hold(NamedTuple):
    """An allocation of a pod. card: its id; None: unidentified. memory: bytes, None: not metered."""

    card: int | None
    stack: str
    mode: str
    resource: str
    quantity: int
    memory: int | None
    cores: int
    profile: str = ""


class Asks(NamedTuple):
    """What a pod would request where it goes: so many cards of one resource, with so much memory and so many percent of each."""

    stack: str
    mode: str
    resource: str
    cards: int
    memory: int | None
    cores: int
    cpu_millis: int
    host_memory: int


class Pod(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A pod with cards. place: (id of its cluster, node). priority: 0 where it has none. owner_kind: "" for a bare pod."""

    uid: str
    place: NodeKey
    namespace: str
    name: str
    owner_kind: str = ""
    owner_name: str = ""
    priority: int = 0
    cpu_millis: int = 0
    host_memory: int = 0
    holds: tuple[Hold, ...]

    @property
    def memory(self) -> int:
        """Allocated bytes, as far as they are metered."""
        return sum(one.memory or 0 for one in self.holds)

    @property
    def bare(self) -> bool:
        """No controller creates it again."""
        return not self.owner_kind

    @property
    def owner(self) -> tuple[str, str, str]:
        """By whom pods are counted; a bare pod is its own."""
        return self.namespace, self.owner_kind, self.owner_name or self.uid

    @property
    def asks(self) -> Asks | None:
        """None for a pod that cannot move, or whose request is unknown: of a DaemonSet, of several resources, or by a claim."""
        alike = {(one.stack, one.mode, one.resource, one.memory, one.cores, one.profile) for one in self.holds}
        if self.owner_kind in _OF_NODE or len(alike) != 1:
            return None
        [(stack, mode, resource, memory, cores, profile)] = alike
        if not resource or (mode == MEMORY and memory is None):
            return None
        cards = len(self.holds) if mode == MEMORY else sum(one.quantity for one in self.holds)
        amount = memory if mode == MEMORY or profile else None
        return Asks(stack, mode, resource, cards, amount, cores, self.cpu_millis, self.host_memory)


def without(rows: Rows, place: NodeKey, pods: Sequence[Pod], leaving: Collection[str]) -> Rows:
    """The rows of one node when these have left it. pods: all that are there; leaving: UIDs."""
    gone = [one for one in pods if one.uid in leaving]
    held = dict(rows.held.get(place, {}))
    cleared: dict[int | None, list[Hold]] = {}
    for hold in _holds(gone):
        held[hold.resource] = held.get(hold.resource, 0) - hold.quantity
        cleared.setdefault(hold.card, []).append(hold)
    staying = list(_holds(one for one in pods if one.uid not in leaving))
    open_ = _open(staying) if None in cleared else rows.open.get(place, [])
    still = {one.card for one in staying}
    cards = [
        _left(one, cleared.get(one.piece.id, []), one.piece.id in still, open_) for one in rows.cards.get(place, ())
    ]
    figures = _host(rows.figures[place], sum(one.cpu_millis for one in gone), sum(one.host_memory for one in gone))
    return of_one(rows, place, cards, held, open_, figures)


def arrived(rows: Rows, place: NodeKey, asks: Asks, pod: Pod, fits: Fits) -> Rows | None:
    """The rows of one node when the pod is there too; None where its cores are not free on the cards."""
    held = dict(rows.held.get(place, {}))
    held[asks.resource] = held.get(asks.resource, 0) + sum(one.quantity for one in pod.holds)
    pieces = {one.piece.id: one.piece for one in rows.cards.get(place, ())}
    free = [card for card in fits.answer.cards if pieces[card].cores + asks.cores <= 100]
    if fits.answer.cards and len(free) < asks.cards:
        return None
    chosen = frozenset(free[: asks.cards])
    cards = [_given(one, asks) if one.piece.id in chosen else one for one in rows.cards.get(place, ())]
    figures = _host(rows.figures[place], -asks.cpu_millis, -asks.host_memory)
    return of_one(rows, place, cards, held, rows.open.get(place, []), figures)


def of_one(
    rows: Rows, place: NodeKey, cards: list[OneCard], held: dict[str, int], open_: list[Open], figures: Figures
) -> Rows:
    """Rows of one node alone."""
    return Rows(rows.nodes, {place: figures}, {place: cards}, {place: held}, {place: open_}, 0)


def _holds(pods: Iterable[Pod]) -> Iterable[Hold]:
    return (hold for pod in pods for hold in pod.holds)


def _open(holds: list[Hold]) -> list[Open]:
    """As the finder reads allocations whose card is unidentified."""
    found: dict[tuple[str, str, str], list[Hold]] = {}
    for one in holds:
        if one.card is None:
            found.setdefault((one.resource, one.stack, one.mode), []).append(one)
    return [
        Open(*key, sum(one.memory or 0 for one in mine), all(one.memory is not None for one in mine))
        for key, mine in found.items()
    ]


def _left(one: OneCard, gone: list[Hold], still: bool, open_: list[Open]) -> OneCard:
    piece = one.piece
    cleared = piece.doubtful and not open_
    if not gone and not cleared:
        return one
    empty = not still and (bool(gone) or cleared)
    return _with(
        one,
        free=_more(piece, sum(hold.memory or 0 for hold in gone), empty),
        unheld=piece.unheld or empty,
        doubtful=piece.doubtful and bool(open_),
        holds=max(0, piece.holds - len(gone)),
        cores=max(0, piece.cores - sum(hold.cores for hold in gone)),
    )


def _more(piece: Piece, memory: int, empty: bool) -> int | None:
    if piece.mode == WHOLE:
        return piece.total if empty else piece.free
    return None if piece.free is None else piece.free + memory


def _given(one: OneCard, asks: Asks) -> OneCard:
    piece = one.piece
    free = 0 if piece.mode == WHOLE else None if piece.free is None else piece.free - (asks.memory or 0)
    return _with(one, free=free, unheld=False, holds=piece.holds + 1, cores=piece.cores + asks.cores)


def _with(one: OneCard, **changes: object) -> OneCard:
    return msgspec.structs.replace(one, piece=msgspec.structs.replace(one.piece, **changes))


def _host(figures: Figures, cpu: int, memory: int) -> Figures:
    return figures._replace(
        cpu_free=None if figures.cpu_free is None else figures.cpu_free + cpu,
        host_memory_free=None if figures.host_memory_free is None else figures.host_memory_free + memory,
    )


def by_place(pods: Iterable[Pod]) -> dict[NodeKey, list[Pod]]:
    """The pods of each node."""
    found: dict[NodeKey, list[Pod]] = {}
    for one in pods:
        found.setdefault(one.place, []).append(one)
    return found


def owners(pods: Iterable[Pod]) -> int:
    """How many owners they have."""
    return len({one.owner for one in pods})


def fewest_owners(pods: Iterable[Pod], number: int) -> int:
    """So many of the pods have at least so many owners."""
    most = accumulate(sorted(Counter(one.owner for one in pods).values(), reverse=True))
    return 1 + sum(one < number for one in most)
