"""What changed in a window of time: as a list, the newest first, and the same on one axis. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from pages.charts import plot
from pages.frame import times

#: Lines of one kind on the axis, changes of the list, and those of it that are seen at once.
MOST_LINES, MOST_LISTED, MOST_SEEN = 8, 100, 8
#: A bar is at least as wide, and so far from the next on its line: parts of the window.
_LEAST = 0.004


@dataclass(frozen=True)
class Change:
    """Something that was for a time, or happened. kind: of which there is a track. end: None while it lasts.

    level: of its sign. look: class of its bar. usual: what comes and goes all the time. name: of its link, where what is
    not enough. row: of a change of a component, its row. happened: when it changed, where that is not its end, or else its begin.
    """

    key: str
    kind: str
    level: str
    look: str
    what: str
    url: str
    words: str
    where: str
    begin: datetime
    end: datetime | None
    usual: bool = False
    name: str = ""
    row: Any = None
    happened: datetime | None = None

    @property
    def at(self) -> datetime:
        """When it changed last."""
        return self.happened or self.end or self.begin


@dataclass(frozen=True)
class Bar:
    """style: where it is, for an attribute of the page."""

    style: str
    look: str
    title: str


@dataclass(frozen=True)
class Track:
    """What of one kind there was. hidden: how many bars had no line left."""

    kind: str
    lines: int
    bars: list[Bar]
    hidden: int


@dataclass(frozen=True)
class Axis:
    tracks: list[Track]
    ticks: list[plot.Place]


def steady_now(seconds: int) -> datetime:
    """Now, forward to the next 480th of a window: else what is drawn would differ by less than a pixel at each refresh."""
    step = seconds // 480
    return datetime.fromtimestamp(math.ceil(timezone.now().timestamp() / step) * step, tz=UTC)


def newest(changes: Iterable[Change], begin: datetime) -> tuple[list[Change], list[Change]]:
    """(those seen at once, all) of the window, the newest first. What has been there all the time did not change."""
    found = sorted((one for one in changes if one.at >= begin), key=_age, reverse=True)[:MOST_LISTED]
    seen = sorted(found, key=lambda one: one.usual)[:MOST_SEEN]
    return sorted(seen, key=_age, reverse=True), found


def _age(one: Change) -> tuple[datetime, str]:
    return one.at, one.key


def axis(changes: Sequence[Change], begin: datetime, end: datetime) -> Axis:
    kinds = dict.fromkeys(one.kind for one in changes)
    return Axis(
        [_track(kind, [one for one in changes if one.kind == kind], begin, end) for kind in kinds],
        plot.ticks(plot.Scale(begin, end, 0, 1)),
    )


def _track(kind: str, changes: Sequence[Change], begin: datetime, end: datetime) -> Track:
    """Each bar on the first line that is free there."""
    ends: list[float] = []
    bars, hidden = [], 0
    for one in sorted(changes, key=lambda one: (one.begin, one.key)):
        left = _part(one.begin, begin, end)
        right = max(_part(one.end or end, begin, end), left + _LEAST)
        line = next((number for number, taken in enumerate(ends) if taken <= left), len(ends))
        if line == MOST_LINES:
            hidden += 1
            continue
        ends[line : line + 1] = [right + _LEAST]
        title = " · ".join(filter(None, (str(one.what), str(one.words), one.where, _moments(one))))
        bars.append(Bar(f"--x:{left:.4f};--w:{right - left:.4f};--line:{line}", one.look, title))
    return Track(kind, len(ends), bars, hidden)


def _part(moment: datetime, begin: datetime, end: datetime) -> float:
    """Where a moment is in the window: 0 to 1."""
    return min(max((moment - begin) / (end - begin), 0.0), 1.0)


def _moments(one: Change) -> str:
    told = [times.short(at) for at in (one.begin, one.end) if at is not None]
    return " – ".join(dict.fromkeys(told))
