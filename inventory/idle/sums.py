"""Idle holds summed: from whom how much could be taken back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count, F, Q, QuerySet, Sum

from inventory.models import IdleHold
from inventory.models.idle import Sureness

#: Groups that are told; a cluster has thousands of pods.
MOST = 200


class By(StrEnum):
    """What holds are summed by."""

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
    """One group. Sums are of the holds that are metered; None: none of them is. unmetered: how many are not in memory_bytes.

    sure: how many of the holds are sure.
    """

    cluster: str
    namespace: str
    name: str
    holds: int
    sure: int
    cards: float | None
    memory_bytes: int | None
    unmetered: int
    byte_seconds: float | None
    card_seconds: float | None


def sums(rows: QuerySet[IdleHold], by: By, most: int = MOST) -> list[IdleSum]:
    """The largest groups first, by memory and time, then by cards and time. One query."""
    columns = _COLUMNS[by]
    grouped = (
        rows.order_by()
        .values(*columns)
        .annotate(
            holds=Count("id"),
            sure=Count("id", filter=Q(sureness=Sureness.SURE)),
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
            holds=row["holds"],
            sure=row["sure"],
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

    holds: int
    sure: int
    memory_bytes: int | None
    unmetered: int
    cards: float | None


def total(rows: QuerySet[IdleHold]) -> IdleTotal:
    """One query."""
    found = rows.order_by().aggregate(
        holds=Count("id"),
        sure=Count("id", filter=Q(sureness=Sureness.SURE)),
        unmetered=Count("id", filter=Q(memory_bytes=None)),
        sum_memory=Sum("memory_bytes"),
        sum_cards=Sum("cards"),
    )
    return IdleTotal(
        holds=found["holds"],
        sure=found["sure"],
        memory_bytes=found["sum_memory"],
        unmetered=found["unmetered"],
        cards=found["sum_cards"],
    )
