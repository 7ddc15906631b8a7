"""What is allocated now to each namespace and owner: the one writer of `NamespaceAllocation`.

Rows that did not change are not written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import Sum

from inventory.history import packed
from inventory.idle.allocations import idle_now, looks_now
from inventory.models import Allocation, Card, Cluster, HistoryMinute, NamespaceAllocation, NamespaceDay, Subject
from inventory.models.charges import By
from runtime import bulk
from runtime.clock import UnixTime, database_now
from stacks.engine import base

#: Days of waste that are summed, with today.
WEEK = 7
_NOT_COLLECTED = (None, None)
#: Used memory of a minute that is older says nothing of now.
_MEASURED = timedelta(minutes=4)
_KEY = ("by", "namespace", "owner_kind", "owner_name")
_FIGURES = (
    *("pods", "allocations", "unmetered", "memory_bytes", "cards_whole", "shares", "cards_shared", "cards"),
    *("idle_bytes", "idle_cards", "idle_since", "oldest_pod", "oldest_since"),
    *("memory_used_bytes", "idle_week_byte_seconds", "unused_week_byte_seconds"),
)
_COLUMNS = (
    *("id", "namespace", "owner_kind", "owner_name", "pod", "pod_uid", "card_id", "mode", "quantity", "memory_bytes"),
    UnixTime("started_at"),
)
_Key = tuple[str, str, str, str]


class _Group(msgspec.Struct):
    """What is added up of one row."""

    pods: set[str] = msgspec.field(default_factory=set)
    full: set[int] = msgspec.field(default_factory=set)
    allocations: int = 0
    unmetered: int = 0
    memory: int = 0
    counted: int = 0
    shares: int = 0
    shared: float = 0.0
    idle: int = 0
    idle_cards: float = 0.0
    idle_since: datetime | None = None
    oldest: tuple[float, str] | None = None

    def figures(self, looked: bool, used: int | None, week: Sequence[float | None]) -> tuple[Any, ...]:
        """In the order of `_FIGURES`."""
        whole, shared = len(self.full) + self.counted, round(self.shared, 4)
        idle = (self.idle, round(self.idle_cards, 4), self.idle_since) if looked else (None, None, None)
        assert self.oldest is not None, "a group has a hold"
        mine = (
            len(self.pods),
            self.allocations,
            self.unmetered,
            self.memory,
            whole,
            self.shares,
            shared,
            whole + shared,
        )
        return (*mine, *idle, self.oldest[1], datetime.fromtimestamp(self.oldest[0], UTC), used, *week)


def look(now: datetime | None = None) -> int:
    """Look over all clusters. Returns how many rows changed. Called by the schedule."""
    at = now or database_now()
    return sum(look_over(cluster_id, at) for cluster_id in Cluster.objects.values_list("pk", flat=True))


def look_over(cluster_id: int, now: datetime) -> int:
    """What is held in one cluster: seven queries, and the rows that changed."""
    groups = _groups(cluster_id)
    looked = looks_now().filter(cluster_id=cluster_id).exists()
    used, week = _used(cluster_id, now), _week(cluster_id, now)
    made = {
        key: group.figures(looked, used.get(key[1]), week.get(key[1], _NOT_COLLECTED))
        if key[0] == By.NAMESPACE
        else group.figures(looked, None, _NOT_COLLECTED)
        for key, group in groups.items()
    }
    with transaction.atomic():
        # Two who look at once write one after the other.
        if not Cluster.objects.select_for_update(no_key=True).filter(pk=cluster_id).exists():
            return 0
        rows = NamespaceAllocation.objects.filter(cluster_id=cluster_id).values_list("id", *_KEY, *_FIGURES)
        stored = {tuple(row[1:5]): (row[0], tuple(row[5:])) for row in rows.iterator(5000)}
        gone = [pk for key, (pk, _) in stored.items() if key not in made]
        for start in range(0, len(gone), bulk.BATCH):
            NamespaceAllocation.objects.filter(pk__in=gone[start : start + bulk.BATCH]).delete()
        changed = [
            (cluster_id, *key, *figures)
            for key, figures in made.items()
            if key not in stored or stored[key][1] != figures
        ]
        bulk.upsert(NamespaceAllocation, ("cluster_id", *_KEY, *_FIGURES), changed, ("cluster_id", *_KEY))
    return len(changed) + len(gone)


def _groups(cluster_id: int) -> dict[_Key, _Group]:
    there = Card.objects.filter(cluster_id=cluster_id, removed_at=None)
    sizes = {
        pk: (size or 0, shares or 0) for pk, size, shares in there.values_list("id", "memory_total_bytes", "shares")
    }
    idle = {
        pk: (memory or 0, cards or 0.0, since)
        for pk, memory, cards, since in idle_now()
        .filter(cluster_id=cluster_id)
        .values_list("allocation_id", "memory_bytes", "cards", "idle_since")
    }
    groups: dict[_Key, _Group] = defaultdict(_Group)
    held = Allocation.objects.filter(cluster_id=cluster_id, ended_at=None).order_by()
    for pk, namespace, kind, name, *hold in held.values_list(*_COLUMNS).iterator(5000):
        for key in ((By.NAMESPACE.value, namespace, "", ""), (By.OWNER.value, namespace, kind, name)):
            _add(groups[key], hold, sizes, idle.get(pk))
    return groups


def _add(
    group: _Group, hold: list[Any], sizes: dict[int, tuple[int, int]], idle: tuple[int, float, datetime] | None
) -> None:
    pod, uid, card, mode, quantity, memory, since = hold
    group.pods.add(uid)
    group.allocations += 1
    if memory is None:
        group.unmetered += 1
    else:
        group.memory += memory
    if mode != base.WHOLE:
        group.shares += 1
        size, shares = sizes.get(card, (0, 0))
        if memory is not None and size:
            group.shared += memory / size
        elif shares:
            group.shared += quantity / shares
    elif card is None:
        group.counted += quantity
    else:
        group.full.add(card)
    if group.oldest is None or (since, pod) < group.oldest:
        group.oldest = (since, pod)
    if idle is not None:
        group.idle += idle[0]
        group.idle_cards += idle[1]
        group.idle_since = min(group.idle_since or idle[2], idle[2])


def _week(cluster_id: int, now: datetime) -> dict[str, tuple[float | None, ...]]:
    """Namespace → byte-seconds of the last seven days: idle, not used."""
    first = now.astimezone(UTC).date() - timedelta(days=WEEK - 1)
    rows = NamespaceDay.objects.filter(cluster_id=cluster_id, day__gte=first).order_by().values_list("namespace")
    return {
        name: tuple(None if amount is None else float(amount * packed.MIB) for amount in amounts)
        for name, *amounts in rows.annotate(Sum("idle_mib_s"), Sum("unused_mib_s"))
    }


def _used(cluster_id: int, now: datetime) -> dict[str, int]:
    """Namespace → bytes used on cards where nobody else is, as the history has written it last."""
    minutes = HistoryMinute.objects.filter(
        cluster_id=cluster_id, subject=Subject.NAMESPACE, at__gte=now - _MEASURED, at__lte=now
    ).order_by("at")
    found: dict[str, int] = {}
    for data in minutes.values_list("data", flat=True):
        try:
            minute = packed.unpack_minute(data)
        except packed.Unreadable:
            continue
        used = minute.columns.get(packed.USED, [None] * len(minute.keys))
        for key, value in zip(minute.keys, used, strict=True):
            found.pop(str(key), None)
            if value is not None:
                found[str(key)] = value * packed.MIB
    return found
