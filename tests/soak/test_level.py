"""Whether a figure rises: lines with a known slope, noise, and lives that are too short."""

from __future__ import annotations

import math
from random import Random

import pytest

from tests.soak.level import Line, blocks, least_squares, line_of, rises, second_half


def noisy(seconds: int, per_hour: float, noise: float = 0.5) -> list[tuple[float, float]]:
    chance = Random(7)
    return [(float(t), 100.0 + per_hour * t / 3600 + chance.gauss(0.0, noise)) for t in range(seconds)]


def test_the_slope_of_a_line_is_found() -> None:
    slope, error = least_squares([(float(x), 3.0 + 0.5 * x) for x in range(10)])
    assert slope == pytest.approx(0.5)
    assert error == pytest.approx(0.0, abs=1e-9)


def test_the_error_is_that_of_the_textbook() -> None:
    # y = 1, 3, 2, 5: slope 1.1, residuals −0.1, 0.8, −1.3, 0.6 (sum of squares 2.7), spread of x 5.
    slope, error = least_squares([(0.0, 1.0), (1.0, 3.0), (2.0, 2.0), (3.0, 5.0)])
    assert slope == pytest.approx(1.1)
    assert error == pytest.approx(math.sqrt(2.7 / 2 / 5))


def test_of_a_life_the_second_half_counts() -> None:
    assert second_half([(0.0, 9.0), (4.0, 1.0), (5.0, 2.0), (10.0, 3.0)]) == [(5.0, 2.0), (10.0, 3.0)]


def test_blocks_are_medians_and_the_last_one_must_be_full() -> None:
    points = [(float(t), 50.0 if t == 12 else 1.0) for t in range(75)]
    assert blocks(points) == [(15.0, 1.0), (45.0, 1.0)]


def test_a_leak_is_seen_in_a_long_life() -> None:
    line = line_of(noisy(3600, per_hour=24.0))
    assert line is not None
    assert line.slope == pytest.approx(24.0, rel=0.1)
    assert 20.0 < line.lower < line.slope
    assert rises(line, per_hour=1.0, noise=4.0, most=64.0).startswith("grows by")


def test_noise_is_no_leak() -> None:
    line = line_of(noisy(3600, per_hour=0.0, noise=3.0))
    assert line is not None
    assert line.lower < 0.0
    assert rises(line, per_hour=1.0, noise=4.0, most=64.0) == ""


def test_warming_up_is_no_leak() -> None:
    points = [(float(t), 100.0 + 80.0 * (1 - math.exp(-t / 120))) for t in range(1800)]
    line = line_of(points)
    assert line is not None
    assert rises(line, per_hour=1.0, noise=4.0, most=64.0) == ""


def test_a_short_life_may_grow_only_so_much() -> None:
    points = [(float(t), 100.0 + t) for t in range(200)]
    line = line_of(points)
    assert line is not None
    assert rises(line, per_hour=1.0, noise=4.0, most=100.0) == ""
    assert rises(line, per_hour=1.0, noise=4.0, most=64.0).startswith("grew by 80")


def test_of_a_life_of_seconds_nothing_is_said() -> None:
    assert line_of(noisy(40, per_hour=1e6)) is None
    assert line_of([]) is None


def test_growth_that_means_nothing_does_not_count() -> None:
    assert rises(Line(slope=3.0, lower=2.0, growth=3.0, seconds=3600.0), per_hour=1.0, noise=4.0, most=64.0) == ""
