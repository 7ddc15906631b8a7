"""How Volcano is asked for virtual GPUs: each on another card, with so many units of its memory.

Source: volcano-sh/volcano ed72c7c8 (pkg/scheduler/api/devices/nvidia/vgpu).
"""

from __future__ import annotations

import re

import msgspec

from stacks.engine import fitting
from stacks.engine.fitting import Answer, Piece, Spot, Want, Way
from stacks.engine.names import annotations_of
from stacks.shared.ways import blocks, full
from stacks.volcano.register import REGISTER, register
from stacks.volcano.vgpu import MEMORY_UNITS, NAME, NUMBER
from wording.said import gettext_noop

#: Cards that are cut into MIG instances.
_CUT = re.compile(r",\s*mig\s*(?=:|$)")
_SCHEDULER = "volcano"
_RULE = gettext_noop(
    "Each virtual GPU is on a different card with the requested memory. A card fits if it is healthy, has a free "
    "slot, enough memory, and free cores. Pods must use Volcano as their scheduler."
)


def _place(want: Want, spot: Spot) -> Answer | None:
    text = annotations_of(spot.node).get(REGISTER)
    found = register(text) if text is not None else None
    if not found:
        return None  # the GPU share of before has no register
    if not spot.cards:
        return Answer(why=fitting.CARDS_UNKNOWN)
    if text is not None and _CUT.search(text):
        return Answer(why=fitting.LAYOUT_UNKNOWN)
    units = {card.uuid: card.units for card in found}
    sizes = {card.total // units[card.key] for card in spot.cards if card.total and units.get(card.key)}
    if len(sizes) != 1:
        return Answer(why=fitting.UNIT_UNKNOWN)
    size = sizes.pop()

    def need(card: Piece) -> int | None:
        return card.total if want.memory is None else -(-want.memory // size) * size

    answer = blocks(want, spot, need, full)
    if answer.why:
        return answer
    memory = {MEMORY_UNITS: -(-want.memory // size)} if want.memory is not None else {}
    return msgspec.structs.replace(answer, limits={NUMBER: want.cards, **memory}, scheduler=_SCHEDULER)


WAYS = (Way(NAME, gettext_noop("Volcano, virtual GPUs"), _RULE, _place),)
