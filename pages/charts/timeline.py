"""Memory of a card over time, from its allocations: the steps, and the picture of them.

Pure: allocations in, numbers out. What is not known (no metering, before the card was first seen) is a gap, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.utils.translation import gettext as _

from inventory.models import Allocation
from pages.charts import plot
from pages.charts.plot import Chart, Line, Place, Scale
from pages.frame import amounts, times
from pages.frame.holders import hue

LANES, _READINGS = 14, 200


@dataclass(frozen=True)
class Stretch:
    """Between two moments nothing changed. memory: bytes allocated, None when a holder's part is not known."""

    begin: datetime
    end: datetime
    memory: int | None
    holders: int


@dataclass(frozen=True)
class Picture:
    chart: Chart
    hidden_lanes: int


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
    # A little room is left over the largest.
    top = max([total or 0, *(part.memory or 0 for part in parts), 1]) / 0.9
    scale = Scale(begin, end, 0, top)
    lanes = [one for one in held if one.started_at < end and (one.ended_at is None or one.ended_at > begin)]
    points = [(at, part.memory) for part in parts for at in (part.begin, part.end)]
    curve = plot.plot(
        scale,
        [Line("used", points, area=True)],
        [(0, "0"), *([(total, amounts.gib(total))] if total else [])],
        tall=150,
        bands=[*_unknown(parts, scale, seen_from), *_over(parts, scale, total)],
    )
    chart = Chart(
        id="card-memory",
        label=_("Card memory over time. The table below has the same numbers."),
        plots=[curve],
        ticks=plot.ticks(scale),
        readings=_readings(parts, scale),
        lanes=[_lane(one, scale) for one in lanes[:LANES]],
    )
    return Picture(chart, max(0, len(lanes) - LANES))


def _unknown(parts: Sequence[Stretch], scale: Scale, seen_from: datetime) -> list[Place]:
    gaps = [(part.begin, part.end) for part in parts if part.memory is None]
    if seen_from > scale.begin:
        gaps.insert(0, (scale.begin, min(seen_from, scale.end)))
    return [plot.band(scale, left, right, "unknown", _("unknown"), (0, scale.high)) for left, right in gaps]


def _over(parts: Sequence[Stretch], scale: Scale, total: int | None) -> list[Place]:
    return [
        plot.band(scale, part.begin, part.end, "over", amounts.gib(part.memory), (total, part.memory))
        for part in parts
        if total is not None and part.memory is not None and part.memory > total
    ]


def _readings(parts: Sequence[Stretch], scale: Scale) -> list[tuple[float, str]]:
    """At equal distances, so that the nearest is always of the stretch that one points at."""
    whole, made = scale.end - scale.begin, []
    for place in range(_READINGS + 1):
        at = scale.begin + whole * (place / _READINGS)
        part = next((one for one in parts if one.begin <= at <= one.end), None)
        memory = _("unknown") if part is None or part.memory is None else amounts.gib(part.memory)
        made.append((scale.x(at), f"{times.with_zone(at)}\n{_('allocated')} {memory}"))
    return made


def _lane(one: Allocation, scale: Scale) -> Place:
    text = one.who if one.memory_bytes is None else f"{one.who} · {amounts.gib(one.memory_bytes)}"
    return plot.lane(scale, one.started_at, one.ended_at or scale.end, hue(one.namespace), text)
