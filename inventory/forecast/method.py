"""A forecast of daily values: level, weekly pattern, and a trend where it helped. Pure.

- Trend: the median of the changes between equal weekdays (the seasonal Kendall slope of Hirsch, Slack and Smith, 1982), so neither
  a weekly pattern nor a few odd days move it. It is used only if it forecast the past weeks better than no trend.
- Weekly pattern: by weekday the median of what the trend leaves. Level: the median of the rest, of the last two weeks.
- Back-test: each forecast of the past weeks is made from the days before it alone. The band has 80% of its errors: those of the
  first week ahead, of the second, …; beyond what could be tested it grows with the square root of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import sqrt
from statistics import fmean, median

import msgspec

WEEK = 7
#: Days that are read, forecast, and known at least; a back-test makes do with fewer.
MOST_DAYS, AHEAD, LEAST, LEAST_TESTED = 56, 30, 14, 7
#: Back-tests begin so many days ago; the first is the one that is shown.
ORIGINS = (7, 14, 21, 28)
_LEVEL_DAYS, _LOW, _HIGH = 14, 0.1, 0.9
#: A trend has to be so much better than none.
_BETTER = 0.9

Values = Sequence[float | None]


class Day(msgspec.Struct, frozen=True):
    """A day of a forecast. low, high: 8 of 10 back-tests were between."""

    value: float
    low: float
    high: float


class Tested(msgspec.Struct, frozen=True):
    """A day of the last week as it was forecast from the days before it. actual: None: not known."""

    forecast: float
    actual: float | None


class Forecast(msgspec.Struct, frozen=True):
    """days: that are known, of those that were read. ahead: AHEAD days from the day after the last value; () for too few days.

    trend: by day; 0 where none is used. weekly: whether weekdays differ. tested: the last week, oldest first. error: its mean
    absolute error; None where nothing was tested.
    """

    days: int
    ahead: tuple[Day, ...] = ()
    trend: float = 0.0
    weekly: bool = False
    tested: tuple[Tested, ...] = ()
    error: float | None = None

    def first_below(self, need: float) -> tuple[int | None, int | None]:
        """Days from the first that is forecast (0) until the forecast, and the lower edge of its band, are less than `need`."""
        by_value = (number for number, day in enumerate(self.ahead) if day.value < need)
        by_low = (number for number, day in enumerate(self.ahead) if day.low < need)
        return next(by_value, None), next(by_low, None)


class _Fit(msgspec.Struct, frozen=True):
    """What is read from a series. pattern: by number of the day modulo WEEK."""

    level: float
    slope: float
    pattern: tuple[float, ...]
    last: int

    def value(self, number: int) -> float:
        return self.level + self.slope * (number - self.last) + self.pattern[number % WEEK]


def forecast(values: Values, most: float | None = None) -> Forecast:
    """values: one a day, oldest first; None is a gap. most: no value is higher, as none is below 0."""
    recent = list(values)[-MOST_DAYS:]
    days = sum(value is not None for value in recent)
    if days < LEAST:
        return Forecast(days)
    errors = {trending: _errors(recent, trending) for trending in (False, True)}
    sizes = {trending: fmean(map(abs, flat)) if (flat := _flat(found)) else 0.0 for trending, found in errors.items()}
    trending = sizes[True] < sizes[False] * _BETTER
    made = _fit(recent, trending)
    begin = recent[: -ORIGINS[0]]
    past = _fit(begin, trending) if _known(begin) >= LEAST_TESTED else None
    tested = _tested(past, recent, most) if past else ()
    misses = [abs(one.forecast - one.actual) for one in tested if one.actual is not None]
    return Forecast(
        days,
        tuple(_ahead(made, errors[trending], most)),
        made.slope,
        max(made.pattern) > min(made.pattern),
        tested,
        fmean(misses) if misses else None,
    )


def _tested(past: _Fit, values: Values, most: float | None) -> tuple[Tested, ...]:
    return tuple(
        Tested(_within(past.value(number), most), values[number]) for number in range(past.last + 1, len(values))
    )


def _ahead(made: _Fit, errors: Sequence[Sequence[float]], most: float | None) -> list[Day]:
    edges = _edges(errors)
    found = []
    for number in range(AHEAD):
        value, (low, high) = made.value(made.last + 1 + number), edges[number // WEEK]
        found.append(Day(*(_within(one, most) for one in (value, value + low, value + high))))
    return found


def _within(value: float, most: float | None) -> float:
    return max(0.0, value if most is None else min(value, most))


def _fit(values: Values, trending: bool) -> _Fit:
    known = [(number, value) for number, value in enumerate(values) if value is not None]
    slope = _slope(values) if trending else 0.0
    last = len(values) - 1
    flat = [(number, value - slope * (number - last)) for number, value in known]
    middle = median(value for _number, value in flat)
    by_weekday: list[list[float]] = [[] for _ in range(WEEK)]
    for number, value in flat:
        by_weekday[number % WEEK].append(value - middle)
    # Of one value of a weekday it is not known whether it is the weekday's.
    pattern = tuple(median(found) if len(found) > 1 else 0.0 for found in by_weekday)
    late = [value - pattern[number % WEEK] for number, value in flat if number > last - _LEVEL_DAYS]
    return _Fit(median(late) if late else middle, slope, pattern, last)


def _slope(values: Values) -> float:
    """The median change by day, between equal weekdays; 0 for less than two weeks."""
    slopes = [
        (late - early) / apart
        for apart in range(WEEK, len(values), WEEK)
        for early, late in zip(values, values[apart:], strict=False)
        if early is not None and late is not None
    ]
    return median(slopes) if slopes else 0.0


def _errors(values: Values, trending: bool) -> list[list[float]]:
    """Actual less forecast by week ahead, of all back-tests."""
    weeks: list[list[float]] = [[] for _ in ORIGINS]
    for back in ORIGINS:
        if _known(before := values[:-back]) < LEAST_TESTED:
            break
        fit = _fit(before, trending)
        for ahead, actual in enumerate(values[-back:]):
            if actual is not None:
                weeks[ahead // WEEK].append(actual - fit.value(len(before) + ahead))
    return weeks


def _edges(errors: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Lower and upper edge of the band by week ahead: no week is surer than one before it."""
    tested = [(min(0.0, _quantile(found, _LOW)), max(0.0, _quantile(found, _HIGH))) for found in errors if found]
    if not tested:
        return [(0.0, 0.0)] * -(-AHEAD // WEEK)
    wider = list(accumulate(tested, lambda one, other: (min(one[0], other[0]), max(one[1], other[1]))))
    for week in range(len(wider), -(-AHEAD // WEEK)):
        factor = sqrt((week + 1) / len(tested))
        wider.append((wider[len(tested) - 1][0] * factor, wider[len(tested) - 1][1] * factor))
    return wider


def _quantile(values: Sequence[float], share: float) -> float:
    """Between the two nearest values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _known(values: Values) -> int:
    return sum(value is not None for value in values)


def _flat(weeks: Sequence[Sequence[float]]) -> list[float]:
    return [error for week in weeks for error in week]
