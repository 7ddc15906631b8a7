"""Rules of placing that several systems have: cards that are counted, and parts of cards by memory.

Whoever counts in the end is the scheduler of Kubernetes: of an extended resource a node has what is allocatable less what pods
ask for that are bound to it (NodeResourcesFit). Which card a pod then gets is the device plugin's choice among what it calls healthy.
Source: kubernetes/kubernetes v1.36.3, pkg/scheduler/framework/plugins/noderesources/fit.go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import msgspec

from kube.objects import Node
from stacks.engine import fitting
from stacks.engine.base import MEMORY, PARTS, SHARES, WHOLE, Context
from stacks.engine.fitting import Answer, Piece, Spot, Want, Way
from stacks.engine.offers import offer
from wording.said import gettext_noop

WHOLE_CARDS = gettext_noop(
    "The Kubernetes scheduler counts devices: the node needs as many free devices as requested. The device plugin "
    "allocates any healthy card, always as a whole card. Memory cannot be requested, so every card of the node must "
    "be large enough."
)


def offered(node: Node, wanted: Callable[[str], bool]) -> list[str]:
    """The resources of the node that are wanted, by name."""
    status = node.status
    return sorted(name for name in (status.allocatable if status else None) or () if wanted(name))


#: Names of resources, or whether a name is one of them.
Named = Collection[str] | Callable[[str, Context], bool]


def _wanted(resources: Named, context: Context) -> Callable[[str], bool]:
    return (lambda name: resources(name, context)) if callable(resources) else frozenset(resources).__contains__


def whole_cards(
    label: str, name: str, resources: Named, rule: str = WHOLE_CARDS, *, profiles: bool = False, npus: Named = ()
) -> Way:
    """Whole cards that a device plugin gives out by count. profiles: parts that are given out in the same way are meant too.

    npus: resources among them that are no GPUs.
    """

    def place(want: Want, spot: Spot) -> Answer | None:
        cards = [card for card in spot.cards if card.mode == WHOLE and (profiles or not card.profile)]
        names = offered(spot.node, _wanted(resources, spot.context))
        if not cards and not (names and not spot.cards_known):
            return None
        npu = _wanted(npus, spot.context)
        answers = (msgspec.structs.replace(counted(want, spot, cards, name), npu=npu(name)) for name in names)
        return best(answers) or Answer(why=fitting.NOT_OFFERED)

    return Way(name, label, rule, place)


def best(answers: Iterable[Answer]) -> Answer | None:
    """The first that fits, else the first; None of none."""
    found = list(answers)
    return next((one for one in found if not one.why), found[0] if found else None)


def counted(want: Want, spot: Spot, cards: list[Piece], resource: str) -> Answer:
    """Cards, or slices of one kind, of which each is given to one holder as a whole."""
    if not cards:
        return Answer(why=fitting.CARDS_UNKNOWN)
    there = offer(spot.node, resource)
    if not there.allocatable:
        return Answer(why=fitting.NOT_OFFERED)
    large = [card for card in cards if _holds(card, want.memory)]
    if why := _too_small(want, cards, large):
        return Answer(why=why)
    if any(one.resource != resource and (one.mode != WHOLE or one.stack != spot.stack) for one in spot.open):
        return Answer(why=fitting.OCCUPANCY_UNKNOWN)
    left = there.allocatable - spot.held.get(resource, 0)
    given = [card for card in cards if card.unheld or card.doubtful]
    sound = [card for card in given if card.healthy]
    if min(left, len(sound)) < want.cards:
        lost = (there.capacity or 0) - there.allocatable
        enough = min(left + max(lost, 0), len(given)) >= want.cards
        return Answer(why=fitting.UNHEALTHY_CARDS if enough else fitting.TOO_FEW_FREE)
    if small := _small(given, large):
        return Answer(why=_of_mixed(want, given, small))
    known = not any(card.doubtful for card in given)
    notes = [] if known else [fitting.CARD_NOT_KNOWN]
    notes += [fitting.MAY_BE_UNHEALTHY] if len(sound) < len(given) and left > len(sound) else []
    return Answer(
        cards=tuple(card.id for card in _ordered(sound)) if known else (),
        limits={resource: want.cards},
        notes=tuple(notes),
        parts=all(card.profile for card in given),
    )


def _small(cards: list[Piece], large: list[Piece]) -> list[Piece]:
    """Those that are not among the large ones."""
    known = {card.id for card in large}  # by what is one number: to compare whole cards costs more than all else here
    return [card for card in cards if card.id not in known]


def _of_mixed(want: Want, given: list[Piece], small: list[Piece]) -> str:
    unknown = any(card.total is None for card in small)
    if len(given) - len(small) < want.cards:
        return fitting.MEMORY_UNKNOWN if unknown else fitting.TOO_FEW_FREE
    return fitting.MEMORY_UNKNOWN if unknown else fitting.MIXED_CARDS


def _too_small(want: Want, cards: list[Piece], large: list[Piece]) -> str:
    """Why these cards would not do even if nobody held any; "" when they would."""
    if len(cards) < want.cards:
        return fitting.FEW_CARDS
    if len(large) >= want.cards:
        return ""
    return fitting.MEMORY_UNKNOWN if any(card.total is None for card in cards) else fitting.TOO_SMALL


def _holds(card: Piece, memory: int | None) -> bool:
    """Whether the card has that much memory, held or not."""
    return memory is None or (card.total is not None and card.total >= memory)


def _ordered(cards: Iterable[Piece]) -> list[Piece]:
    return sorted(cards, key=lambda card: (card.index is None, card.index or 0, card.key))


def shared(want: Want, spot: Spot, cards: list[Piece], resource: str) -> Answer:
    """Cards that take several holders by count, in turns (memory is not metered) or in equal parts of their memory."""
    if not cards:
        return Answer(why=fitting.CARDS_UNKNOWN)
    there = offer(spot.node, resource)
    if not there.allocatable:
        return Answer(why=fitting.NOT_OFFERED)
    if want.cards > 1:
        return Answer(why=fitting.ONE_CARD)  # two shares may be of the same card
    parts = all(card.mode == PARTS for card in cards)
    if want.memory is not None and not parts:
        return Answer(why=fitting.NOT_METERED)
    if want.memory is not None:
        sizes = [card.total // card.shares for card in cards if card.total is not None and card.shares]
        if len(sizes) < len(cards):
            return Answer(why=fitting.MEMORY_UNKNOWN)
        if min(sizes) < want.memory:
            return Answer(why=fitting.TOO_SMALL)
    if there.allocatable - spot.held.get(resource, 0) < 1:
        return Answer(why=fitting.NO_SLOTS)
    sound = [card for card in cards if card.healthy]
    if not sound:
        return Answer(why=fitting.UNHEALTHY_CARDS)
    notes = [fitting.CARD_NOT_KNOWN, *([] if parts else [fitting.NOT_ISOLATED])]
    notes += [fitting.MAY_BE_UNHEALTHY] if len(sound) < len(cards) else []
    return Answer(limits={resource: 1}, notes=tuple(notes))


SHARES_OF_CARDS = gettext_noop(
    "Each card is offered several times, and memory is not metered. Request one share at a time and no amount of "
    "memory, because several shares may be on the same card."
)


def shares_of_cards(label: str, name: str, resources: Named, rule: str = SHARES_OF_CARDS) -> Way:
    """Cards that a device plugin offers several times."""

    def place(want: Want, spot: Spot) -> Answer | None:
        cards = [card for card in spot.cards if card.mode in (SHARES, PARTS)]
        names = offered(spot.node, _wanted(resources, spot.context))
        if not cards and not (names and not spot.cards_known):
            return None
        found = best(shared(want, spot, cards, one) for one in names)
        return found or Answer(why=fitting.NOT_OFFERED)

    return Way(name, label, rule, place)


def blocks(want: Want, spot: Spot, need: Callable[[Piece], int | None], barred: Callable[[Piece], str]) -> Answer:
    """Parts of cards by memory, one part of each of so many different cards; the cards are in the order of their numbers.

    need: bytes of a card that the request takes of it; None when they are not known. barred: why a card takes nobody though its
    memory is free; "" when it does.
    """
    cards = [card for card in spot.cards if card.mode == MEMORY]
    asked = [(card, need(card)) for card in cards]
    fit = [(card, size) for card, size in asked if size is not None and card.total is not None and card.total >= size]
    large = [card for card, _ in fit]
    if why := _too_small(want, cards, large):
        return Answer(why=why)
    if any(one.mode in (WHOLE, SHARES) or not one.metered for one in spot.open):
        return Answer(why=fitting.OCCUPANCY_UNKNOWN)
    # What is held on a card that is not known may lie on this very one.
    open_ = sum(one.memory for one in spot.open)
    roomy = [(card, size) for card, size in fit if _room(card) >= size]
    certain = [card for card, size in roomy if (card.free or 0) - open_ >= size]
    sound = [card for card in certain if card.healthy]
    taking = [card for card in sound if not barred(card)]
    if len(taking) >= want.cards:
        return Answer(cards=tuple(card.id for card in _ordered(taking)))
    return Answer(why=_why_no_block(want, (large, [card for card, _ in roomy], certain, sound), barred))


def _room(card: Piece) -> int:
    return card.free if card.free is not None else -1


def _why_no_block(
    want: Want, stages: tuple[list[Piece], list[Piece], list[Piece], list[Piece]], barred: Callable[[Piece], str]
) -> str:
    """stages: cards that are large enough, have the room, have it for certain, are healthy too; each fewer than before."""
    large, roomy, certain, sound = stages
    if len(sound) >= want.cards:
        return next(why for card in sound if (why := barred(card)))
    # Of a card that its system calls unhealthy nothing is free, whoever holds it.
    lost = [card for card in large if not card.healthy and not card.holds and card not in certain]
    if len(certain) + len(lost) >= want.cards:
        return fitting.UNHEALTHY_CARDS
    unknown = [card for card in large if card.free is None]
    return fitting.OCCUPANCY_UNKNOWN if len(roomy) + len(unknown) >= want.cards else fitting.NO_BLOCK


def full(card: Piece) -> str:
    """Why a card takes no further holder though its memory is free: its slots, or its cores, are all held."""
    if card.shares is not None and card.holds >= card.shares:
        return fitting.NO_SLOTS
    return fitting.NO_CORES if card.cores >= 100 else ""


def anyone(card: Piece) -> str:
    """Nothing but memory bars a card."""
    return ""
