"""How devices are claimed by dynamic resource allocation.

The scheduler gives a claim devices that no claim has, that are not tainted, and that the selectors of the claim and of its device
class choose. A part of a card is a device like any other, so it is given beside parts that others have. Selectors are expressions of
CEL and are not evaluated here. Source: KEP-4381, KEP-4815; kubernetes/kubernetes v1.36.3.
"""

from __future__ import annotations

from stacks.dra.cards import STACK
from stacks.dra.claim_request import request_of
from stacks.engine import fitting
from stacks.engine.base import MEMORY, WHOLE
from stacks.engine.fitting import Answer, Part, Piece, Spot, Want, Way
from wording.said import gettext_noop

_RULE = gettext_noop(
    "A ResourceClaim gets devices that no other claim has and that are not tainted: whole cards, or free slices of "
    "cards. gpudash does not evaluate the selectors of the claim and its DeviceClass: they must match these devices."
)


def _place(want: Want, spot: Spot) -> Answer | None:
    if not spot.cards:
        return None if spot.cards_known else Answer(why=fitting.CARDS_UNKNOWN)
    taking = [card for card in spot.cards if _takes(card, want.memory)]
    sound = [card for card in taking if card.healthy]
    if len(sound) >= want.cards:
        return Answer(cards=tuple(card.id for card in sound), notes=(fitting.SELECTORS,))
    numbers = {card.id: max(_number(card, want.memory), card in sound) for card in spot.cards if card.healthy}
    if sum(numbers.values()) >= want.cards:
        cards = tuple(card for card, number in numbers.items() if number)
        return Answer(cards=cards, notes=(fitting.SELECTORS, fitting.PART_OF_CARD), parts=True)
    return Answer(why=_why(want, spot.cards, taking))


def _why(want: Want, cards: tuple[Piece, ...], taking: list[Piece]) -> str:
    cut = [card for card in cards if card.parts is not None]
    if len(cards) < want.cards and not cut:
        return fitting.FEW_CARDS
    possible = [card for card in cards if (size := _largest(card)) is None or size >= (want.memory or 0)]
    large = [card for card in possible if want.memory is None or _largest(card) is not None]
    if not possible or (not cut and len(large) < want.cards):
        return fitting.MEMORY_UNKNOWN if len(possible) >= want.cards else fitting.TOO_SMALL
    if len(taking) >= want.cards:
        return fitting.UNHEALTHY_CARDS
    most = {card.id: max(_number(card, want.memory, at_most=True), card in taking) for card in cards if card.healthy}
    # Of a card without any kind of parts it is not known what fits beside those that are held.
    if any(card.parts is not None and not card.parts.kinds for card in possible) or sum(most.values()) >= want.cards:
        return fitting.LAYOUT_UNKNOWN
    doubtful = sum(1 for card in large if card.doubtful and card not in taking)
    if len(taking) + doubtful >= want.cards:
        return fitting.OCCUPANCY_UNKNOWN
    return fitting.NO_BLOCK if cut and want.memory is not None else fitting.TOO_FEW_FREE


def _takes(card: Piece, memory: int | None) -> bool:
    """Whether it is given as it is, in no parts."""
    wanted = card.total if memory is None else memory
    if card.mode == WHOLE:
        return card.unheld and (memory is None or (card.total or 0) >= memory)
    # Several claims may consume a part of its capacity each.
    return card.mode == MEMORY and card.free is not None and wanted is not None and card.free >= wanted


def _number(card: Piece, memory: int | None, at_most: bool = False) -> int:
    """So many parts with at least so much memory can be had of it."""
    kinds = [one for one in card.parts.kinds if _fits(one, memory)] if card.parts is not None else []
    numbers = [one.most if at_most else one.sure for one in kinds]
    return sum(numbers) if card.parts is not None and card.parts.together else max(numbers, default=0)


def _fits(part: Part, memory: int | None) -> bool:
    return memory is None or (part.memory is not None and part.memory >= memory)


def _largest(card: Piece) -> int | None:
    """The most memory that a claim can have of it in one device; None when not known."""
    if card.mode in (WHOLE, MEMORY) or card.parts is None or not card.parts.kinds:
        return card.total
    sizes = [one.memory for one in card.parts.kinds]
    return max((one for one in sizes if one is not None), default=None)


WAYS = (Way(STACK, gettext_noop("Resource claims (DRA)"), _RULE, _place, in_parts=True, claim=request_of),)
