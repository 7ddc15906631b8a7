"""What owners used of what was allocated to them on a day that is over: from the histories of their cards. Pure rule and its reading.

A slot of a card is an owner's where its pod alone is on the card for all of it. Of other slots one thing
can be known: if the card had no activity, all pods on it were idle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date

import msgspec

from inventory.charges.rule import Held, Holder
from inventory.history import packed, recorder
from inventory.models import HistoryDay, Subject
from stacks.engine import base

#: Activity, in thousandths, up to which a slot is without work.
QUIET = 10
#: The share of the values of a day that are not above its peak.
_MOST = 0.99


class Used(msgspec.Struct):
    """Of an owner. MiB-seconds; None: not collected. peaks: the highest used memory of each slot, in MiB, of one card.

    asked: the most that a pod of it has of one card, in MiB.
    """

    idle: int | None = None
    unused: int | None = None
    asked: int | None = None
    peaks: list[int] = msgspec.field(default_factory=list)

    @property
    def columns(self) -> tuple[int | None, ...]:
        """As `OwnerDay` has them."""
        return self.idle, self.unused, self.asked, peak_of(self.peaks), len(self.peaks) or None


def peak_of(values: Collection[int]) -> int | None:
    """The value that 99% are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * _MOST))] if ordered else None


def add_card(
    found: dict[Holder, Used],
    columns: Mapping[str, packed.Values],
    size: int,
    holds: Sequence[Held],
    begin: int,
    idle_s: int,
) -> None:
    """A card of which all allocations are known. size: MiB. begin: of the day, in unix seconds. idle_s: idle is at least so long."""
    nothing: packed.Values = [None] * packed.SLOTS
    used, peak = columns.get(packed.USED, nothing), columns.get(packed.USED_MOST, nothing)
    quiet = [value is not None and value <= QUIET for value in columns.get(packed.ACTIVITY, nothing)]
    watched = any(value is not None for value in columns.get(packed.ACTIVITY, nothing))
    pods: dict[str, list[Held]] = defaultdict(list)
    for one in holds:
        pods[one.pod_uid].append(one)
    places = {pod: _slots(own, begin) for pod, own in pods.items()}
    for pod, own in pods.items():
        # A slot that another pod has a part of is no one's alone.
        others = {slot for other, slots in places.items() if other != pod for slot in (*slots.whole, *slots.partly)}
        into = found.setdefault(own[0].holder, Used())
        memory = _memory(own, size)
        if memory is not None:
            into.asked = max(into.asked or 0, memory)
        if watched and memory is not None:
            into.idle = (into.idle or 0) + memory * packed.SLOT_S * _idle(places[pod].whole, quiet, idle_s)
        for slot in places[pod].whole:
            value = used[slot]
            if slot in others or value is None:
                continue
            into.peaks.append(max(value, peak[slot] or 0))
            if memory is not None:
                into.unused = (into.unused or 0) + max(0, memory - value) * packed.SLOT_S


class _Places(msgspec.Struct, frozen=True):
    """Slots that a pod has all of, and those that it has a part of."""

    whole: list[int]
    partly: list[int]


def _slots(holds: Sequence[Held], begin: int) -> _Places:
    first = max(0, min(one.begin for one in holds) - begin)
    ends = [one.end for one in holds if one.end is not None]
    last = packed.SLOTS * packed.SLOT_S
    if len(ends) == len(holds):
        last = min(last, max(ends) - begin)
    whole = range(-(-first // packed.SLOT_S), last // packed.SLOT_S)
    every = range(first // packed.SLOT_S, -(-last // packed.SLOT_S))
    return _Places(list(whole), [slot for slot in every if slot not in whole])


def _memory(holds: Sequence[Held], size: int) -> int | None:
    """MiB of a pod on the card: of a whole card all of it. None: not metered."""
    if any(one.mode == base.WHOLE for one in holds):
        return size or None
    known = [one.memory for one in holds if one.memory is not None]
    return sum(known) if len(known) == len(holds) else None


def _idle(slots: Sequence[int], quiet: Sequence[bool], idle_s: int) -> int:
    """How many slots lie in stretches without activity that are long enough."""
    count = run = 0
    for slot in [*slots, -1]:
        if slot >= 0 and quiet[slot]:
            run += 1
            continue
        count += run if run * packed.SLOT_S >= idle_s else 0
        run = 0
    return count


def used_on(
    cluster_id: int,
    day: date,
    begin: int,
    sizes: Mapping[int, int],
    holds: Mapping[str, Iterable[Held]],
    idle_s: int,
) -> dict[Holder, Used]:
    """One query, of the cards' days. sizes: MiB of each card. holds: by node. Nodes with unidentified ones are unknown."""
    by_card: dict[int, list[Held]] = defaultdict(list)
    for own in holds.values():
        known = list(own)
        if all(one.card is not None for one in known):
            for one in known:
                by_card[one.card or 0].append(one)
    found: dict[Holder, Used] = {}
    rows = HistoryDay.objects.filter(cluster_id=cluster_id, subject=Subject.CARD, day=day).order_by()
    for key, data in rows.values_list("key", "data").iterator(500):
        card = int(key)
        if by_card.get(card) and card in sizes:
            add_card(found, recorder.day_of(data), sizes[card], by_card[card], begin, idle_s)
    return found
