"""Memory of a card over time, from its allocations: the steps, and the picture of them.

Pure: allocations in, numbers out. What is not known (no metering, before the card was first seen) is a gap, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from inventory.models import Allocation
from inventory.views import amounts
from inventory.views.holders import hue

WIDTH, HEIGHT, LANE, LANES = 960, 150, 18, 14


@dataclass(frozen=True)
class Stretch:
    """Between two moments nothing changed. memory: bytes allocated, None when a holder's part is not known."""

    begin: datetime
    end: datetime
    memory: int | None
    holders: int


@dataclass(frozen=True)
class Box:
    """A rectangle of the picture, in its units."""

    x: str
    y: str
    width: str
    height: str
    kind: str = ""
    title: str = ""


@dataclass(frozen=True)
class Lane:
    """One holder's time as a line of its own below the curve."""

    box: Box
    hue: int
    text: str
    text_x: str
    text_y: str
    anchor: str


@dataclass(frozen=True)
class Tick:
    x: str
    text: str


@dataclass(frozen=True)
class Picture:
    """What the template draws. path: the curve. total_y: the line of "full", "" when there is none."""

    height: int
    path: str
    unknown: list[Box]
    over: list[Box]
    lanes: list[Lane]
    hidden_lanes: int
    ticks: list[Tick]
    total_y: str
    total_text: str
    top_text: str


def stretches(held: Sequence[Allocation], begin: datetime, end: datetime) -> list[Stretch]:
    """The window [begin, end] cut at every change. Allocations without an end reach to the window's."""
    cuts = {begin, end}
    for one in held:
        cuts.update(moment for moment in (one.started_at, one.ended_at) if moment and begin < moment < end)
    ordered = sorted(cuts)
    made: list[Stretch] = []
    for left, right in zip(ordered, ordered[1:], strict=False):
        now = [one for one in held if one.started_at <= left and (one.ended_at is None or one.ended_at >= right)]
        parts = [one.memory_bytes for one in now]
        memory = None if any(part is None for part in parts) else sum(part or 0 for part in parts)
        made.append(Stretch(left, right, memory, len({one.pod_uid for one in now})))
    return made


def picture(
    held: Sequence[Allocation], begin: datetime, end: datetime, total: int | None, seen_from: datetime
) -> Picture:
    """total: bytes of the card. seen_from: before it, nothing is known of the card."""
    parts = stretches(held, max(begin, min(seen_from, end)), end) if seen_from < end else []
    top = max([total or 0, *(part.memory or 0 for part in parts), 1])
    scale = _Scale(begin, end, top)
    lanes = [one for one in held if one.started_at < end and (one.ended_at is None or one.ended_at > begin)]
    drawn = lanes[:LANES]
    return Picture(
        height=HEIGHT + 26 + LANE * len(drawn),
        path=_path(parts, scale),
        unknown=_unknown(parts, scale, begin, seen_from),
        over=_over(parts, scale, total),
        lanes=[_lane(one, row, scale) for row, one in enumerate(drawn)],
        hidden_lanes=len(lanes) - len(drawn),
        ticks=_ticks(scale),
        total_y=scale.y(total) if total else "",
        total_text=amounts.gib(total) if total else "",
        top_text=amounts.gib(top) if total and top > total else "",
    )


@dataclass(frozen=True)
class _Scale:
    begin: datetime
    end: datetime
    top: int

    def x(self, moment: datetime) -> str:
        return f"{self._x(moment):.1f}"

    def _x(self, moment: datetime) -> float:
        whole = (self.end - self.begin).total_seconds() or 1.0
        return min(max((moment - self.begin).total_seconds() / whole, 0.0), 1.0) * WIDTH

    def y(self, amount: int) -> str:
        return f"{HEIGHT - amount / self.top * (HEIGHT - 14):.1f}"

    def across(self, begin: datetime, end: datetime, y: str, height: str, kind: str, title: str) -> Box:
        left = self._x(begin)
        return Box(f"{left:.1f}", y, f"{max(1.0, self._x(end) - left):.1f}", height, kind, title)


def _path(parts: Sequence[Stretch], scale: _Scale) -> str:
    """A step curve; where the memory is not known it is broken."""
    made: list[str] = []
    open_ = False
    for part in parts:
        if part.memory is None:
            made += [f"V{HEIGHT}Z"] if open_ else []
            open_ = False
            continue
        if not open_:
            made.append(f"M{scale.x(part.begin)} {HEIGHT}")
        made.append(f"V{scale.y(part.memory)}H{scale.x(part.end)}")
        open_ = True
    return "".join(made) + (f"V{HEIGHT}Z" if open_ else "")


def _unknown(parts: Sequence[Stretch], scale: _Scale, begin: datetime, seen_from: datetime) -> list[Box]:
    gaps = [(part.begin, part.end) for part in parts if part.memory is None]
    if seen_from > begin:
        gaps.insert(0, (begin, min(seen_from, scale.end)))
    return [scale.across(left, right, "0", str(HEIGHT), "unknown", "") for left, right in gaps]


def _over(parts: Sequence[Stretch], scale: _Scale, total: int | None) -> list[Box]:
    if total is None:
        return []
    made = []
    for part in parts:
        if part.memory is not None and part.memory > total:
            top, full = float(scale.y(part.memory)), float(scale.y(total))
            made.append(
                scale.across(part.begin, part.end, f"{top:.1f}", f"{full - top:.1f}", "over", amounts.gib(part.memory))
            )
    return made


def _lane(one: Allocation, row: int, scale: _Scale) -> Lane:
    y = HEIGHT + 26 + row * LANE
    name = f"{one.namespace}/{one.pod}"
    box = scale.across(one.started_at, one.ended_at or scale.end, str(y), str(LANE - 6), "", name)
    left, width = float(box.x), float(box.width)
    # The name stands where there is room for it: right of the bar, else left of it.
    right_of = left + width < WIDTH * 0.7
    text_x = left + width + 5 if right_of else max(left - 5, 0)
    inside = not right_of and left < WIDTH * 0.3
    if inside:
        text_x = left + 6
    text = name if one.memory_bytes is None else f"{name} {amounts.gib(one.memory_bytes)}"
    return Lane(
        box,
        hue(one.namespace),
        text,
        f"{text_x:.1f}",
        str(y + 10),
        "inside" if inside else "start" if right_of else "end",
    )


def _ticks(scale: _Scale) -> list[Tick]:
    """Round moments of the reader's time zone: at most nine."""
    hours = (scale.end - scale.begin).total_seconds() / 3600
    step = next((one for one in (1, 3, 6, 12, 24, 72, 168, 336) if hours / one <= 9), 720)
    local = timezone.localtime(scale.begin)
    moment = local.replace(minute=0, second=0, microsecond=0, hour=local.hour // step * step if step < 24 else 0)
    made = []
    while moment <= scale.end:
        if moment >= scale.begin:
            made.append(Tick(scale.x(moment), moment.strftime("%H:%M" if step < 24 else "%m-%d")))
        moment += timedelta(hours=step)
    return made
