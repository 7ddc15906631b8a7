"""What was last measured of cards, for whoever shows them: pages, REST, metrics and commands read it here.

A value is told while it is known: its exporter said so in the last round, and that round is not long ago. After that it is "last
measured", with its age; a card that no exporter names is not collected, which is not 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Now

from inventory.clock import database_now
from inventory.models import Card, CardUsage

#: A round that is older says nothing of now.
KNOWN_FOR = timedelta(minutes=5)


@dataclass(frozen=True)
class Usage:
    """What is known of a card. All None: not collected; `lost_at` and `last`: what was known before the exporter fell silent.

    Ratios are 0 to 1. activity_measure: by which measure work is seen. holders: as `CardUsage.holders`.
    """

    memory_used_bytes: int | None = None
    memory_measured_bytes: int | None = None
    utilization_ratio: float | None = None
    activity_ratio: float | None = None
    activity_measure: str = ""
    temperature_celsius: float | None = None
    power_watts: float | None = None
    measured_at: datetime | None = None
    usage_source: str = ""
    lost_at: datetime | None = None
    active_at: datetime | None = None
    watched_since: datetime | None = None
    more: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)
    holders: list[dict[str, Any]] = field(default_factory=list)


NOT_COLLECTED = Usage()


def measured_now() -> QuerySet[CardUsage]:
    """Rows of cards of the mirror whose values are known now."""
    return CardUsage.objects.filter(card__isnull=False, lost_at=None, source__round_at__gte=Now() - KNOWN_FOR)


def with_usage(cards: Iterable[Card]) -> list[Card]:
    """The same cards, each with its `measured`: one query for all of them."""
    found = list(cards)
    rows = CardUsage.objects.filter(card__in=[card.pk for card in found]).select_related("source")
    by_card = {row.card_id: row for row in rows} if found else {}
    now = database_now() if by_card else None
    for card in found:
        row = by_card.get(card.pk)
        card.measured = usage_of(row, now) if row is not None and now is not None else NOT_COLLECTED  # type: ignore[attr-defined]
    return found


def usage_of(row: CardUsage, now: datetime) -> Usage:
    """row: with its source."""
    round_at = row.source.round_at
    said_by = f"{row.format} {row.version}".strip()
    if row.lost_at is not None or round_at is None or now - round_at > KNOWN_FOR:
        last = row.more.get("last", {}) if row.lost_at is not None else _last(row)
        return Usage(usage_source=said_by, lost_at=row.lost_at or round_at, last=last)
    return Usage(
        memory_used_bytes=row.memory_used_bytes,
        memory_measured_bytes=row.memory_measured_bytes,
        utilization_ratio=row.utilization_ratio,
        activity_ratio=row.activity_ratio,
        activity_measure=row.activity_measure,
        temperature_celsius=row.temperature_celsius,
        power_watts=row.power_watts,
        measured_at=round_at - timedelta(seconds=row.age_s),
        usage_source=said_by,
        active_at=last_active(row.activity_ratio, row.active_at, row.written_at, round_at),
        watched_since=row.watched_since,
        more=row.more,
        holders=row.holders,
    )


def last_active(
    activity_ratio: float | None, active_at: datetime | None, written_at: datetime, round_at: datetime
) -> datetime | None:
    """When work was seen last. The row of a card that goes on working is not written: it did in the last round."""
    works = activity_ratio is not None and active_at is not None and active_at >= written_at
    return round_at if works else active_at


def _last(row: CardUsage) -> dict[str, Any]:
    names = ("memory_used_bytes", "memory_measured_bytes", "utilization_ratio", "temperature_celsius", "power_watts")
    return {name: getattr(row, name) for name in names if getattr(row, name) is not None}
