"""The small line of a pool goes on to now, although the hour that goes on is not in the history of its day yet."""

from __future__ import annotations

from inventory.history.before import STEPS, Lately
from inventory.queries.totals import Known, Totals
from pages.charts.trends import trend

NOW = Totals(memory_metered=Known(100, 0), memory_allocated=Known(50, 0))


def strokes(steps: Lately) -> int:
    """How many lines are drawn."""
    found = trend([steps], NOW)
    assert found is not None
    return found.path.line.count("M")


def test_the_hour_that_goes_on_is_no_gap() -> None:
    assert strokes([(40, 100)] * (STEPS - 3) + [None] * 3) == 1


def test_what_was_not_recorded_is_one() -> None:
    assert strokes([(40, 100)] * 20 + [None] * 10 + [(40, 100)] * 18) == 2
    assert strokes([(40, 100)] * (STEPS - 10) + [None] * 10) == 2
