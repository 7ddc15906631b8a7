"""Memory of a card over time, from its allocations: the steps, and the picture of them.

Pure: allocations in, numbers out. What is not known (no metering, before the card was first seen) is a gap, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from django.utils import timezone

from inventory.models import Allocation
from pages.frame import amounts
from pages.frame.holders import Hue, hue

WIDTH, HEIGHT, LANES = 1000, 100, 14


@dataclass(frozen=True)
class Stretch:
    """Between two moments nothing changed. memory: bytes allocated, None when a holder's part is not known."""

    begin: datetime
    end: datetime
    memory: int | None
    holders: int


@dataclass(frozen=True)
class Box:
    """A rectangle of the curve, in its units (WIDTH × HEIGHT)."""

    x: str
    y: str
    width: str
    height: str
    title: str = ""


@dataclass(frozen=True)
class Lane:
    """One holder's time as a bar of its own. x, width: 0 to 1."""

    x: str
    width: str
    hue: Hue
    text: str


@dataclass(frozen=True)
class Tick:
    """A moment on the axis. percent: where."""

    percent: str
    text: str


@dataclass(frozen=True)
class Picture:
    """What the template draws. path: the curve. full: where the line of "full" is, in percent from above; "" for none."""

    path: str
    unknown: list[Box]
    over: list[Box]
    lanes: list[Lane]
    hidden_lanes: int
    ticks: list[Tick]
    full: str
    full_text: str


def stretches(held: Sequence[Allocation], begin: datetime, end: datetime) -> list[Stretch]:
    """The window [begin, end] cut at every change. Allocations without an end reach to the window's."""
    cuts = {begin, end}
    for one in held:
        cuts.update(moment for moment in (one.started_at, one.ended_at) if moment and begin < moment < end)
    ordered = sorted(cuts)
    made: list[Stretch] = []
    for left, right in pairwise(ordered):
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
    return Picture(
        path=_path(parts, scale),
        unknown=_unknown(parts, scale, begin, seen_from),
        over=_over(parts, scale, total),
        lanes=[_lane(one, scale) for one in lanes[:LANES]],
        hidden_lanes=max(0, len(lanes) - LANES),
        ticks=_ticks(scale),
        full=f"{scale.up(total):.1f}" if total else "",
        full_text=amounts.gib(total) if total else "",
    )


@dataclass(frozen=True)
class _Scale:
    begin: datetime
    end: datetime
    top: int

    def part(self, moment: datetime) -> float:
        """Where a moment is in the window: 0 to 1."""
        whole = (self.end - self.begin).total_seconds() or 1.0
        return min(max((moment - self.begin).total_seconds() / whole, 0.0), 1.0)

    def x(self, moment: datetime) -> str:
        return f"{self.part(moment) * WIDTH:.1f}"

    def up(self, amount: int) -> float:
        """Where an amount is, from above; a little room is left over the largest."""
        return HEIGHT - amount / self.top * HEIGHT * 0.9

    def across(self, begin: datetime, end: datetime, y: float, height: float, title: str = "") -> Box:
        left = self.part(begin) * WIDTH
        width = max(1.0, self.part(end) * WIDTH - left)
        return Box(f"{left:.1f}", f"{y:.1f}", f"{width:.1f}", f"{height:.1f}", title)


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
        made.append(f"V{scale.up(part.memory):.1f}H{scale.x(part.end)}")
        open_ = True
    return "".join(made) + (f"V{HEIGHT}Z" if open_ else "")


def _unknown(parts: Sequence[Stretch], scale: _Scale, begin: datetime, seen_from: datetime) -> list[Box]:
    gaps = [(part.begin, part.end) for part in parts if part.memory is None]
    if seen_from > begin:
        gaps.insert(0, (begin, min(seen_from, scale.end)))
    return [scale.across(left, right, 0, HEIGHT) for left, right in gaps]


def _over(parts: Sequence[Stretch], scale: _Scale, total: int | None) -> list[Box]:
    if total is None:
        return []
    made = []
    for part in parts:
        if part.memory is not None and part.memory > total:
            top, full = scale.up(part.memory), scale.up(total)
            made.append(scale.across(part.begin, part.end, top, full - top, amounts.gib(part.memory)))
    return made


def _lane(one: Allocation, scale: _Scale) -> Lane:
    left = scale.part(one.started_at)
    right = scale.part(one.ended_at) if one.ended_at else 1.0
    name = one.who
    text = name if one.memory_bytes is None else f"{name} · {amounts.gib(one.memory_bytes)}"
    return Lane(f"{left:.4f}", f"{right - left:.4f}", hue(one.namespace), text)


def _ticks(scale: _Scale) -> list[Tick]:
    """Round moments of the reader's time zone: at most eight."""
    hours = (scale.end - scale.begin).total_seconds() / 3600
    step = next((one for one in (1, 3, 6, 12, 24, 72, 168, 336) if hours / one <= 8), 720)
    local = timezone.localtime(scale.begin)
    moment = local.replace(minute=0, second=0, microsecond=0, hour=local.hour // step * step if step < 24 else 0)
    made = []
    while moment <= scale.end:
        if moment >= scale.begin:
            made.append(Tick(f"{scale.part(moment) * 100:.2f}", moment.strftime("%H:%M" if step < 24 else "%m-%d")))
        moment += timedelta(hours=step)
    return made
