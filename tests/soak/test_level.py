"""Whether a figure rises: leaks of a known size in lives of all lengths, noise, steps, and lives that are too short."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import pytest

from tests.soak.level import WARM_S, Trend, blocks, rises, trend_of

MEMORY = (1.0, 4.0, 64.0)


def life(
    seconds: float, per_hour: float = 0.0, noise: float = 0.5, begins: float = 0.0, level: float = 100.0
) -> list[tuple[float, float]]:
    chance = Random(int(begins) + 7)
    return [(begins + t, level + per_hour * t / 3600 + chance.gauss(0.0, noise)) for t in range(int(seconds))]


def said(*lives: list[tuple[float, float]]) -> str:
    trend = trend_of(lives)
    assert trend is not None
    return rises(trend, *MEMORY)


def test_the_slope_of_a_line_is_found() -> None:
    trend = trend_of([life(1800, per_hour=60.0, noise=0.0)])
    assert trend is not None
    assert trend.slope == pytest.approx(60.0)
    assert trend.lower == pytest.approx(60.0)
    assert trend.growth == pytest.approx(60.0 * (1800 - WARM_S) / 3600, rel=0.05)


def test_pairs_are_of_one_life_each() -> None:
    """Lives that begin higher and higher are no leak: each begins anew."""
    lives = [life(600, begins=number * 700.0, level=100.0 + 50.0 * number) for number in range(5)]
    assert said(*lives) == ""


@pytest.mark.parametrize("per_hour", [40.0, 300.0])
@pytest.mark.parametrize("seconds", [300, 420, 900, 1500])
def test_a_leak_is_seen_in_short_lives_together(seconds: int, per_hour: float) -> None:
    """Half an hour of one part that is killed again and again; no life is 1,200 s long but the last ones."""
    lives = [life(seconds, per_hour, begins=float(begins)) for begins in range(0, 3600, seconds + 10)]
    counted = len(lives) * (seconds - WARM_S)
    assert per_hour * counted / 3600 > MEMORY[1], "else there is nothing to see"
    assert said(*lives).startswith(("grows by", "one life grew by"))


def test_a_leak_of_300_an_hour_is_seen_in_a_soak_of_six_minutes() -> None:
    assert "grows by" in said(life(370, 300.0), life(370, 300.0, begins=3.0))


def test_the_same_lives_without_the_leak_are_level() -> None:
    for seconds in (300, 420, 900, 1500):
        lives = [life(seconds, noise=3.0, begins=float(begins)) for begins in range(0, 3600, seconds + 10)]
        assert said(*lives) == ""


def test_a_sudden_step_is_no_slope_and_a_large_one_is_too_much() -> None:
    def stepped(by: float) -> list[tuple[float, float]]:
        return [(t, value + (by if t > 1500 else 0.0)) for t, value in life(1800)]

    assert said(stepped(30.0)) == ""
    assert said([(t, value + (80.0 if t > 900 else 0.0)) for t, value in life(1800)]).startswith("one life grew by 8")


def test_warming_up_is_no_leak() -> None:
    points = [(float(t), 100.0 + 60.0 * (1 - math.exp(-t / 40))) for t in range(1800)]
    assert said(points) == ""


def test_what_leaks_slowly_is_seen_in_a_long_time() -> None:
    assert "grows by" in said(life(4 * 3600, per_hour=2.0, noise=1.0))


def test_of_lives_of_seconds_nothing_is_said() -> None:
    assert trend_of([]) is None
    assert trend_of([life(WARM_S + 60, 1e6) for _ in range(9)]) is None


def test_growth_that_means_nothing_does_not_count() -> None:
    assert rises(Trend(slope=3.0, lower=2.0, seconds=3600.0, lives=1, step=3.0), *MEMORY) == ""


def test_blocks_are_medians_after_the_warming_up_and_the_last_one_must_be_full() -> None:
    points = [(float(t), 50.0 if t == 192 else 1.0) for t in range(255)]
    found = blocks(points)
    assert found == [(WARM_S + 15.0, 1.0), (WARM_S + 45.0, 1.0)]
    assert all(later[0] - earlier[0] == 30.0 for earlier, later in pairwise(found))
