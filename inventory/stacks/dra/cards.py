"""From devices to cards: one piece of silicon may be offered as a whole, in each way of dividing it, and to a virtual machine.

All of these are listed at once and exclude each other, so capacities of devices are never added up: a card is a device that is no
part of another. A part lies on the card that its attributes name, or that takes of the same counters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from inventory.stacks.dra.drivers import DRIVERS, driver
from inventory.stacks.dra.pools import Key, Offered
from inventory.stacks.engine.base import HEALTH_UNKNOWN, MEMORY, SHARES, UNHEALTHY, WHOLE, Card

STACK = "dra"
_NUMBER = re.compile(r"[a-z-]*?([0-9]{1,4})(?:-.*)?")
_BUS = ("pciBusID", "pcieBusID", "pciAddr", "pciAddress")


class Cards(NamedTuple):
    """cards: by key. on: device → the key of its card. parts: devices that are less than their card."""

    cards: dict[str, Card]
    on: dict[Key, str]
    parts: frozenset[Key]


def cards_of(devices: list[Offered]) -> Cards:
    """The cards of one node."""
    whole, parts, passed = _sorted(devices)
    cards: dict[str, Card] = {}
    on: dict[Key, str] = {}
    for device in whole:
        key = _key(device, cards)
        cards[key], on[device.key] = _card(key, device), key
    for device in passed:
        same = _same_bus(device, whole)
        key = on[same.key] if same else _key(device, cards)
        if same is None and not any(one.key[0] == device.key[0] for one in whole):
            cards[key] = _card(key, device)
        if key in cards:
            on[device.key] = key
    for device in parts:
        parent = _parent(device, whole)
        key = on[parent.key] if parent else _named_parent(device)
        if key and key not in cards:
            cards[key] = _divided(key, device)
        if key:
            on[device.key] = key
    return Cards(cards, on, frozenset(one.key for one in parts))


def _sorted(devices: Iterable[Offered]) -> tuple[list[Offered], list[Offered], list[Offered]]:
    """(whole cards, parts of cards, cards to be given to virtual machines). Of a driver that is not known, the largest of those that
    exclude each other is the card."""
    whole: list[Offered] = []
    parts: list[Offered] = []
    passed: list[Offered] = []
    largest: dict[tuple[str, str, frozenset[str]], Offered] = {}
    for device in sorted(devices, key=lambda one: _order(one.key)):
        known, kind = driver(device.key[0]), device.text("type")
        if kind in known.parts:
            parts.append(device)
        elif kind in known.passed:
            passed.append(device)
        elif device.key[0] in DRIVERS or not device.counters:
            whole.append(device)
        else:
            place = (*device.key[:2], device.counters)
            other = largest.get(place)
            if other is None or (device.memory or 0) > (other.memory or 0):
                largest[place], device = device, other  # type: ignore[assignment]
            if device is not None:
                parts.append(device)
    return whole + list(largest.values()), parts, passed


def _order(key: Key) -> tuple[str, str, int, str]:
    number = _NUMBER.fullmatch(key[2])
    return key[0], key[1], int(number[1]) if number else 0, key[2]


def _parent(part: Offered, whole: list[Offered]) -> Offered | None:
    known, mine = driver(part.key[0]), [one for one in whole if one.key[:2] == part.key[:2]]
    for parent, identity in zip(known.parents, known.identities, strict=True):
        named = part.text(parent)
        found = [one for one in mine if named and one.text(identity) == named]
        if found:
            return found[0]
    sharing = [one for one in mine if part.counters and one.counters & part.counters]
    return sharing[0] if len(sharing) == 1 else None


def _named_parent(part: Offered) -> str:
    """A card that is offered in parts only; "" when nothing says which one it is."""
    return part.text(*driver(part.key[0]).parents, *_BUS) or next(iter(sorted(part.counters)), "")


def _same_bus(device: Offered, whole: list[Offered]) -> Offered | None:
    bus = device.text(*_BUS).lower()
    return next((one for one in whole if bus and one.text(*_BUS).lower() == bus), None)


def _key(device: Offered, taken: dict[str, Card]) -> str:
    """The UUID; else the device's name, which another driver or pool may have too."""
    name = device.text("uuid") or device.key[2]
    return name if name not in taken else "/".join(device.key)


def _card(key: str, device: Offered) -> Card:
    number = _NUMBER.fullmatch(device.key[2])
    index = next(
        (device.attributes[name] for name in ("index", "minor", "cardIndex") if name in device.attributes), None
    )
    if not isinstance(index, int) or isinstance(index, bool):
        index = int(number[1]) if number else None
    model = device.text("productName", "model")
    memory = f"capacity of device {device.key[2]}" if device.memory is not None else ""
    mode = WHOLE if not device.several else SHARES if device.memory is None else MEMORY
    return Card(
        key=key,
        stack=STACK,
        mode=mode,
        index=index,
        uuid=device.text("uuid") or None,
        model=model or None,
        model_source=f"attribute of device {device.key[2]}" if model else "",
        health=UNHEALTHY if device.taints else HEALTH_UNKNOWN,
        told=device.told,
        memory_total_bytes=device.memory,
        memory_physical_bytes=device.memory,
        memory_source=memory,
    )


def _divided(key: str, part: Offered) -> Card:
    """Of a card that is offered in parts only its memory is not said."""
    model = part.text("productName", "model")
    source = f"attribute of device {part.key[2]}" if model else ""
    uuid = key if part.text("parentUUID") == key else None
    return Card(key=key, stack=STACK, uuid=uuid, model=model or None, model_source=source)
