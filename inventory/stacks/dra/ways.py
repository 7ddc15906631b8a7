"""How devices are claimed by dynamic resource allocation.

The scheduler gives a claim devices that no claim has, that are not tainted, and that the selectors of the claim and of its device
class choose. Selectors are expressions of CEL and are not evaluated here. Source: KEP-4381; kubernetes/kubernetes v1.36.3.
"""

from __future__ import annotations

from inventory.stacks.dra.cards import STACK
from inventory.stacks.engine import fitting
from inventory.stacks.engine.base import MEMORY, WHOLE
from inventory.stacks.engine.fitting import Answer, Piece, Spot, Want, Way

_RULE = (
    "A ResourceClaim for so many devices gets such as no other claim has and as are not tainted. The selectors of the claim and of "
    "its DeviceClass are not evaluated here: they must choose these devices. Parts that are cut on demand are on the pages of cards."
)


def _place(want: Want, spot: Spot) -> Answer | None:
    if not spot.cards:
        return None
    cards = list(spot.cards)
    if len(cards) < want.cards:
        return Answer(why=fitting.FEW_CARDS)
    large = [card for card in cards if want.memory is None or (card.total or 0) >= want.memory]
    if len(large) < want.cards:
        unknown = any(card.total is None for card in cards)
        return Answer(why=fitting.MEMORY_UNKNOWN if unknown else fitting.TOO_SMALL)
    taking = [card for card in large if _takes(card, want.memory)]
    sound = [card for card in taking if card.healthy]
    if len(sound) >= want.cards:
        return Answer(cards=tuple(card.id for card in sound), notes=(fitting.SELECTORS,))
    if len(taking) >= want.cards:
        return Answer(why=fitting.UNHEALTHY_CARDS)
    doubtful = sum(1 for card in large if card.doubtful and card not in taking)
    return Answer(why=fitting.OCCUPANCY_UNKNOWN if len(taking) + doubtful >= want.cards else fitting.TOO_FEW_FREE)


def _takes(card: Piece, memory: int | None) -> bool:
    if card.mode == WHOLE:
        return card.unheld
    wanted = card.total if memory is None else memory
    # Several claims may consume a part of its capacity each.
    return card.mode == MEMORY and card.free is not None and wanted is not None and card.free >= wanted


WAYS = (Way(STACK, "Resource claims (DRA)", _RULE, _place),)
