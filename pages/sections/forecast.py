"""What will be free: a line for each pool, and the chart of one, with its band and its back-test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.urls import reverse
from django.utils.translation import gettext as _

from inventory.forecast.method import AHEAD, LEAST, Forecast
from inventory.forecast.pools import PoolForecast
from inventory.placement.finder.request import Request
from pages.charts import plot
from pages.charts.plot import Chart, Line, Place, Plot, Scale
from pages.frame import amounts
from pages.frame.labels import pool_words
from pages.frame.links import with_query

#: Pools that are listed; days of the past that are drawn.
MOST_POOLS, PAST_DAYS = 40, 28
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class ForecastLine:
    """A pool. until, earliest: a day, "" for none; later: not within the forecast. Without both nothing is forecast."""

    pool: str
    cluster: str
    url: str
    until: str
    earliest: str
    later: bool
    memory: str
    cards: str
    error: str
    days: int


@dataclass(frozen=True)
class Outlook:
    """Of one pool. trend, error: in words; chart: None for too few days."""

    chart: Chart | None
    days: int
    least: int
    trend: str
    error: str


def lines(asked: Request, found: Sequence[PoolForecast]) -> tuple[list[ForecastLine], int]:
    """The pools that run out first, those with too few days last; and how many are not listed: mostly of smaller cards."""
    told = [(one.fits(asked.cards, asked.memory), one) for one in found]
    made = [(fits, one) for fits, one in told if fits is not None or not (one.memory.ahead or one.cards.ahead)]
    made.sort(
        key=lambda pair: (pair[0] is None, (pair[0] and pair[0].until) or date.max, pair[1].pool, pair[1].cluster)
    )
    shown = [
        ForecastLine(
            pool=pool_words(one.pool),
            cluster=one.cluster,
            url=with_query(reverse("history"), cluster=one.cluster, pool=one.pool, window="30d") + "#forecast",
            until="" if fits is None else _date(fits.until, one.begin),
            earliest="" if fits is None else _date(fits.maybe, one.begin),
            later=fits is not None and fits.until is None,
            memory=_last(one.memory, in_gib=True),
            cards=_last(one.cards, in_gib=False),
            error=_error(one, by_memory=fits.by_memory) if fits else "",
            days=max(one.memory.days, one.cards.days),
        )
        for fits, one in made[:MOST_POOLS]
    ]
    return shown, len(told) - len(shown)


def _date(day: date | None, today: date) -> str:
    return "" if day is None else _("today") if day == today else day.isoformat()


def _last(one: Forecast, *, in_gib: bool) -> str:
    return _amount(one.ahead[-1].value, in_gib=in_gib) if one.ahead else ""


def _error(one: PoolForecast, *, by_memory: bool) -> str:
    error = one.memory.error if by_memory else one.cards.error
    if error is None:
        return ""
    return f"± {_amount(error, in_gib=True)}" if by_memory else _("± %(n)s cards") % {"n": amounts.figure(error)}


def _amount(value: float, *, in_gib: bool) -> str:
    return amounts.gib(round(value)) if in_gib else amounts.figure(value)


def outlook(found: PoolForecast) -> Outlook:
    """For the page of a pool's history."""
    told = [(one, in_gib) for one, in_gib in ((found.memory, True), (found.cards, False)) if one.ahead]
    return Outlook(
        _chart(found) if told else None,
        max(found.memory.days, found.cards.days),
        LEAST,
        " · ".join(_trend(one, in_gib=in_gib) for one, in_gib in told),
        " · ".join(
            _("± %(n)s cards") % {"n": amounts.figure(one.error)}
            if not in_gib
            else f"± {amounts.gib(round(one.error))}"
            for one, in_gib in told
            if one.error is not None
        ),
    )


def _trend(one: Forecast, *, in_gib: bool) -> str:
    if abs(one.trend) < (amounts.MIB if in_gib else 0.005):
        return _("memory: no trend") if in_gib else _("cards: no trend")
    amount = ("+" if one.trend > 0 else "−") + _amount(abs(one.trend), in_gib=in_gib)
    return (_("memory: %(n)s per day") if in_gib else _("cards: %(n)s per day")) % {"n": amount}


def _chart(found: PoolForecast) -> Chart:
    today = datetime(found.begin.year, found.begin.month, found.begin.day, tzinfo=UTC)
    scale = Scale(today - PAST_DAYS * _DAY, today + AHEAD * _DAY, 0, 1)
    plots = [
        _plot(scale, today, title, past, one, in_gib=in_gib)
        for title, past, one, in_gib in (
            (_("Free memory"), found.past_memory, found.memory, True),
            (_("Free cards"), found.past_cards, found.cards, False),
        )
        if one.ahead
    ]
    label = _("Chart of free memory and free cards: the last 28 days and the forecast of 30 days.")
    return Chart("chart-forecast", label, plots, plot.ticks(scale), _readings(scale, today, found))


def _plot(
    scale: Scale, today: datetime, title: str, past: Sequence[float | None], one: Forecast, *, in_gib: bool
) -> Plot:
    shown = past[-PAST_DAYS:]
    begin = today - len(shown) * _DAY
    known = [(begin + (number + 0.5) * _DAY, value) for number, value in enumerate(shown)]
    tested = [(today + (number - len(one.tested) + 0.5) * _DAY, day.forecast) for number, day in enumerate(one.tested)]
    ahead = [(today + (number + 0.5) * _DAY, day.value) for number, day in enumerate(one.ahead)]
    highest = max([value for _at, value in known if value is not None] + [day.high for day in one.ahead])
    least = float(amounts.GIB) if in_gib else 1.0
    own = Scale(scale.begin, scale.end, 0, max(highest * 1.05, least))
    bands = [
        plot.band(own, today + number * _DAY, today + (number + 1) * _DAY, "forecast", "", (day.low, day.high))
        for number, day in enumerate(one.ahead)
    ]
    steps = (
        [2.0**power for power in range(30, 70)] if in_gib else [float(10**p * n) for p in range(9) for n in (1, 2, 5)]
    )
    levels = plot.levels(own.high, steps, lambda value: _amount(value, in_gib=in_gib))
    drawn = [
        Line("used", known, ""),
        Line("tested", tested, ""),
        Line("forecast", ahead, _("forecast"), _last(one, in_gib=in_gib)),
    ]
    marks: list[Place] = [plot.mark(own, today, _("today"), "")]
    return plot.plot(own, drawn, levels, tall=130, title=title, bands=bands, marks=marks)


def _readings(scale: Scale, today: datetime, found: PoolForecast) -> list[tuple[float, str]]:
    made = []
    for number in range(-PAST_DAYS, AHEAD):
        day = today + number * _DAY
        told = [f"{day:%Y-%m-%d} UTC"]
        for title, past, one, in_gib in (
            (_("Free memory"), found.past_memory, found.memory, True),
            (_("Free cards"), found.past_cards, found.cards, False),
        ):
            told += _reading(title, past, one, number, in_gib=in_gib)
        made.append((scale.x(day + _DAY / 2), "\n".join(told if len(told) > 1 else [*told, _("no data")])))
    return made


def _reading(title: str, past: Sequence[float | None], one: Forecast, number: int, *, in_gib: bool) -> list[str]:
    if number >= 0:
        if not one.ahead:
            return []
        day = one.ahead[number]
        low, value, high = (_amount(part, in_gib=in_gib) for part in (day.low, day.value, day.high))
        return [f"{title} {value} ({low}–{high})"]
    value_then = past[number] if -number <= len(past) else None
    told = [] if value_then is None else [f"{title} {_amount(value_then, in_gib=in_gib)}"]
    if one.tested and -number <= len(one.tested):
        told.append(_("back-test %(n)s") % {"n": _amount(one.tested[number].forecast, in_gib=in_gib)})
    return told
