"""Forecasts of series whose future is known: golden cases."""

from __future__ import annotations

from itertools import pairwise

import pytest

from inventory.forecast.method import AHEAD, LEAST, Forecast, forecast

#: Monday to Sunday.
_WEEK = (100.0, 90.0, 90.0, 90.0, 100.0, 160.0, 170.0)


def test_a_flat_series_stays_flat_without_a_band() -> None:
    found = forecast([80.0] * 40)
    assert {(day.value, day.low, day.high) for day in found.ahead} == {(80.0, 80.0, 80.0)}
    assert (found.days, found.trend, found.weekly, found.error) == (40, 0.0, False, 0.0)


def test_a_constant_zero_is_a_forecast_of_zero() -> None:
    found = forecast([0.0] * 30)
    assert len(found.ahead) == AHEAD
    assert {(day.value, day.low, day.high) for day in found.ahead} == {(0.0, 0.0, 0.0)}
    assert found.first_below(1) == (0, 0)
    assert found.error == 0.0


def test_a_rising_series_rises_on_and_no_higher_than_the_most() -> None:
    rising = [2.0 * day for day in range(42)]
    found = forecast(rising)
    assert found.trend == pytest.approx(2.0)
    assert found.ahead[0].value == pytest.approx(84.0)
    assert found.ahead[-1].value == pytest.approx(84.0 + 2 * (AHEAD - 1))
    assert found.error == pytest.approx(0.0)
    assert max(day.high for day in forecast(rising, most=90.0).ahead) == 90.0


def test_a_falling_series_says_when_a_request_no_longer_fits_and_stops_at_zero() -> None:
    found = forecast([100.0 - 2 * day for day in range(42)])
    assert found.ahead[0].value == pytest.approx(16.0)
    assert found.first_below(11) == (3, 3)
    assert found.first_below(200) == (0, 0)
    assert found.ahead[-1].value == 0.0
    assert forecast([50.0] * 42).first_below(20) == (None, None)


def test_a_weekly_pattern_goes_on_and_is_no_trend() -> None:
    found = forecast(list(_WEEK) * 5 + [100.0, 90.0])
    assert [day.value for day in found.ahead[:7]] == [90.0, 90.0, 100.0, 160.0, 170.0, 100.0, 90.0]
    assert (found.weekly, found.trend) == (True, 0.0)
    assert found.error == 0.0


def test_a_week_end_does_not_move_the_trend_of_a_rising_series() -> None:
    found = forecast([value + day for day, value in enumerate(list(_WEEK) * 6)])
    assert found.trend == pytest.approx(1.0)
    assert found.ahead[5].value == pytest.approx(160 + 42 + 5)


def test_a_step_is_the_new_level_and_makes_the_band_wide() -> None:
    found = forecast([100.0] * 30 + [40.0] * 12)
    assert {day.value for day in found.ahead} == {40.0}
    assert found.trend == 0.0
    assert found.ahead[-1].low == 0.0
    assert found.error == 60.0  # a week ago, most of two weeks were before the step


def test_gaps_are_left_out_and_counted() -> None:
    values: list[float | None] = [50.0 + day for day in range(40)]
    for day in (3, 4, 5, 20, 33, 39):
        values[day] = None
    found = forecast(values)
    assert found.days == 34
    assert found.trend == pytest.approx(1.0)
    assert found.ahead[0].value == pytest.approx(90.0)
    assert [one.actual is None for one in found.tested] == [True] + [False] * 5 + [True]


def test_odd_days_do_not_move_a_forecast() -> None:
    values: list[float | None] = [60.0] * 42
    values[10], values[37] = 0.0, 500.0
    assert {day.value for day in forecast(values).ahead} == {60.0}


@pytest.mark.parametrize("days", [0, 1, LEAST - 1])
def test_less_than_two_weeks_is_no_forecast(days: int) -> None:
    assert forecast([5.0] * days) == Forecast(days)
    assert forecast([5.0] * days + [None] * 30).ahead == ()


def test_two_weeks_are_enough_and_are_tested_by_the_second() -> None:
    found = forecast([5.0] * LEAST)
    assert len(found.ahead) == AHEAD
    assert len(found.tested) == 7


def test_the_band_is_never_narrower_further_ahead() -> None:
    values = [100.0 + (day * 37 % 23) - day * 0.8 for day in range(50)]
    widths = [day.high - day.low for day in forecast(values).ahead]
    assert widths[0] > 0
    assert all(late >= early - 1e-9 for early, late in pairwise(widths))
