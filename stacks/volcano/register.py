"""What Volcano writes of virtual GPUs: the register of a node's cards, and the record on a pod.

Register: UUID, containers at most, memory, type, health and mode, ended by ":". Record: containers joined by ";", devices ended
by ":", their fields UUID, type, memory and cores. Memory is in units of the plugin: MiB divided by a factor that is its setting.
Nothing here raises.
Source: volcano-sh/volcano ed72c7c (pkg/scheduler/api/devices/nvidia/vgpu), Project-HAMi/volcano-vgpu-device-plugin 4fb76ba.
"""

from __future__ import annotations

import re

import msgspec

from stacks.engine.labels import MIB
from stacks.engine.names import MAX_CARDS, too_long
from stacks.engine.requests import devices

REGISTER = "volcano.sh/node-vgpu-register"
ALLOCATED = "volcano.sh/vgpu-ids-new"
_LONGEST_UUID = 128
#: A MIG device: the UUID of its card, then group and place.
_PLACE = re.compile(r"\[[^\]]*\]$")
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
#: Of so few units nothing can be said about how many MiB each is.
_LEAST_UNITS = 20


class Registered(msgspec.Struct, frozen=True):
    """One card of the register. units: its memory as the plugin counts it."""

    uuid: str
    shares: int
    units: int
    type: str
    healthy: bool


class Device(msgspec.Struct, frozen=True):
    """What a container got of one card. core: percent, None for no limit."""

    uuid: str
    units: int
    core: int | None


def register(text: str) -> list[Registered] | None:
    """The cards of a node, each once; None when the text is not of this form."""
    if too_long(text):
        return None
    found: dict[str, Registered] = {}
    for entry in (part for part in text.strip().split(":") if part.strip()):
        fields = [field.strip() for field in entry.split(",")]
        if len(fields) not in (5, 6):
            return None
        uuid, shares, units = _uuid(fields[0]), devices(fields[1]), devices(fields[2])
        if uuid is None or shares is None or units is None:
            return None
        found.setdefault(uuid, Registered(uuid, shares, units, fields[3], fields[4] in _TRUE))
    return list(found.values()) if len(found) <= MAX_CARDS else None


def allocated(text: str) -> list[list[Device]] | None:
    """The devices of each container that asks for some, in order; None when the text is not of this form."""
    if too_long(text):
        return None
    slots: list[list[Device]] = []
    for part in text.strip().strip(";").split(";"):
        slot: list[Device] = []
        for entry in (one for one in part.split(":") if one.strip()):
            fields = [field.strip() for field in entry.split(",")]
            if len(fields) < 4:
                return None
            uuid, units, core = _uuid(fields[0]), devices(fields[2]), devices(fields[3])
            if uuid is None or units is None or core is None:
                return None
            slot.append(Device(uuid, units, core or None))
        if slot:
            slots.append(slot)
    return slots


def factor(cards: list[Registered], memory: int | None) -> int | None:
    """How many MiB a unit is, by the memory of a card (bytes) that others state; None when it is not known.

    The plugin drops what is left over, and drivers and labels may differ a little.
    """
    if memory is None or not cards:
        return None
    whole, found = memory // MIB, set[int | None]()
    for card in cards:
        number = round(whole / card.units) if card.units >= _LEAST_UNITS else 0
        fits = number > 0 and abs(card.units * number - whole) <= max(number, whole // 50)
        found.add(number if fits else None)
    return found.pop() if len(found) == 1 else None


def _uuid(text: str) -> str | None:
    name = _PLACE.sub("", text.strip())
    return name if 0 < len(name) <= _LONGEST_UUID and name.isprintable() else None
