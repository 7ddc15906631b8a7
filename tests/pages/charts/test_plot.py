"""What a chart draws: gaps, single values, areas, names that do not lie over each other, round levels and moments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pages.charts.plot import Line, Scale, dot, levels, path, plot, ticks

BEGIN = datetime(2026, 11, 24, 10, 20, tzinfo=UTC)
SCALE = Scale(BEGIN, BEGIN + timedelta(hours=4), 0, 10)


def line(*values: float | None, title: str = "", area: bool = False) -> Line:
    return Line("used", [(BEGIN + timedelta(hours=hour), value) for hour, value in enumerate(values)], title, "", area)


def test_what_is_not_known_breaks_line_and_area() -> None:
    drawn = path(line(0, 5, None, 10, 5, area=True), SCALE)
    assert drawn.line == "M0 100L25 50M75 0L100 50"
    assert drawn.area == "M0 100L0 100L25 50L25 100ZM75 100L75 0L100 50L100 100Z"


def test_a_value_between_two_gaps_is_a_dot() -> None:
    assert path(line(None, 5, None), SCALE).line == "M25 50h0"
    assert path(line(None, None), SCALE).line == ""


def test_names_stand_at_the_last_value_and_not_over_each_other() -> None:
    lines = [line(9, 0, title="a"), line(1, 0, None, title="b"), line(5, title="c"), line(None, title="d"), line(3)]
    names = [(name.title, float(name.y)) for name in plot(SCALE, lines, [], tall=160).names]
    assert names == [("c", 50.0), ("a", 90.0), ("b", 100.0)]


@pytest.mark.parametrize(("high", "expected"), [(1, [0, 1]), (3.9, [0, 1, 2, 3]), (4.2, [0, 2, 4]), (33, [0, 16, 32])])
def test_levels_are_round_and_few(high: float, expected: list[float]) -> None:
    assert [value for value, _text in levels(high, [1, 2, 4, 8, 16], str)] == expected


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        (1, ["10:20", "10:30", "10:40", "10:50", "11:00", "11:10", "11:20"]),
        (24, ["12:00", "15:00", "18:00", "21:00", "11-25", "03:00", "06:00", "09:00"]),
        (24 * 7, ["11-25", "11-26", "11-27", "11-28", "11-29", "11-30", "12-01"]),
    ],
)
def test_moments_are_round_and_few(hours: int, expected: list[str]) -> None:
    scale = Scale(BEGIN, BEGIN + timedelta(hours=hours), 0, 1)
    assert [tick.text for tick in ticks(scale)] == expected


def test_a_single_moment_is_in_the_middle() -> None:
    drawn = dot(Scale(BEGIN, BEGIN, 0, 10), BEGIN, 5, "own")
    assert (drawn.x, drawn.y) == ("50", "50")
