"""One measurement over time as a chart: a dot for each run, and where the driver changed. Pure: rows in, a drawing out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from pages.charts import plot
from pages.charts.plot import Chart, Line, Place, Scale
from pages.frame import times
from pages.sections.measured import figure
from validations.models import Measurement

_LEVELS, _MOST_DRIVERS = 4, 12


def chart(rows: Sequence[Measurement], card_id: int) -> Chart | None:
    """rows: with their runs, oldest first, all in one unit. None without rows."""
    timed = [(row, row.run.ended_at) for row in rows if row.run.ended_at is not None]
    if not timed:
        return None
    low, high = axis([row.value for row, _at in timed])
    scale = Scale(timed[0][1], timed[-1][1], low, high)
    values = [low + (high - low) * number / _LEVELS for number in range(_LEVELS + 1)]
    own = [(at, row.value) for row, at in timed if row.run.card_id == card_id]
    drawn = plot.plot(
        scale,
        [Line("used", own)],
        [(value, figure(value)) for value in values],
        tall=220,
        dots=[_dot(row, at, card_id, scale) for row, at in timed],
        marks=_drivers(timed, card_id, scale),
    )
    readings = [(scale.x(at), words(row, at)) for row, at in timed]
    return Chart("measurements", _("Measurement history"), [drawn], plot.ticks(scale), readings)


def axis(values: Sequence[float]) -> tuple[float, float]:
    """Its ends: it begins at 0 unless all values lie so close together that nothing could be seen; then the axis says where."""
    low, high = min(values), max(values)
    if low < 0:
        return low, high if high > low else low + 1
    if high > 0 and (high - low) / high < 0.2:
        middle, half = (low + high) / 2, max((high - low), high * 0.05)
        return max(middle - half, 0.0), middle + half
    return 0.0, high * 1.05 or 1.0


def _dot(row: Measurement, at: datetime, card_id: int, scale: Scale) -> Place:
    look = f"own {row.run.verdict or ''}".rstrip() if row.run.card_id == card_id else ""
    return plot.dot(scale, at, row.value, look)


def words(row: Measurement, at: datetime) -> str:
    run = row.run
    parts = [times.with_zone(at), f"{figure(row.value)} {row.unit}", run.node_name, run.driver_version]
    return "\n".join(part for part in [*parts, "" if run.own_image else _("another image")] if part)


def _drivers(timed: Sequence[tuple[Measurement, datetime]], card_id: int, scale: Scale) -> list[Place]:
    """Where a run of the card itself came with another driver than the one before it."""
    made, last = [], ""
    for row, at in timed:
        driver = row.run.driver_version
        if row.run.card_id != card_id or not driver:
            continue
        if last and driver != last:
            made.append(plot.mark(scale, at, driver, f"{_('driver')} {driver}"))
        last = driver
    return made[-_MOST_DRIVERS:]
