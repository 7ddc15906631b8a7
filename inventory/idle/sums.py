"""Idle allocations summed: how much is reclaimable, by group."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count, F, Q, QuerySet, Sum

from inventory.models import IdleAllocation
from inventory.models.idle import Confidence

#: Groups that are told; a cluster has thousands of pods.
MOST = 200


class By(StrEnum):
    """What allocations are summed by."""

    NAMESPACE = "namespace"
    OWNER = "owner"
    POD = "pod"
    NODE = "node"
    MODEL = "model"


_COLUMNS = {
    By.NAMESPACE: ("cluster__name", "namespace"),
    By.OWNER: ("cluster__name", "namespace", "owner_name"),
    By.POD: ("cluster__name", "namespace", "allocation__pod"),
    By.NODE: ("cluster__name", "node_name"),
    By.MODEL: ("cluster__name", "model"),
}


@dataclass(frozen=True)
class IdleSum:
    """One group. Sums are of the allocations that are metered; None: none of them is. unmetered: how many are not in memory_bytes.

    certain: how many of them are certain.
    """

    cluster: str
    namespace: str
    name: str
    allocations: int
    certain: int
    cards: float | None
    memory_bytes: int | None
    unmetered: int
    byte_seconds: float | None
    card_seconds: float | None


def sums(rows: QuerySet[IdleAllocation], by: By, most: int = MOST) -> list[IdleSum]:
    """The largest groups first, by memory and time, then by cards and time. One query."""
    columns = _COLUMNS[by]
    grouped = (
        rows.order_by()
        .values(*columns)
        .annotate(
            allocations=Count("id"),
            certain=Count("id", filter=Q(confidence=Confidence.CERTAIN)),
            sum_cards=Sum("cards"),
            sum_memory=Sum("memory_bytes"),
            unmetered=Count("id", filter=Q(memory_bytes=None)),
            sum_byte_seconds=Sum("byte_seconds"),
            sum_card_seconds=Sum("card_seconds"),
        )
        .order_by(F("sum_byte_seconds").desc(nulls_last=True), F("sum_card_seconds").desc(nulls_last=True), *columns)
    )
    return [
        IdleSum(
            cluster=row["cluster__name"],
            namespace=row["namespace"] if "namespace" in columns else "",
            name=row[columns[-1]],
            allocations=row["allocations"],
            certain=row["certain"],
            cards=row["sum_cards"],
            memory_bytes=row["sum_memory"],
            unmetered=row["unmetered"],
            byte_seconds=row["sum_byte_seconds"],
            card_seconds=row["sum_card_seconds"],
        )
        for row in grouped[:most]
    ]


@dataclass(frozen=True)
class IdleTotal:
    """All of them. Holds of several containers on one card count once each."""

    allocations: int
    certain: int
    memory_bytes: int | None
    unmetered: int
    cards: float | None


def total(rows: QuerySet[IdleAllocation]) -> IdleTotal:
    """One query."""
    found = rows.order_by().aggregate(
        allocations=Count("id"),
        certain=Count("id", filter=Q(confidence=Confidence.CERTAIN)),
        unmetered=Count("id", filter=Q(memory_bytes=None)),
        sum_memory=Sum("memory_bytes"),
        sum_cards=Sum("cards"),
    )
    return IdleTotal(
        allocations=found["allocations"],
        certain=found["certain"],
        memory_bytes=found["sum_memory"],
        unmetered=found["unmetered"],
        cards=found["sum_cards"],
    )
