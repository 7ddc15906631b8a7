"""What could still be given of a card that is offered in parts: by the counters that the slices publish, or part by part.

A counter set has what a card has; each device says what it would take of it. So no table of models is needed: a device can be
given as long as nothing that it takes is used up. Parts without counters were made before any claim asks; each can be given while
nobody has it, whatever becomes of the others. Source: KEP-4815, partitionable devices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from stacks.dra.cards import Cards
from stacks.dra.holders import Held
from stacks.dra.pools import Key, Offered, Pools
from stacks.engine.base import COUNTERS, Fit, Room, Slices

SOURCE = "counters of the driver's slices"
MADE = "parts that the driver offers"
#: Ways of placing devices that are tried for one profile of one card; beyond them the numbers are bounds.
_MOST_TRIES = 500
#: Of a card with more kinds of devices nothing is said: real cards have ten.
_MOST_KINDS = 64

#: (driver, pool, set, counter) → amount.
Left = dict[tuple[str, str, str, str], int]


class _Kind(NamedTuple):
    """Devices that are the same but for their place."""

    profile: str
    memory: int | None
    takes: list[Left]


def rooms(found: Cards, held: list[Held], offered: Pools, here: list[Offered]) -> tuple[Room, ...]:
    """One room for each card that is offered in parts."""
    of_card: dict[str, list[Offered]] = {}
    for device in here:
        if (card := found.on.get(device.key)) is not None:
            of_card.setdefault(card, []).append(device)
    taken = {item.key: item.device for item in held if item.device is not None}
    return tuple(room for card, devices in of_card.items() for room in _rooms(card, devices, taken, found, offered))


def _rooms(
    card: str, devices: list[Offered], taken: dict[Key, Offered], found: Cards, offered: Pools
) -> Iterator[Room]:
    metered = [device for device in devices if device.takes]
    if any(device.key in found.parts for device in metered):
        yield _room(card, metered, taken, found, offered)
    elif all(device.key in found.parts and not device.several for device in devices):
        yield _made(card, devices, taken, found)


def _made(card: str, parts: list[Offered], taken: dict[Key, Offered], found: Cards) -> Room:
    """Of a card that is offered in parts without counters."""
    there = Counter(_profile(part, found) for part in parts)
    free: Counter[tuple[int, str, int | None]] = Counter()
    for part in parts:
        kind = (part.memory or 0, _profile(part, found), part.memory)
        free[kind] += part.key not in taken and not part.unavailable_reason
    return Room(
        card=card,
        made=True,
        slices=tuple(Slices(*one) for one in sorted(there.items())[:_MOST_KINDS]),
        fits=tuple(Fit(name, one, one, memory) for (_, name, memory), one in sorted(free.items())[:_MOST_KINDS]),
        source=MADE,
        unknown=COUNTERS if len(free) > _MOST_KINDS else "",
    )


def _room(card: str, devices: list[Offered], taken: dict[Key, Offered], found: Cards, offered: Pools) -> Room:
    mine = [device for device in devices if device.key in taken]
    slices = Counter(_profile(device, found) for device in mine)
    there = tuple(Slices(*one) for one in sorted(slices.items())[:_MOST_KINDS])
    left = _left(devices, mine, offered)
    kinds = _kinds([device for device in devices if not device.unavailable_reason], taken, found)
    if left is None or kinds is None:
        return Room(card=card, on_demand=True, slices=there, source=SOURCE, unknown=COUNTERS)
    fits, exact = [], True
    for kind in kinds:
        sure, most = fitting_together(kind.takes, left)
        exact = exact and sure == most
        fits.append(Fit(kind.profile, sure, most, kind.memory))
    unknown = "" if exact else COUNTERS
    return Room(card=card, on_demand=True, slices=there, fits=tuple(fits), source=SOURCE, unknown=unknown)


def _profile(device: Offered, found: Cards) -> str:
    """What a part is called: its profile, else its name; "" for the card as a whole."""
    if device.key not in found.parts:
        return ""
    return device.text("profile", "partitionProfile") or device.key[2]


def _amounts(device: Offered) -> Left | None:
    amounts: Left = {}
    for name, counters in device.takes:
        for counter, amount in counters.items():
            if amount is None:
                return None
            amounts[*device.key[:2], name, counter] = amount
    return amounts


def _left(devices: list[Offered], mine: list[Offered], offered: Pools) -> Left | None:
    """What of the card's counters nobody has; None where an amount is no quantity or a set is missing."""
    left: Left = {}
    for device in devices:
        for name, _ in device.takes:
            key = (*device.key[:2], name)
            counters = offered.sets.get(key)
            if counters is None or device.several:
                return None
            for counter, amount in counters.items():
                if amount is None:
                    return None
                left[*key, counter] = amount
    for device in mine:
        amounts = _amounts(device)
        if amounts is None:
            return None
        for each, amount in amounts.items():
            left[each] = left.get(each, 0) - amount
    return left


def _kinds(devices: list[Offered], taken: dict[Key, Offered], found: Cards) -> list[_Kind] | None:
    """Smallest first, the whole card last; takes are those of devices that nobody has. None: cannot be read, or too many."""
    kinds: dict[tuple[str, int | None], _Kind] = {}
    for device in devices:
        amounts = _amounts(device)
        if amounts is None:
            return None
        name = _profile(device, found)
        kind = kinds.setdefault((name, device.memory), _Kind(name, device.memory, []))
        if device.key not in taken:
            kind.takes.append(amounts)
    ordered = sorted(kinds.values(), key=lambda kind: (not kind.profile, kind.memory or 0, kind.profile))
    return ordered if len(ordered) <= _MOST_KINDS else None


def fitting_together(takes: list[Left], left: Left) -> tuple[int, int]:
    """(so many can be given together for sure, at most)."""
    fitting = [one for one in takes if _within(one, left)]
    shared = set.intersection(*(set(one) for one in fitting)) if fitting else set()
    by_counter = [left.get(key, 0) // least for key in shared if (least := min(one[key] for one in fitting)) > 0]
    most = min([len(fitting), *by_counter])
    budget = [_MOST_TRIES]
    sure = _search(fitting, left, most, budget)
    return sure, sure if budget[0] > 0 else most


def _within(one: Left, left: Left) -> bool:
    return all(amount <= left.get(key, 0) for key, amount in one.items())


def _search(rest: list[Left], left: Left, wanted: int, budget: list[int]) -> int:
    """The most that can be given together, as far as the tries go."""
    best = 0
    for place, one in enumerate(rest):
        if best >= wanted or wanted <= 0 or budget[0] <= 0 or len(rest) - place <= best:
            break
        if not _within(one, left):
            continue
        budget[0] -= 1
        after = left | {key: left.get(key, 0) - amount for key, amount in one.items()}
        best = max(best, 1 + _search(rest[place + 1 :], after, wanted - 1, budget))
    return best
