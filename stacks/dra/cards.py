"""From devices to cards: one piece of silicon may be offered as a whole, in each way of dividing it, and to a virtual machine.

All of these are listed at once and exclude each other, so a card that is offered as a whole has the capacity of that device; the
others are not added to it. A part lies on the card that its attributes name, or that takes of the same counters. Of a card that is
offered in parts only, parts without counters exclude nothing: all of them can be given, and their memory adds up. Parts with counters
are given as long as the counters last. Source: KEP-4815, partitionable devices.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

import msgspec

from stacks.dra.drivers import DRIVERS, driver
from stacks.dra.pools import Key, Offered, Pools
from stacks.engine.base import (
    DEGRADED,
    HEALTH_UNKNOWN,
    HEALTHY,
    MEMORY,
    PARTS,
    SHARES,
    UNHEALTHY,
    WHOLE,
    Card,
    HealthReport,
)

STACK = "dra"
#: The number of gpu-0, hami-gpu-0, gpu-1-129; a name that is a bus address has none.
_NUMBER = re.compile(r"[a-z][a-z-]*?([0-9]{1,4})(?:-.*)?")
_BUS = ("pciBusID", "pcieBusID", "pciAddr", "pciAddress")
#: Statements of the parts of one card that are kept.
_MOST_TOLD = 16


class Cards(NamedTuple):
    """cards: by key. on: device → the key of its card. parts: devices that are less than their card."""

    cards: dict[str, Card]
    on: dict[Key, str]
    parts: frozenset[Key]


NO_CARDS = Cards({}, {}, frozenset())


def cards_of(devices: list[Offered], offered: Pools, held: Container[Key] = frozenset()) -> Cards:
    """The cards of one node. held: devices that a claim has, which count although new claims do not get them."""
    whole, parts, passed = _sorted(devices)
    cards: dict[str, Card] = {}
    on: dict[Key, str] = {}
    for device in whole:
        key = _key(device, cards)
        cards[key], on[device.key] = _card(key, device), key
    named = _Names(whole)
    for device in passed:
        key = _passed(device, named, on, cards)
        if key and key not in cards:
            cards[key] = _card(key, device)
        if key:
            on[device.key] = key
    divided: dict[str, list[Offered]] = {}
    for device in parts:
        parent = named.parent(device)
        key = on[parent.key] if parent else _named_parent(device)
        if key:
            on[device.key] = key
        if key and key not in cards:
            divided.setdefault(key, []).append(device)
    cards |= {key: _divided(key, found, offered, held) for key, found in divided.items()}
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


class _Names:
    """Whole cards by what other devices call them: looked up, since a node may have thousands of each."""

    def __init__(self, whole: list[Offered]) -> None:
        self._by_attribute: dict[tuple[str, str, str, str], Offered] = {}
        self._by_bus: dict[str, Offered] = {}
        self._by_uuid: dict[str, Offered] = {}
        self._by_counters: dict[tuple[str, str, str], list[Offered]] = {}
        self.drivers = {one.key[0] for one in whole}
        for one in whole:
            for name in driver(one.key[0]).identities:
                if value := one.text(name):
                    self._by_attribute.setdefault((*one.key[:2], name, value), one)
            self._by_bus.setdefault(one.text(*_BUS).lower(), one)
            self._by_uuid.setdefault(one.text("uuid"), one)
            for counters in one.counters:
                self._by_counters.setdefault((*one.key[:2], counters), []).append(one)

    def parent(self, part: Offered) -> Offered | None:
        known = driver(part.key[0])
        for parent, identity in zip(known.parents, known.identities, strict=True):
            named = part.text(parent)
            if named and (found := self._by_attribute.get((*part.key[:2], identity, named))) is not None:
                return found
        # Two of a set say already that it is not known which: thousands may share one.
        some = (self._by_counters.get((*part.key[:2], name), [])[:2] for name in part.counters)
        sharing = {one.key: one for cards in some for one in cards}
        return next(iter(sharing.values())) if len(sharing) == 1 else None

    def same(self, device: Offered) -> Offered | None:
        """The card that a virtual machine would get under this name."""
        bus, uuid = device.text(*_BUS).lower(), device.text("uuid")
        return (self._by_bus.get(bus) if bus else None) or (self._by_uuid.get(uuid) if uuid else None)


def _passed(device: Offered, named: _Names, on: dict[Key, str], cards: dict[str, Card]) -> str:
    """The key of its card; "" where it may be any of those that the driver offers under another name.

    While a virtual machine has a card, NVIDIA's driver offers it under this name alone.
    """
    same = named.same(device)
    if same is not None:
        return on[same.key]
    known = bool(device.text(*_BUS, "uuid")) or device.key[0] not in named.drivers
    return _key(device, cards) if known else ""


def _named_parent(part: Offered) -> str:
    """A card that is offered in parts only; "" when nothing says which one it is."""
    return part.text(*driver(part.key[0]).parents, *_BUS) or next(iter(sorted(part.counters)), "")


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
        health=_health(device),
        told=device.told,
        memory_total_bytes=device.memory,
        memory_physical_bytes=device.memory,
        memory_source=memory,
        shares=device.shares,
    )


def _health(device: Offered) -> str:
    if device.unavailable_reason:
        return UNHEALTHY
    return HEALTHY if any(one.level == HEALTHY for one in device.told) else HEALTH_UNKNOWN


def _divided(key: str, parts: list[Offered], offered: Pools, held: Container[Key]) -> Card:
    """A card that is offered in parts only. What the card has besides them is not said."""
    first = parts[0]
    model = first.text("productName", "model")
    memory, source = _given_out(parts, offered, held)
    return Card(
        key=key,
        stack=STACK,
        mode=PARTS,
        uuid=key if first.text("parentUUID") == key else None,
        model=model or None,
        model_source=f"attribute of device {first.key[2]}" if model else "",
        health=UNHEALTHY if all(one.unavailable_reason for one in parts) else HEALTH_UNKNOWN,
        told=tuple(dict.fromkeys(_told(parts)))[:_MOST_TOLD],
        memory_total_bytes=memory,
        memory_source=source,
    )


def _given_out(parts: list[Offered], offered: Pools, held: Container[Key]) -> tuple[int | None, str]:
    """(bytes that claims can have of the parts, how that is known)."""
    counters = {(*one.key[:2], name) for one in parts for name in one.counters}
    if not counters:
        given = [one.memory for one in parts if not one.unavailable_reason or one.key in held]
        known = [one for one in given if one is not None]
        return (sum(known), "capacity of its parts together") if known and len(known) == len(given) else (None, "")
    metered = len(counters) == 1 and all("memory" in takes for one in parts for _, takes in one.takes)
    memory = offered.sets.get(next(iter(counters)), {}).get("memory") if metered else None
    return (memory, "counters of the driver's slices") if memory else (None, "")


def _told(parts: list[Offered]) -> Iterator[HealthReport]:
    """What is said of parts. Against some of them only it does not speak against all of the card."""
    some = not all(one.unavailable_reason for one in parts)
    for one in parts:
        for said in one.told:
            worse = some and said.level == UNHEALTHY
            yield msgspec.structs.replace(said, level=DEGRADED) if worse else said
