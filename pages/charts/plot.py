"""A chart: lines with their areas, dots, bands and marks over one axis of time, and what each moment says.

Pure: numbers in, a drawing out. All places are percent: x from the left, y from above. None is a gap, never 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from pages.frame import times
from pages.frame.holders import Hue

#: Lines that a name needs beside a plot, in pixels.
_NAME_PX = 16
#: Minutes between the moments of the axis; at most so many moments.
_TICKS, _MOST_TICKS = (5, 10, 15, 30, 60, 180, 360, 720, 1440, 3 * 1440, 7 * 1440, 14 * 1440), 8


@dataclass(frozen=True)
class Scale:
    begin: datetime
    end: datetime
    low: float
    high: float

    def x(self, at: datetime) -> float:
        whole = (self.end - self.begin).total_seconds()
        return min(max((at - self.begin).total_seconds() / whole, 0.0), 1.0) * 100 if whole > 0 else 50.0

    def y(self, value: float) -> float:
        return 100 - (value - self.low) / (self.high - self.low) * 100


@dataclass(frozen=True)
class Line:
    """points: oldest first. look: its class in charts.css. text: its last value, at its end. area: what is below it is filled."""

    look: str
    points: Sequence[tuple[datetime, float | None]]
    title: str = ""
    text: str = ""
    area: bool = False


@dataclass(frozen=True)
class Path:
    look: str
    line: str
    area: str


@dataclass(frozen=True)
class Place:
    """Something with a place of its own: a name, a level, a moment, a mark, a dot, a band, a bar of a lane below the plots."""

    x: str = "0"
    y: str = "0"
    width: str = "0"
    height: str = "0"
    look: str | Hue = ""
    text: str = ""
    title: str = ""

    @property
    def style(self) -> str:
        """For an attribute of the page."""
        return f"--x:{self.x}%;--y:{self.y}%;--w:{self.width}%;--h:{self.height}%"


@dataclass(frozen=True)
class Event:
    """Something that happened. level: of its sign. text: one line."""

    at: datetime
    level: str
    text: str


@dataclass(frozen=True)
class Plot:
    """One frame. tall: pixels."""

    tall: int
    paths: list[Path]
    names: list[Place]
    levels: list[Place]
    title: str = ""
    dots: Sequence[Place] = ()
    bands: Sequence[Place] = ()
    marks: Sequence[Place] = ()


@dataclass(frozen=True)
class Chart:
    """Plots under each other. readings: (x, text) from left to right. signs: what happened, below them. label: what it shows.

    url: where it is drawn anew; wait: in how many seconds, 0: in a minute. says: what stands there while nothing is drawn, and page
    the address of the same in numbers.
    """

    id: str
    label: str
    plots: Sequence[Plot] = ()
    ticks: Sequence[Place] = ()
    readings: Sequence[tuple[float, str]] = ()
    lanes: Sequence[Place] = ()
    signs: Sequence[Place] = ()
    url: str = ""
    wait: int = 0
    says: str = ""
    page: str = ""

    @property
    def readings_json(self) -> str:
        return json.dumps([[round(x, 2), text] for x, text in self.readings], ensure_ascii=False)


def plot(
    scale: Scale,
    lines: Sequence[Line],
    levels: Iterable[tuple[float, str]],
    *,
    tall: int,
    title: str = "",
    dots: Sequence[Place] = (),
    bands: Sequence[Place] = (),
    marks: Sequence[Place] = (),
) -> Plot:
    """levels: (value, its text)."""
    return Plot(
        tall=tall,
        paths=[path(line, scale) for line in lines],
        names=_names(lines, scale, _NAME_PX / tall * 100),
        levels=[Place(y=_number(scale.y(value)), text=text) for value, text in levels],
        title=title,
        dots=dots,
        bands=bands,
        marks=marks,
    )


def path(line: Line, scale: Scale) -> Path:
    """A value between two gaps has no line: it is a dot."""
    line_, area, run = [], [], list[str]()
    bottom = _number(scale.y(scale.low))
    for at, value in [*line.points, (scale.end, None)]:
        if value is not None:
            run.append(f"{_number(scale.x(at))} {_number(scale.y(value))}")
            continue
        if run:
            line_.append(f"M{'L'.join(run)}" + ("h0" if len(run) == 1 else ""))
            left, right = run[0].split()[0], run[-1].split()[0]
            area.append(f"M{left} {bottom}L{'L'.join(run)}L{right} {bottom}Z")
        run = []
    return Path(line.look, "".join(line_), "".join(area) if line.area else "")


def spark(
    points: Sequence[tuple[datetime, float | None]], *, look: str = "used", top: float | None = None
) -> Path | None:
    """The small chart of a table: a line with its area; None where there is nothing. top: the whole height; None: the highest."""
    known = [value for _at, value in points if value is not None]
    high = max(known, default=0.0) if top is None else top
    if not known or high <= 0:
        return None
    return path(Line(look, points, area=True), Scale(points[0][0], points[-1][0], 0, high))


def _names(lines: Sequence[Line], scale: Scale, room: float) -> list[Place]:
    """Beside the last value of each line, and none over another."""
    found = []
    for line in lines:
        last = next((value for _at, value in reversed(line.points) if value is not None), None)
        if line.title and last is not None:
            found.append((scale.y(last), line))
    found.sort(key=lambda one: one[0])
    lowest, made = 100.0 - room * (len(found) - 1), list[Place]()
    free = 0.0
    for y, line in found:
        place = max(min(y, lowest), free)
        made.append(Place(y=_number(place), look=line.look, title=line.title, text=line.text))
        lowest, free = lowest + room, place + room
    return made


def levels(high: float, steps: Iterable[float], form: Callable[[float], str]) -> list[tuple[float, str]]:
    """The multiples of the least step of which there are at most four."""
    step = next(one for one in steps if high / one <= 4)
    return [(number * step, form(number * step)) for number in range(int(high / step) + 1)]


def band(scale: Scale, begin: datetime, end: datetime, look: str, title: str, values: tuple[float, float]) -> Place:
    """values: the lower and the upper edge."""
    left, top = scale.x(begin), scale.y(values[1])
    return Place(
        x=_number(left),
        y=_number(top),
        width=_number(scale.x(end) - left),
        height=_number(scale.y(values[0]) - top),
        look=look,
        title=title,
    )


def dot(scale: Scale, at: datetime, value: float, look: str) -> Place:
    return Place(x=_number(scale.x(at)), y=_number(scale.y(value)), look=look)


def mark(scale: Scale, at: datetime, text: str, title: str) -> Place:
    return Place(x=_number(scale.x(at)), text=text, title=title)


def signs(scale: Scale, events: Iterable[Event]) -> list[Place]:
    return [
        Place(x=_number(scale.x(one.at)), look=one.level, title=f"{one.text} · {times.short(one.at)}") for one in events
    ]


def lane(scale: Scale, begin: datetime, end: datetime, hue: Hue, text: str) -> Place:
    left = scale.x(begin)
    return Place(x=_number(left), width=_number(scale.x(end) - left), look=hue, text=text)


def ticks(scale: Scale) -> list[Place]:
    """Round moments of the zone that the pages are in; the day where one begins."""
    minutes = (scale.end - scale.begin).total_seconds() / 60
    step = next((one for one in _TICKS if minutes / one <= _MOST_TICKS), 30 * 1440)
    at = timezone.localtime(scale.begin).replace(hour=0, minute=0, second=0, microsecond=0)
    made = []
    while at <= scale.end:
        if at >= scale.begin:
            text = at.strftime("%m-%d" if at.hour == at.minute == 0 else "%H:%M")
            made.append(Place(x=_number(scale.x(at)), text=text))
        at += timedelta(minutes=step)
    return made


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
