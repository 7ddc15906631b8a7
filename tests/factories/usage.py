"""What was measured of cards, as a collector writes it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models.functions import Now

from inventory.models import Allocation, Card, CardUsage, Cluster, UsageSource
from tests.factories import GIB


def source_of(cluster: Cluster, round_ago: timedelta = timedelta()) -> UsageSource:
    made, _ = UsageSource.objects.get_or_create(cluster=cluster, defaults={"way": "prometheus", "address": "http://p"})
    UsageSource.objects.filter(pk=made.pk).update(state="reading", round_at=Now() - round_ago)
    return made


def measure(card: Card, *, active_ago: timedelta | None = None, **columns: Any) -> CardUsage:
    values: dict[str, Any] = {
        "memory_used_bytes": 9 * GIB,
        "activity_ratio": 0.0,
        "activity_measure": "graphics_active",
        "written_at": Now(),
        "watched_since": Now() - timedelta(hours=3),
        "active_at": None if active_ago is None else Now() - active_ago,
    }
    made: CardUsage = CardUsage.objects.create(
        cluster=card.cluster,
        source=source_of(card.cluster),
        node_name=card.node_name,
        ident=card.key,
        card=card,
        format="dcgm-exporter",
        **(values | columns),
    )
    return made


def hours_ago(hours: float) -> None:
    """All holds began so long ago."""
    Allocation.objects.update(started_at=Now() - timedelta(hours=hours))
