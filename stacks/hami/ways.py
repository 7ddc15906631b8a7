"""How HAMi is asked for parts of cards, and how its scheduler places them.

A container gets as many different cards as it asks for, with so much memory of each. A card takes it that is healthy, not cordoned,
has a slot left and the memory, and whose cores are not all held; without an amount of memory all of the card is asked for. Nodes are
filled one after the other (binpack) and the cards of a node evenly (spread), where settings or the pod do not say otherwise.
Source: Project-HAMi/HAMi v2.10.0 (pkg/scheduler, pkg/device/nvidia: Fit).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from kube.objects import Node
from stacks.engine import fitting
from stacks.engine.base import MEMORY, SHARES
from stacks.engine.fitting import Answer, Piece, Rule, Spot, Want, Way
from stacks.engine.names import annotations_of
from stacks.engine.offers import offer
from stacks.hami.pods import GPU_MEMORY, NAME
from stacks.hami.records import ALLOCATED, REGISTER, register
from stacks.hami.vendors import Vendor, vendors_of
from stacks.shared.ways import best, blocks, counted, full, shared
from wording.said import gettext_noop

CORDON = "hami.io/device-cordon"
#: Cards that HAMi cuts into MIG instances, in a register of either form.
_CUT = re.compile(r'"mode":\s*"mig"|,mig(?=[,:]|$)')
_RULE = gettext_noop(
    "Each requested card is a different card with the requested memory. A card fits if it is healthy, not cordoned, "
    "has a free slot, enough memory, and free cores. Without an amount of memory, all memory of the card is "
    "requested. HAMi fills nodes one by one (binpack) and spreads pods over the cards of a node (spread). "
    "Annotations of the pod change both, and select card types and cards."
)


class _Part(NamedTuple):
    """The cards of one vendor on a node."""

    vendor: Vendor
    cards: list[Piece]


def way(counted_as: Callable[[Node], str]) -> Way:
    """counted_as: what the slots of NVIDIA's cards are called on a node."""
    return Way(NAME, gettext_noop("HAMi"), _RULE, _rule(counted_as))


def _rule(counted_as: Callable[[Node], str]) -> Rule:
    def place(want: Want, spot: Spot) -> Answer | None:
        if not spot.cards:
            return Answer(why=fitting.CARDS_UNKNOWN)
        parts = _parts(spot, counted_as(spot.node))
        return best(msgspec.structs.replace(_placed(want, spot, part), npu=part.vendor.npu) for part in parts)

    return place


def _parts(spot: Spot, count: str) -> Iterator[_Part]:
    cordoned = {part.strip() for part in annotations_of(spot.node).get(CORDON, "").split(",")}
    left = [msgspec.structs.replace(card, healthy=False) if card.key in cordoned else card for card in spot.cards]
    for vendor in vendors_of(spot.node)[0]:
        found = register(annotations_of(spot.node)[vendor.register])
        mine = {one.uuid for one in found.cards} if found is not None else set()
        yield _Part(vendor, [card for card in left if card.key in mine])
        left = [card for card in left if card.key not in mine]
    if left:
        yield _Part(Vendor("", REGISTER, ALLOCATED, count, GPU_MEMORY), left)


def _placed(want: Want, spot: Spot, part: _Part) -> Answer:
    vendor, mine = part.vendor, msgspec.structs.replace(spot, cards=tuple(part.cards))
    if not offer(spot.node, vendor.resource).allocatable:
        return Answer(why=fitting.NOT_OFFERED)  # its plugin is gone
    if not part.cards:
        return Answer(why=fitting.CARDS_UNKNOWN)
    if part.cards[0].mode != MEMORY:
        rule = shared if part.cards[0].mode == SHARES else counted
        return rule(want, mine, part.cards, vendor.resource)
    if _CUT.search(annotations_of(spot.node).get(vendor.register, "")):
        return Answer(why=fitting.LAYOUT_UNKNOWN)
    units = -(-want.memory // vendor.unit) if want.memory is not None else None

    def need(card: Piece) -> int | None:
        return card.total if units is None else units * vendor.unit

    found = blocks(want, mine, need, full)
    if found.why:
        return found
    asked = {} if units is None else {vendor.memory: units}
    free = {card.id: card.free or 0 for card in part.cards}
    order = tuple(sorted(found.cards, key=lambda card: -free[card]))
    return msgspec.structs.replace(found, cards=order, limits={vendor.resource: want.cards, **asked})
