"""The history of one subject as a series of equal steps, from minutes and days."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta

import msgspec

from inventory.history import packed
from inventory.history.moment import part_of
from inventory.history.packed import Values
from inventory.models import HistoryDay, HistoryMinute
from inventory.models.history import Subject

MINUTE_S = 60


class Window(msgspec.Struct, frozen=True):
    """How far back, and in which steps: seconds. 240 to 500 steps are as many as a chart can show."""

    name: str
    seconds: int
    step_s: int

    @property
    def by_minute(self) -> bool:
        """Whether it is drawn from minutes."""
        return self.step_s < packed.SLOT_S


#: 90 days at most: as long as history is kept unless GPUDASH_HISTORY_DAYS says more.
WINDOWS = (
    Window("1h", 3600, MINUTE_S),
    Window("6h", 6 * 3600, MINUTE_S),
    Window("1d", 86400, 300),
    Window("7d", 7 * 86400, 1800),
    Window("30d", 30 * 86400, 2 * 3600),
    Window("90d", 90 * 86400, 6 * 3600),
)


class Series(msgspec.Struct):
    """columns: by name, one value a step from `begin` on: bytes, ratios of 0 to 1, counts; None where nothing is known.

    Of the minutes of a step that are known it is the mean, of `used_most` the highest. A name is there when one value is known.
    """

    begin: datetime
    step_s: int
    length: int
    columns: dict[str, list[float | None]]

    @property
    def end(self) -> datetime:
        """The end of the last step."""
        return self.begin + timedelta(seconds=self.step_s * self.length)


def window_named(name: str) -> Window | None:
    """The window of that name."""
    return next((one for one in WINDOWS if one.name == name), None)


def series(cluster_id: int, subject: Subject, key: str, window: Window, end: datetime) -> Series:
    """The window that ends with the step `end` is in. At most two queries."""
    first = first_of(window, end)
    last = first + window.seconds
    count = window.seconds // window.step_s
    steps = _Steps(first, window.step_s, count)
    if window.by_minute:
        _add_minutes(steps, cluster_id, subject, key, first, last, folded=None)
    else:
        _add_days(steps, cluster_id, subject, key, first, last)
        _add_minutes(steps, cluster_id, subject, key, first, last, folded=False)
    return Series(datetime.fromtimestamp(first, UTC), window.step_s, count, steps.means())


class _Steps:
    """Sums of what falls into each step."""

    def __init__(self, first: int, step_s: int, count: int) -> None:
        self.step_s = step_s
        self._first, self._count = first, count
        self._sums: dict[str, list[float]] = {}
        self._known: dict[str, list[int]] = {}

    def add(self, name: str, at: int, values: Sequence[int], minutes: int = 1) -> None:
        """at: unix seconds, of values that are all in one step. minutes: that each of them is the mean of."""
        place = (at - self._first) // self.step_s
        if not 0 <= place < self._count:
            return
        sums = self._sums.get(name)
        if sums is None:
            sums = self._sums[name] = [0.0] * self._count
            self._known[name] = [0] * self._count
        known = self._known[name]
        if name == packed.USED_MOST:
            sums[place] = max(sums[place], *values)
            known[place] = 1
        else:
            sums[place] += sum(values) * minutes
            known[place] += len(values) * minutes

    def means(self) -> dict[str, list[float | None]]:
        """In bytes and ratios."""
        return {name: scaled(name, _means(sums, self._known[name])) for name, sums in self._sums.items()}


def scaled(name: str, values: Iterable[float | None]) -> list[float | None]:
    """Packed values in bytes and ratios."""
    factor = packed.MIB if name in packed.MEMORY else 0.001 if name in packed.RATIOS else 1.0
    return [None if value is None else value * factor for value in values]


def _means(sums: Sequence[float], known: Sequence[int]) -> Iterable[float | None]:
    return (total / count if count else None for total, count in zip(sums, known, strict=True))


def first_of(window: Window, end: datetime) -> int:
    """Unix seconds of the beginning of the window that ends with the step `end` is in."""
    return (int(end.timestamp()) // window.step_s + 1) * window.step_s - window.seconds


def _add_days(steps: _Steps, cluster_id: int, subject: Subject, key: str, first: int, last: int) -> None:
    days = HistoryDay.objects.filter(
        cluster_id=cluster_id, subject=subject, key=key, day__gte=_day(first), day__lt=_day(last) + timedelta(days=1)
    )
    for day, data in days.values_list("day", "data"):
        begin = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
        for name, column in _read_day(data):
            _add_slots(steps, name, column, begin)


def _add_slots(steps: _Steps, name: str, column: Values, begin: int) -> None:
    """A day's slots, those of one step together: steps begin with slots, and days with steps."""
    slots = steps.step_s // packed.SLOT_S
    for slot in range(0, packed.SLOTS, slots):
        values = [value for value in column[slot : slot + slots] if value is not None]
        if values:
            steps.add(name, begin + slot * packed.SLOT_S, values, packed.SLOT_S // MINUTE_S)


def _add_minutes(
    steps: _Steps, cluster_id: int, subject: Subject, key: str, first: int, last: int, *, folded: bool | None
) -> None:
    """folded: only minutes that are, or are not, in days already."""
    rows = HistoryMinute.objects.filter(
        cluster_id=cluster_id,
        subject=subject,
        part=part_of(subject, key),
        at__gte=datetime.fromtimestamp(first, UTC),
        at__lt=datetime.fromtimestamp(last, UTC),
    )
    if folded is not None:
        rows = rows.filter(folded=folded)
    wanted: int | str = int(key) if subject == Subject.CARD else key
    for at, data in rows.values_list("at", "data"):
        for name, value in _read_minute(data, wanted):
            steps.add(name, int(at.timestamp()), (value,))


def _read_day(data: bytes | memoryview) -> Iterable[tuple[str, Values]]:
    try:
        return packed.unpack_day(data).items()
    except packed.Unreadable:
        return ()


def _read_minute(data: bytes | memoryview, key: int | str) -> Iterable[tuple[str, int]]:
    try:
        minute = packed.unpack_minute(data)
        place = minute.keys.index(key)
    except (packed.Unreadable, ValueError):
        return
    for name, column in minute.columns.items():
        value = column[place]
        if value is None:
            continue
        yield name, value
        if name == packed.USED:
            yield packed.USED_MOST, value


def _day(at: int) -> date:
    return datetime.fromtimestamp(at, UTC).date()
