"""Forecasts of pools for programs: REST, and `forecast --json`. Memory in bytes; null is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated

from inventory.forecast.method import LEAST, Forecast
from inventory.forecast.pools import Fits, PoolForecast
from inventory.placement.finder.request import Request
from resources.declared import Shape, fact, filled


class ForecastDay(Shape):
    value: float
    low: Annotated[float, fact("8 of 10 errors of back-tests are between low and high.")]
    high: float


class ForecastTest(Shape):
    forecast: float
    actual: Annotated[float | None, fact("null: not recorded.")]


def _days(days: Iterable[object]) -> list[ForecastDay]:
    return [filled(ForecastDay, one) for one in days]


def _tests(days: Iterable[object]) -> list[ForecastTest]:
    return [filled(ForecastTest, one) for one in days]


class Outlook(Shape):
    """The forecast of daily means."""

    days: Annotated[int, fact(f"Days with data it is based on; fewer than {LEAST}: no forecast.")]
    trend_per_day: Annotated[float, fact("0: no trend is used, because it did not improve the back-tests.", of="trend")]
    weekly: Annotated[bool, fact("Whether weekdays differ.")]
    error: Annotated[
        float | None, fact("Back-test: mean absolute error of the last 7 days, forecast from the days before them.")
    ]
    tested: Annotated[list[ForecastTest], fact("The last 7 days, oldest first.", by=_tests)]
    ahead: Annotated[list[ForecastDay], fact("30 days from begins_on on; empty: no forecast.", by=_days)]


class ForecastFits(Shape):
    """Until when the request fits the pool as a whole. One node must have it: this is an upper limit."""

    by: Annotated[str, fact("memory_free_bytes or cards_free: what limits the request.")]
    need: Annotated[float, fact("Needed of that.")]
    until: Annotated[date | None, fact("First day on which less is forecast; null: not within 30 days.")]
    earliest: Annotated[date | None, fact("First day on which the band is lower; null: not within 30 days.")]


class PoolOutlook(Shape):
    cluster: Annotated[str, fact(by=str)]
    pool: str
    begins_on: Annotated[date, fact("First day of the forecast (UTC).", of="begin")]
    memory_free_bytes: Outlook
    cards_free: Outlook
    fits: Annotated[ForecastFits | None, fact("null: no forecast, or the cards are smaller or of unknown size.")]


class ForecastAnswer(Shape):
    """Free memory and free cards of each pool over the next 30 days."""

    cards: int
    memory_bytes: Annotated[int | None, fact("Per card, in bytes; null: any.")]
    results: list[PoolOutlook]


def answer_of(request: Request, found: Sequence[PoolForecast]) -> ForecastAnswer:
    return ForecastAnswer(
        cards=request.cards,
        memory_bytes=request.memory,
        results=[
            filled(
                PoolOutlook,
                one,
                memory_free_bytes=_outlook(one.memory),
                cards_free=_outlook(one.cards),
                fits=_fits(one.fits(request.cards, request.memory)),
            )
            for one in found
        ],
    )


def _outlook(one: Forecast) -> Outlook:
    return filled(Outlook, one)


def _fits(one: Fits | None) -> ForecastFits | None:
    if one is None:
        return None
    return ForecastFits(
        by="memory_free_bytes" if one.by_memory else "cards_free", need=one.need, until=one.until, earliest=one.maybe
    )
