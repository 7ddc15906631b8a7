"""How gpushare is asked for memory, and how its scheduler places it.

The open-source extender puts a pod on the one card that has the least free memory that is still enough, the lowest number first.
Alibaba Cloud's own scheduler divides a request over the cards that a label of the pod counts, each with an equal part.
Sources: AliyunContainerService/gpushare-scheduler-extender c0b6141 (pkg/cache/nodeinfo.go); help pages of ACK.
"""

from __future__ import annotations

import msgspec

from stacks.engine import fitting
from stacks.engine.fitting import Answer, Piece, Spot, Want, Way
from stacks.engine.labels import GIB, MIB
from stacks.engine.names import labels_of
from stacks.engine.offers import offer
from stacks.gpushare.declared import EXCLUSIVE, SETTINGS, names
from stacks.shared.ways import anyone, best, blocks, counted, offered
from wording.said import gettext_noop

_UNITS = {"GiB": GIB, "MiB": MIB}
_SCHEDULE, _PLACEMENT = "ack.node.gpu.schedule", "ack.node.gpu.placement"
_MEMORY = gettext_noop(
    "One card must have all of the requested memory. The scheduler extender picks the card with the least free "
    "memory that is enough, lowest number first. On ACK nodes (label ack.node.gpu.schedule) the pod label "
    "aliyun.com/gpu-count splits a request equally over that many cards. gpudash counts a terminating pod until it "
    "is deleted, the extender does not."
)
_CARDS = gettext_noop("Pods request a number of whole cards. The scheduler chooses the cards.")


def _memory(want: Want, spot: Spot) -> Answer | None:
    mine = names(spot.context)
    there = offer(spot.node, mine.memory)
    if there.slots is None:
        return None
    unit = _UNITS.get(spot.unit)
    if not there.allocatable:
        return Answer(why=fitting.NOT_OFFERED)
    if unit is None:
        return Answer(why=fitting.UNIT_UNKNOWN)
    if not spot.cards:
        return Answer(why=fitting.CARDS_UNKNOWN)
    if want.cards > 1 and _SCHEDULE not in labels_of(spot.node):
        return Answer(why=fitting.ONE_CARD)
    size = unit

    def need(card: Piece) -> int | None:
        return card.total if want.memory is None else -(-want.memory // size) * size

    found = blocks(want, spot, need, anyone)
    if found.why:
        return found
    chosen = _in_order(spot, found.cards)
    units = sum(need(card) or 0 for card in chosen[: want.cards]) // size
    if there.allocatable - spot.held.get(mine.memory, 0) < units:
        return Answer(why=fitting.NO_BLOCK)
    labels = {SETTINGS["GPUSHARE_COUNT"]: str(want.cards)} if want.cards > 1 else {}
    return msgspec.structs.replace(
        found,
        cards=tuple(card.id for card in chosen),
        limits={mine.memory: units},
        labels=labels,
        notes=(fitting.NOT_ISOLATED,) if _not_isolated(spot) else (),
    )


def _in_order(spot: Spot, ids: tuple[int, ...]) -> list[Piece]:
    """As the scheduler takes them."""
    taking = set(ids)
    spread = labels_of(spot.node).get(_PLACEMENT) == "spread"
    cards = [card for card in spot.cards if card.id in taking]
    return sorted(cards, key=lambda card: (-(card.free or 0) if spread else card.free or 0, card.index or 0))


def _not_isolated(spot: Spot) -> bool:
    """Without a module of the kernel's, memory is only booked."""
    labels = labels_of(spot.node)
    return labels.get(_SCHEDULE, "share") == "share" and labels.get("cgpu") != "true"


def _cards(want: Want, spot: Spot) -> Answer | None:
    mine = names(spot.context)
    if offer(spot.node, mine.memory).slots is not None and not offer(spot.node, EXCLUSIVE).slots:
        return None
    found = offered(spot.node, lambda name: name in (mine.cards, EXCLUSIVE))
    return best(counted(want, spot, list(spot.cards), name) for name in found)


WAYS = (
    Way("gpushare", gettext_noop("gpushare, memory"), _MEMORY, _memory),
    Way("gpushare-cards", gettext_noop("gpushare, whole cards"), _CARDS, _cards),
)
