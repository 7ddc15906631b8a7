"""What was last measured of cards, for whoever shows them: pages, REST, metrics and commands read it here.

A value is told while it is known: its exporter said so in the last round, and that round is not long ago. After that it is "last
measured", with its age; a card that no exporter names is not collected, which is not 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db.models import BigIntegerField, Case, F, Q, QuerySet, When
from django.db.models.functions import Now

from inventory.models import Card, CardUsage, UsageSource
from inventory.processes import OVERDUE
from runtime.clock import database_now
from runtime.leases.row import LONGEST

#: A moment, or one in seconds since 1970.
M = TypeVar("M", datetime, float)
#: A round that is older says nothing of now.
KNOWN_FOR = timedelta(minutes=5)
#: In `CardUsage.more`: since when (unix seconds) the holders, and what they use, are those of before.
KEPT_SINCE = "holders_kept_since"
#: In the same: several pods are on the card, and the exporter does not say which.
HIDDEN = "holders_hidden"


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


def overdue_since(source: UsageSource, now: datetime) -> datetime | None:
    """Since when nobody reads a source whose turn it is; None for one that is read, or not due for long."""
    held = source.expires_at is not None and now < source.expires_at <= now + LONGEST
    return source.due_at if source.due_at is not None and now - source.due_at > OVERDUE and not held else None


def unused_bytes() -> Case:
    """Of cards, as the database counts it: allocated and not used; null where either is not known now."""
    known = Q(usage__lost_at=None, usage__source__round_at__gte=Now() - KNOWN_FOR)
    return Case(
        When(known, then=F("memory_allocated_bytes") - F("usage__memory_used_bytes")), output_field=BigIntegerField()
    )


def with_usage(cards: Iterable[Card]) -> list[Card]:
    """The same cards, each with its `measured`: one query for all of them; and what is allocated of it and not used."""
    found = list(cards)
    rows = CardUsage.objects.filter(card__in=[card.pk for card in found]).select_related("source")
    by_card = {row.card_id: row for row in rows} if found else {}
    now = database_now() if by_card else None
    for card in found:
        row = by_card.get(card.pk)
        usage = usage_of(row, now) if row is not None and now is not None else NOT_COLLECTED
        card.measured = usage  # type: ignore[attr-defined]
        used, allocated = usage.memory_used_bytes, card.memory_allocated_bytes
        unused = None if used is None or allocated is None else allocated - used
        card.memory_unused_bytes = unused  # type: ignore[attr-defined]
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


def last_active(activity_ratio: float | None, active_at: M | None, written_at: M, round_at: M) -> M | None:
    """When work was seen last. The row of a card that goes on working is not written: it did in the last round."""
    works = activity_ratio is not None and active_at is not None and active_at >= written_at
    return round_at if works else active_at


def _last(row: CardUsage) -> dict[str, Any]:
    names = ("memory_used_bytes", "memory_measured_bytes", "utilization_ratio", "temperature_celsius", "power_watts")
    return {name: getattr(row, name) for name in names if getattr(row, name) is not None}


#: What is told of a card beside its holders. A row as a whole holds all measures, some kilobytes a card.
_PLAIN = (
    "memory_used_bytes",
    "utilization_ratio",
    "temperature_celsius",
    "power_watts",
    "holders",
    "format",
    "version",
    "age_s",
    "lost_at",
    "source__round_at",
    f"more__{KEPT_SINCE}",
    f"more__{HIDDEN}",
)


def plain_usages(rows: QuerySet[CardUsage]) -> dict[int, Usage]:
    """Card id → what lists and holders want to know of it, without models. One query. rows: of cards of the mirror."""
    found = {}
    for card, *values in rows.annotate(asked_at=Now()).values_list("card_id", *_PLAIN, "asked_at").iterator(5000):
        used, ratio, heat, power, holders, format, version, age_s, lost_at, round_at, kept, hidden, now = values
        said_by = f"{format} {version}".strip()
        if lost_at is not None or round_at is None or now - round_at > KNOWN_FOR:
            found[card] = Usage(usage_source=said_by, lost_at=lost_at or round_at)
            continue
        found[card] = Usage(
            memory_used_bytes=used,
            utilization_ratio=ratio,
            temperature_celsius=heat,
            power_watts=power,
            measured_at=round_at - timedelta(seconds=age_s),
            usage_source=said_by,
            more=({KEPT_SINCE: kept} if kept is not None else {}) | ({HIDDEN: True} if hidden else {}),
            holders=holders,
        )
    return found
