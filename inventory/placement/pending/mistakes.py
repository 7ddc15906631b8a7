"""What is probably a mistake of the request: a unit, a name, more than there is anywhere. Reported only where it is certain. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inventory.placement.pending.asked import Ask
from inventory.placement.pending.board import Board
from stacks import STACKS
from stacks.engine.labels import GIB, MIB
from wording.close_names import close_names

MIB_MEANT, GIB_MEANT, LARGER_THAN_ANY, MORE_THAN_ANY, NOBODY_OFFERS, NOT_TOGETHER = (
    "mib-meant",
    "gib-meant",
    "larger-than-any-card",
    "more-than-any-node",
    "nobody-offers",
    "not-together",
)
#: A pod that wants less than this of a card has mistaken the unit.
_TOO_LITTLE = 256 * MIB


@dataclass(frozen=True)
class Mistake:
    """wanted: as it is asked for. most: what there is at most: bytes of a card, or the resource's unit. other: another resource."""

    code: str
    resource: str
    wanted: int
    most: int = 0
    other: str = ""


def mistakes(asks: list[Ask], board: Board) -> list[Mistake]:
    """board: of the pod's cluster."""
    found = [*_missing(asks, board)]
    for ask in asks:
        found += _of_memory(ask, board) if ask.memory else _of_count(ask, board)
    return found or _apart(asks, board)


def _missing(asks: list[Ask], board: Board) -> Iterable[Mistake]:
    """Resources that no node states. One of a system that some node has may be counted by its scheduler alone."""
    for ask in asks:
        if ask.resource not in board.most and ask.stack not in board.stacks:
            yield Mistake(NOBODY_OFFERS, ask.resource, ask.quantity, other=_close(ask.resource, set(board.most)))


def _close(resource: str, offered: set[str]) -> str:
    names = offered | {name for stack in STACKS for name in stack.resources}
    return next(iter(close_names(resource, names - {resource}, 1, 0.8)), "")


def _of_memory(ask: Ask, board: Board) -> Iterable[Mistake]:
    largest = board.largest_card(ask.stack)
    nodes = board.of({ask.stack})
    sizes = {ask.bytes_by(one.unit) for one in nodes if ask.resource in one.resources or ask.units.get("")}
    if largest is None or len(sizes) != 1:
        return
    [size] = sizes
    if size is None:
        return
    each = size // ask.quantity if ask.quantity else 0
    if size > largest:
        meant = each == GIB and _TOO_LITTLE <= ask.quantity * MIB <= largest
        yield Mistake(MIB_MEANT if meant else LARGER_THAN_ANY, ask.resource, ask.quantity if meant else size, largest)
    elif each == MIB and size < _TOO_LITTLE and ask.quantity * GIB <= largest:
        yield Mistake(GIB_MEANT, ask.resource, ask.quantity, largest)


def _of_count(ask: Ask, board: Board) -> Iterable[Mistake]:
    most = board.most.get(ask.resource)
    if most and ask.quantity > most:
        yield Mistake(MORE_THAN_ANY, ask.resource, ask.quantity, most)


def _apart(asks: list[Ask], board: Board) -> list[Mistake]:
    """Two resources that are offered, by no node both."""
    there = [ask for ask in asks if ask.resource in board.most]
    pairs = ((one, other) for place, one in enumerate(there) for other in there[place + 1 :])
    return [
        Mistake(NOT_TOGETHER, one.resource, one.quantity, other=other.resource)
        for one, other in pairs
        if not any({one.resource, other.resource} <= offer.resources.keys() for offer in board.offers)
    ]
