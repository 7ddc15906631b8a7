"""One measurement over time as a picture: points, axis, and where the driver changed. Pure: rows in, numbers out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from pages.sections.measured import figure
from validations.models import Measurement

WIDTH, HEIGHT = 1000, 220
#: Room at the edges, so that no point is cut in half.
_EDGE = 12
_LEVELS = 4


@dataclass(frozen=True)
class Point:
    """A run. x, y: in WIDTH × HEIGHT. own: it is of the card that the page is about. title: all of it in words."""

    x: str
    y: str
    own: bool
    verdict: str
    url: str
    title: str


@dataclass(frozen=True)
class Level:
    """A line of the axis. top: percent from above."""

    top: str
    y: str
    text: str


@dataclass(frozen=True)
class Plot:
    """points: oldest first. line: path through the card's own points. drivers: (x in percent, driver) where the driver changed."""

    points: list[Point]
    line: str
    levels: list[Level]
    drivers: list[tuple[str, str]]
    begin: datetime
    end: datetime
    unit: str


def plot(rows: Sequence[Measurement], card_id: int, urls: dict[str, str]) -> Plot | None:
    """rows: with their runs, oldest first, all in one unit. urls: run id → its page. None without rows."""
    timed = [(row, row.run.ended_at) for row in rows if row.run.ended_at is not None]
    if not timed:
        return None
    begin, end = timed[0][1], timed[-1][1]
    scale = _Scale(begin, end, *_range([row.value for row, _at in timed]))
    points = [_point(row, at, card_id, urls, scale) for row, at in timed]
    return Plot(
        points=points,
        line=_line([point for point in points if point.own]),
        levels=_levels(scale),
        drivers=_drivers(timed, card_id, scale),
        begin=begin,
        end=end,
        unit=timed[0][0].unit,
    )


@dataclass(frozen=True)
class _Scale:
    begin: datetime
    end: datetime
    low: float
    high: float

    def x(self, moment: datetime) -> float:
        whole = (self.end - self.begin).total_seconds()
        part = (moment - self.begin).total_seconds() / whole if whole > 0 else 0.5
        return _EDGE + part * (WIDTH - 2 * _EDGE)

    def y(self, value: float) -> float:
        return HEIGHT - _EDGE - (value - self.low) / (self.high - self.low) * (HEIGHT - 2 * _EDGE)


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The axis begins at 0 unless all values lie so close together that nothing could be seen; then the axis says where."""
    low, high = min(values), max(values)
    if low < 0:
        return low, high if high > low else low + 1
    if high > 0 and (high - low) / high < 0.2:
        middle, half = (low + high) / 2, max((high - low), high * 0.05)
        return max(middle - half, 0.0), middle + half
    return 0.0, high * 1.05 or 1.0


def _point(row: Measurement, at: datetime, card_id: int, urls: dict[str, str], scale: _Scale) -> Point:
    run = row.run
    when = timezone.localtime(at).strftime("%Y-%m-%d %H:%M")
    parts = [f"{figure(row.value)} {row.unit}", when, run.node_name, run.driver_version]
    parts += [] if run.own_image else [_("another image")]
    return Point(
        x=f"{scale.x(at):.1f}",
        y=f"{scale.y(row.value):.1f}",
        own=run.card_id == card_id,
        verdict=run.verdict or "",
        url=urls.get(run.pk, ""),
        title=" · ".join(part for part in parts if part),
    )


def _line(points: Sequence[Point]) -> str:
    return "".join(f"{'L' if number else 'M'}{point.x} {point.y}" for number, point in enumerate(points))


def _levels(scale: _Scale) -> list[Level]:
    made = []
    for number in range(_LEVELS + 1):
        value = scale.low + (scale.high - scale.low) * number / _LEVELS
        y = scale.y(value)
        made.append(Level(f"{y / HEIGHT * 100:.2f}", f"{y:.1f}", figure(value)))
    return made


def _drivers(timed: Sequence[tuple[Measurement, datetime]], card_id: int, scale: _Scale) -> list[tuple[str, str]]:
    """Where a run of the card itself came with another driver than the one before it."""
    made, last = [], ""
    for row, at in timed:
        driver = row.run.driver_version
        if row.run.card_id != card_id or not driver:
            continue
        if last and driver != last:
            made.append((f"{scale.x(at) / WIDTH * 100:.2f}", driver))
        last = driver
    return made[-12:]
