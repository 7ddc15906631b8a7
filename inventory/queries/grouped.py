"""Sums of some groups of rows, in one query whatever their number: for the heads of lists that are grouped.

A group is the rows with the same values of some columns; a column without a value is a group too. Memory in bytes. None: not known of
any row. What is free is free now (`inventory.queries.availability`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from inventory.models.choices import CardState
from inventory.queries import totals
from inventory.queries.availability import in_believed

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Sums:
    """rows: of the group. cards_free: that a pod can be allocated. metered: memory of those whose allocation is known.

    unknown: rows without an amount of memory.
    """

    rows: int
    cards: int | None = None
    cards_free: int | None = None
    metered: int | None = None
    allocated: int | None = None
    free: int | None = None
    unknown: int = 0


def cards(rows: QuerySet[Any], columns: Sequence[str], keys: Iterable[Key]) -> dict[Key, Sums]:
    """What one card is overcommitted by is not taken from what is free of another. Of another time only their number is kept."""
    if "asked_to" in rows.query.annotations:
        groups = _of(rows, columns, keys).annotate(number=Count("id"))
        return {tuple(one[column] for column in columns): Sums(rows=one["number"]) for one in groups}
    known, believed = Q(memory_allocated_bytes__isnull=False), in_believed()
    found = _of(rows, columns, keys).annotate(
        number=Count("id"),
        cards_free=Count("id", filter=Q(state=CardState.FREE) & believed),
        metered=Sum("memory_total_bytes", filter=known),
        allocated=Sum("memory_allocated_bytes"),
        room=Sum("memory_free_bytes", filter=Q(memory_free_bytes__gt=0) & believed),
        with_room=Count("memory_free_bytes"),
        counted=Count("memory_total_bytes", filter=known),
    )
    return {
        tuple(one[column] for column in columns): Sums(
            rows=one["number"],
            cards=one["number"],
            cards_free=one["cards_free"],
            metered=one["metered"],
            allocated=one["allocated"],
            free=(one["room"] or 0) if one["with_room"] else None,
            unknown=one["number"] - one["counted"],
        )
        for one in found
    }


def nodes(rows: QuerySet[Any], columns: Sequence[str], keys: Iterable[Key]) -> dict[Key, Sums]:
    """Of totals of nodes."""
    found = totals.totals_of_groups(_of(rows, columns, keys), columns)
    return {
        key: Sums(
            rows=one.nodes,
            cards=one.cards_total.value,
            cards_free=one.cards_free.value,
            metered=one.memory_metered.value,
            allocated=one.memory_allocated.value,
            free=one.memory_free.value,
            unknown=one.memory_free.unknown_nodes,
        )
        for key, one in found.items()
    }


def allocations(rows: QuerySet[Any], columns: Sequence[str], keys: Iterable[Key]) -> dict[Key, Sums]:
    found = _of(rows, columns, keys).annotate(
        number=Count("id"), allocated=Sum("memory_bytes"), counted=Count("memory_bytes")
    )
    return {
        tuple(one[column] for column in columns): Sums(
            rows=one["number"], allocated=one["allocated"], unknown=one["number"] - one["counted"]
        )
        for one in found
    }


def _of(rows: QuerySet[Any], columns: Sequence[str], keys: Iterable[Key]) -> Any:
    """The rows of these groups, by group."""
    condition = Q()
    for column, values in zip(columns, zip(*keys, strict=True), strict=False):
        wanted = Q(**{f"{column}__in": {value for value in values if value is not None}})
        condition &= wanted | Q(**{f"{column}__isnull": True}) if None in values else wanted
    plain = rows.select_related(None).prefetch_related(None).order_by()
    return plain.filter(condition).values(*columns)
