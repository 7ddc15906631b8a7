"""Since when cards are watched, and when work was seen on them last: the collector goes on from there, so who is idle is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import transaction

from fleetsim.clock import HOUR, MINUTE
from fleetsim.usage import CardUse, value
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.seats import Seat
from inventory.collect.rows import IDLE_BELOW
from inventory.models import CardUsage, Cluster
from inventory.queries.measured import measured_now
from runtime import bulk

#: Looks back: each minute for some hours, then in longer steps.
_NEAR_S, _STEP_S, _LONG_STEP_S = 6 * HOUR, MINUTE, 5 * MINUTE


def write(cluster: Cluster, seats: Sequence[Seat], times: Times) -> int:
    """Cards that are measured now, since the past began. Returns how many."""
    found = {seat.card.pk: seat for seat in seats if seat.card is not None}
    rows = []
    for usage in measured_now().filter(cluster=cluster, card_id__in=found, activity_ratio__isnull=False):
        seat = found[usage.card_id or 0]
        works = (usage.activity_ratio or 0.0) > IDLE_BELOW
        # Of one that works the last round is the last time.
        seen = usage.active_at if works else _last(seat.use, times.since, times.until) or usage.active_at
        rows.append((usage.pk, utc(times.since), seen))
    with transaction.atomic():
        bulk.update(CardUsage, ("id", "watched_since", "active_at"), rows)
    return len(rows)


def _last(use: CardUse, since: float, until: float) -> datetime | None:
    """When work was last to be seen; None where there was none."""
    return next((utc(at) for at in _back(since, until) if value(use, at).activity > IDLE_BELOW), None)


def _back(since: float, until: float) -> Iterator[float]:
    at = until
    while at > since:
        at -= _STEP_S if until - at < _NEAR_S else _LONG_STEP_S
        yield at
