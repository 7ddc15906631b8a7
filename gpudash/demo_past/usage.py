"""What was allocated, used and done: days and minutes of the history, from the fleet's own function and the allocations of then.

A quarter of an hour has one value, that of its middle, in each of its slots of five minutes: mean and highest are the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from fleetsim.clock import DAY, HOUR, MINUTE
from fleetsim.usage import CardUse, value
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.rows import Rows
from gpudash.demo_past.seats import Seat
from inventory.history import packed, recorder
from inventory.history.moment import Measures, Moment, mib, minutes, thousandths
from inventory.history.packed import Minute, Values
from inventory.models import Cluster, Subject
from inventory.queries.measured import measured_now

QUARTER_S = 900
_SLOTS = QUARTER_S // packed.SLOT_S
#: Charts of up to six hours are drawn by the minute.
BY_MINUTE_S = 6 * HOUR
#: Rows of one transaction.
BATCH = 100

Told = Sequence[tuple[Subject, int, Minute]]


class _Measured(NamedTuple):
    """A card that its exporter measures, and what of it."""

    card: int
    node: str
    use: CardUse
    used: bool
    utilization: bool
    activity: bool


class Usage:
    """Of some nodes. sums: whether these are all nodes of the cluster, so that its pools and namespaces have sums of then."""

    def __init__(self, cluster: Cluster, seats: Sequence[Seat], times: Times, *, sums: bool) -> None:
        self.cluster, self.times = cluster, times
        self._rows = Rows(cluster, sorted({seat.node for seat in seats}), times)
        self._measured = list(_measured(cluster, seats))
        self._subjects = set(Subject) if sums else {Subject.CARD, Subject.NODE}
        nodes = sorted({one.node for one in self._measured})
        #: Whose exporter was silent for some hours.
        self.silent = nodes[0] if nodes else ""

    def days(self) -> Iterator[date]:
        """The newest first."""
        last, first = int(self.times.until // DAY), int(self.times.since // DAY)
        return (utc(day * DAY).date() for day in range(last, first - 1, -1))

    def write_day(self, day: date, breathe: Callable[[], None]) -> int:
        """Returns how many rows. breathe: called between two transactions."""
        begin = utc_seconds(day)
        found: dict[Subject, dict[str, dict[str, Values]]] = defaultdict(dict)
        for number in range(int(DAY) // QUARTER_S):
            moment = begin + number * QUARTER_S + QUARTER_S / 2
            # The hour in which the fleet began is folded from its minutes.
            if self.times.since <= moment < self._this_hour:
                _add(found, self.told(moment), number * _SLOTS)
        written = 0
        for subject, keys in found.items():
            names = sorted(keys)
            for start in range(0, len(names), BATCH):
                part = {name: _with_most(keys[name]) for name in names[start : start + BATCH]}
                recorder.write_days(self.cluster.pk, subject, day, part)
                written += len(part)
                breathe()
        return written

    def write_minutes(self, breathe: Callable[[], None]) -> None:
        """Those that charts of some hours are drawn from."""
        last = int(self.times.until // MINUTE)
        for number in range(last - 1, last - 1 - int(BY_MINUTE_S // MINUTE), -1):
            moment = float(number * MINUTE)
            told = self.told(moment)
            if told:
                recorder.write_minutes(self.cluster.pk, utc(moment), told, folded=moment < self._this_hour)
            breathe()

    @property
    def _this_hour(self) -> float:
        return self.times.until // HOUR * HOUR

    def told(self, moment: float) -> Told:
        """What the product would have written down then; nothing where nothing was recorded."""
        begin, end = self.times.nothing
        if begin <= moment < end:
            return []
        cards, nodes, held = self._rows.at(moment)
        then = Moment(cards, self._measures(moment), nodes, held)
        return [one for one in minutes(then) if one[0] in self._subjects]

    def _measures(self, moment: float) -> Measures:
        begin, end = self.times.silent
        silent = self.silent if begin <= moment < end else ""
        found: Measures = {}
        for one in self._measured:
            if one.node == silent:
                continue
            seen = value(one.use, moment)
            found[one.card] = (
                mib(seen.memory_used) if one.used else None,
                thousandths(seen.utilization) if one.utilization else None,
                thousandths(seen.activity) if one.activity else None,
            )
        return found


def _measured(cluster: Cluster, seats: Iterable[Seat]) -> Iterator[_Measured]:
    """Cards that are measured now, with what of them: the same was measured then."""
    columns = ("card_id", "memory_used_bytes", "utilization_ratio", "activity_ratio")
    rows = measured_now().filter(cluster=cluster).values_list(*columns)
    now = {card: (used, utilization, activity) for card, used, utilization, activity in rows}
    for seat in seats:
        if seat.card is None or seat.card.pk not in now:
            continue
        used, utilization, activity = (one is not None for one in now[seat.card.pk])
        if used or utilization or activity:
            yield _Measured(seat.card.pk, seat.node, seat.use, used, utilization, activity)


def _add(found: dict[Subject, dict[str, dict[str, Values]]], told: Told, slot: int) -> None:
    for subject, _, minute in told:
        keys = found[subject]
        for place, key in enumerate(minute.keys):
            columns = keys.setdefault(str(key), {})
            for name, values in minute.columns.items():
                if values[place] is not None:
                    column = columns.get(name)
                    if column is None:
                        column = columns[name] = [None] * packed.SLOTS
                    column[slot : slot + _SLOTS] = [values[place]] * _SLOTS


def _with_most(columns: dict[str, Values]) -> dict[str, Values]:
    return columns | {packed.USED_MOST: columns[packed.USED]} if packed.USED in columns else columns


def utc_seconds(day: date) -> float:
    """The beginning of a day of UTC."""
    return (day - date(1970, 1, 1)).days * float(DAY)
