"""What HAMi writes on nodes and pods, in all generations: the register of cards, and which container got what of them.

Register: 7 fields, 9 fields, or a JSON array (2.8 and later). Pods: containers end with ";", devices with ":", fields are UUID,
type, memory in MiB, core percent. Must not know how it is counted. Nothing here raises; what cannot be read is None.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from stacks.engine.labels import MIB
from stacks.engine.names import MAX_CARDS, too_long
from stacks.engine.requests import MOST_DEVICES
from stacks.shared.slots import Device

REGISTER = "hami.io/node-nvidia-register"
ALLOCATED = "hami.io/vgpu-devices-allocated"
#: From 2.10 on: which slice of which card, beside the record that names the card.
MIG_ALLOCATIONS = "hami.io/vgpu-mig-allocations"
#: Old MIG devices carry template and slot: "GPU-…[7-9]".
_SLOT = re.compile(r"\[[^\]]*\]$")
_NUMBER = re.compile(r"[0-9]{1,9}")
_LONGEST_UUID = 128
#: What HAMi reads as a truth value; with any other text it refuses the whole register.
_HEALTH = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


class Registered(msgspec.Struct, frozen=True, kw_only=True):
    """One card of a node's register. memory: bytes, as scaled by HAMi; shares: containers at most; cores: percent, or a number.

    cut: whether HAMi cuts slices of the card as they are asked for, and shares are as many slices as there may be.
    """

    uuid: str
    index: int | None
    memory: int
    shares: int
    cores: int
    type: str
    healthy: bool
    cut: bool = False


class Register(msgspec.Struct, frozen=True):
    """The cards of a node, each once. repeated: UUIDs that the register names more than once; the first entry counts."""

    cards: list[Registered]
    repeated: list[str]

    def is_left_over(self, offered: int | None) -> bool:
        """Whether the vendor's own plugin gives out the cards now. offered: how many of the resource the node has.

        HAMi's plugin offers each card as often as the register says; the other offers each once. Of cards that HAMi cuts into slices
        the register has the slices instead, and HAMi may offer each of them once as well.
        """
        if any(card.cut for card in self.cards):
            return False
        return offered == len(self.cards) != sum(card.shares for card in self.cards)


@lru_cache(maxsize=16)
def register(text: str) -> Register | None:
    """Read a register of any generation; None when it is of no such form.

    Kept for a few texts: one report of a node asks for its registers about eight times.
    """
    if too_long(text):
        return None
    found = _of_json(text) if text.lstrip().startswith("[") else _of_fields(text)
    if found is None or len(found) > MAX_CARDS:
        return None
    cards: dict[str, Registered] = {}
    repeated: list[str] = []
    for card in found:
        repeated += [card.uuid] if card.uuid in cards else []
        cards.setdefault(card.uuid, card)
    indices = [card.index for card in cards.values()]
    # An index that several cards carry says nothing about any of them.
    once = [
        card if indices.count(card.index) == 1 else msgspec.structs.replace(card, index=None) for card in cards.values()
    ]
    return Register(once, repeated)


def _of_json(text: str) -> list[Registered] | None:
    try:
        decoded = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    if not isinstance(decoded, list):
        return None
    found = [_of_object(item) if isinstance(item, dict) else None for item in decoded]
    return [card for card in found if card is not None] if None not in found else None


def _of_object(item: Mapping[str, object]) -> Registered | None:
    """The writer leaves out what is empty: a missing index is 0, a missing health is false."""
    uuid, kind = item.get("id"), item.get("type", "")
    memory, shares, index = (_whole(item.get(name, 0)) for name in ("devmem", "count", "index"))
    cores = _whole(item.get("devcore", 0)) or 0
    if not isinstance(uuid, str) or not isinstance(kind, str) or memory is None or shares is None or index is None:
        return None
    found = _registered(uuid, index, (memory, shares, cores), kind, item.get("health") is True)
    return msgspec.structs.replace(found, cut=True) if found is not None and item.get("migProfiles") else found


def _of_fields(text: str) -> list[Registered] | None:
    found: list[Registered] = []
    for place, entry in enumerate(part for part in text.strip().split(":") if part):
        fields = entry.split(",")
        if len(fields) not in (7, 9):
            return None
        uuid, shares, memory, cores, kind, _, health = fields[:7]
        index = _whole(fields[7]) if len(fields) == 9 else place
        numbers, healthy = (_whole(memory), _whole(shares), index), _HEALTH.get(health)
        if numbers[0] is None or numbers[1] is None or numbers[2] is None or healthy is None:
            return None
        card = _registered(uuid, numbers[2], (numbers[0], numbers[1], _whole(cores) or 0), kind, healthy)
        if card is None:
            return None
        found.append(card)
    return found


def _registered(uuid: str, index: int, numbers: tuple[int, int, int], kind: str, healthy: bool) -> Registered | None:
    """numbers: memory in MiB, containers at most, cores."""
    name, (memory, shares, cores) = _uuid(uuid), numbers
    if name is None:
        return None
    return Registered(
        uuid=name, index=index, memory=memory * MIB, shares=shares, cores=cores, type=kind, healthy=healthy
    )


def _uuid(text: str) -> str | None:
    name = _SLOT.sub("", text.strip())
    return name if 0 < len(name) <= _LONGEST_UUID and name.isprintable() else None


def _whole(value: object) -> int | None:
    """A whole number as JSON or as text, within what a node can have."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MOST_DEVICES else None


def allocated(text: str) -> list[list[Device]] | None:
    """One list of devices per container slot, in the record's order; None when the text is not of this form.

    Empty slots are containers without a device; older versions write them as ",,0,0:".
    """
    if too_long(text):
        return None
    slots: list[list[Device]] = []
    parts = text.strip().split(";")
    for slot in parts[:-1] if parts[-1] == "" else parts:
        devices: list[Device] = []
        for entry in slot.split(":"):
            fields = entry.split(",")
            if entry == "" or (len(fields) == 4 and fields[0] == ""):
                continue
            device = _device(fields)
            if device is None:
                return None
            devices.append(device)
        slots.append(devices)
    return slots


def _device(fields: list[str]) -> Device | None:
    # HAMi itself passes over what may follow.
    if len(fields) < 4:
        return None
    uuid, memory, core = _uuid(fields[0]), _whole(fields[2]), _whole(fields[3])
    if uuid is None or memory is None or core is None:
        return None
    return Device(uuid, memory * MIB, core or None)


def parents(text: str | None) -> dict[str, str]:
    """UUID of a slice → UUID of its card; what cannot be read is left out, since the record names the card itself."""
    if text is None or too_long(text):
        return {}
    try:
        decoded = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return {}
    entries = [item for item in decoded if isinstance(item, dict)] if isinstance(decoded, list) else []
    pairs = [(item.get("migUUID"), item.get("gpuUUID")) for item in entries]
    return {own: card for own, card in pairs if isinstance(own, str) and own and isinstance(card, str) and card}
