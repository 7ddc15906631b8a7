"""What was allocated, used and done: days and minutes of the history, from the fleet's own function and the allocations of then.

A step of a day has one value, that of its middle, in each of its slots of five minutes: mean and highest are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from time import time
from typing import NamedTuple

from django.db.models import Min

from fleetsim.clock import DAY, HOUR, MINUTE
from fleetsim.usage import CardUse, value
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.rows import Rows
from gpudash.demo_past.seats import Seat
from inventory.history import packed, recorder
from inventory.history.moment import Measures, Moment, mib, minutes, thousandths
from inventory.history.packed import Minute, Values
from inventory.models import Cluster, HistoryMinute, Subject
from inventory.queries.measured import measured_now

#: Steps of the last two days, of the days of the past, and of those before it: as fine as the charts of these are.
STEPS_S = (900, 1800, 6 * 3600)
#: Charts of up to six hours are drawn by the minute.
BY_MINUTE_S = 6 * HOUR
#: Rows of one transaction.
BATCH = 100

_Part = tuple[Subject, int, Minute]
Told = Sequence[_Part]
#: What is no sum.
_SINGLE = (Subject.CARD, Subject.NODE)


class _Measured(NamedTuple):
    """A card that its exporter measures, and what of it."""

    card: int
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
        self.sums = sums

    def days(self) -> Iterator[date]:
        """The newest first."""
        last, first = int(self.times.until // DAY), int(self.times.first // DAY)
        return (
            utc(day * DAY).date()
            for day in range(last, first - 1, -1)
            if self.sums or day * DAY >= self.times.since - DAY
        )

    def write_day(self, day: date, breathe: Callable[[], None]) -> int:
        """Returns how many rows. breathe: called between two transactions. Of days before the past there are sums alone."""
        begin, found = utc_seconds(day), dict[Subject, dict[str, dict[str, Values]]]()
        step_s = self._step_s(begin)
        for number in range(int(DAY) // step_s):
            moment = begin + (number + 0.5) * step_s
            # The hour in which the fleet began is folded from its minutes.
            if self.times.first <= moment < self._this_hour:
                slots = step_s // packed.SLOT_S
                told = (one for one in self.told(moment) if moment >= self.times.since or one[0] not in _SINGLE)
                _add(found, told, number * slots, slots)
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
        """Those that charts of some hours are drawn from: until the first that the product has written down itself."""
        own = HistoryMinute.objects.filter(cluster=self.cluster, subject=Subject.CLUSTER).aggregate(first=Min("at"))[
            "first"
        ]
        last = int((own.timestamp() if own else time()) // MINUTE)
        for number in range(last - 1, int((self.times.until - BY_MINUTE_S) // MINUTE), -1):
            moment = float(number * MINUTE)
            recorder.write_minutes(self.cluster.pk, utc(moment), self.told(moment), folded=moment < self._this_hour)
            breathe()

    def _step_s(self, begin: float) -> int:
        late, usual, early = STEPS_S
        if begin + DAY <= self.times.since:
            return early
        return late if begin + 2 * DAY > self.times.until else usual

    @property
    def _this_hour(self) -> float:
        return self.times.until // HOUR * HOUR

    def told(self, moment: float) -> Told:
        """What the product would have written down then."""
        cards, nodes, held = self._rows.at(moment)
        measures = self._measures(moment)
        quiet = {card for card, (_, _, activity) in measures.items() if activity == 0}
        then = Moment(cards, measures, nodes, held, self._rows.idle(moment, quiet))
        return [one for one in minutes(then) if self.sums or one[0] in _SINGLE]

    def _measures(self, moment: float) -> Measures:
        found: Measures = {}
        for one in self._measured:
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
            yield _Measured(seat.card.pk, seat.use, used, utilization, activity)


def _add(found: dict[Subject, dict[str, dict[str, Values]]], told: Iterable[_Part], slot: int, slots: int) -> None:
    for subject, _, minute in told:
        keys = found.setdefault(subject, {})
        for place, key in enumerate(minute.keys):
            columns = keys.setdefault(str(key), {})
            for name, values in minute.columns.items():
                if values[place] is not None:
                    column = columns.setdefault(name, [None] * packed.SLOTS)
                    column[slot : slot + slots] = [values[place]] * slots


def _with_most(columns: dict[str, Values]) -> dict[str, Values]:
    return columns | {packed.USED_MOST: columns[packed.USED]} if packed.USED in columns else columns


def utc_seconds(day: date) -> float:
    """The beginning of a day of UTC."""
    return (day - date(1970, 1, 1)).days * float(DAY)
