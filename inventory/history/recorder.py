"""Writes down what is true each minute, and folds hours that are over into days: the one writer of the history.

A minute is a few rows for a whole cluster and never one a card. An hour is folded in parts, each in a transaction of its own that
marks its minutes, so whoever dies between two leaves the rest to the next minute; folding twice writes the same values.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Min

from inventory.history import asked, moment, packed
from inventory.history.packed import Minute, Values
from inventory.models import Cluster, HistoryDay, HistoryMinute, Subject
from runtime import bulk
from runtime.clock import database_now

logger = logging.getLogger(__name__)

#: Between two records.
EVERY_S = 60.0
#: Charts of up to six hours are drawn by the minute; those are kept for as long, and the hour that is not folded yet.
MINUTES_KEPT = timedelta(hours=8)
#: Seconds of one message that are given to folding; what is left is for the next minute.
FOLD_S = 20.0
_SLOTS_AN_HOUR = 3600 // packed.SLOT_S
#: Column of a pool's day → the column of the history that it is the mean of.
_MEANS = {"free_mib": packed.FREE, "cards_free": packed.CARDS_FREE}


def record(now: datetime | None = None) -> int:
    """Write this minute of all clusters, fold what is over, forget what is old. Returns how many rows. Called by the schedule."""
    at = (now or database_now()).replace(second=0, microsecond=0)
    written = sum(record_cluster(cluster_id, at) for cluster_id in Cluster.objects.values_list("pk", flat=True))
    fold(at)
    HistoryMinute.objects.filter(at__lt=at - MINUTES_KEPT, folded=True).delete()
    asked.forget(at)
    return written


def record_cluster(cluster_id: int, at: datetime) -> int:
    """One minute of one cluster. at: a whole minute, by the database's clock. Who comes second in a minute writes nothing."""
    if HistoryMinute.objects.filter(cluster_id=cluster_id, at=at).exists():
        return 0
    rows = [
        HistoryMinute(cluster_id=cluster_id, subject=subject, part=part, at=at, data=packed.pack_minute(minute))
        for subject, part, minute in moment.minutes_of(cluster_id, at)
    ]
    HistoryMinute.objects.bulk_create(rows, ignore_conflicts=True, batch_size=200)
    return len(rows)


class _Hour(NamedTuple):
    cluster_id: int
    subject: str
    part: int
    begin: datetime


def fold(now: datetime, seconds: float = FOLD_S) -> int:
    """Put minutes of hours that are over into days, the oldest first. Returns how many parts of hours; ends after `seconds`."""
    until, done = time.monotonic() + seconds, 0
    hour = now.replace(minute=0, second=0, microsecond=0)
    while waiting := _waiting(hour):
        for one in waiting:
            with transaction.atomic():
                _fold(one)
            done += 1
            if time.monotonic() > until:
                return done
    return done


def _waiting(before: datetime) -> list[_Hour]:
    rows = HistoryMinute.objects.filter(folded=False, at__lt=before)
    oldest = rows.values("cluster_id", "subject", "part").annotate(oldest=Min("at")).order_by("oldest")
    return [
        _Hour(row["cluster_id"], row["subject"], row["part"], row["oldest"].astimezone(UTC).replace(minute=0))
        for row in oldest
    ]


def _fold(hour: _Hour) -> None:
    """One part of one hour. Two who do it at once write one after the other, and the same."""
    rows = HistoryMinute.objects.filter(
        cluster_id=hour.cluster_id,
        subject=hour.subject,
        part=hour.part,
        at__gte=hour.begin,
        at__lt=hour.begin + timedelta(hours=1),
    ).order_by("at")
    found = slots_of((at, data) for at, data in rows.select_for_update().values_list("at", "data"))
    day, first = hour.begin.date(), hour.begin.hour * _SLOTS_AN_HOUR
    days = HistoryDay.objects.filter(cluster_id=hour.cluster_id, subject=hour.subject, day=day, key__in=found)
    stored = dict(days.values_list("key", "data"))
    _write(
        hour.cluster_id,
        hour.subject,
        day,
        {key: _with(stored.get(key), slots, first) for key, slots in found.items()},
    )
    rows.update(folded=True)


def _write(cluster_id: int, subject: str, day: date, found: Mapping[str, dict[str, Values]]) -> None:
    """Rows of a day. found: key → columns."""
    columns = ("cluster_id", "subject", "key", "day", "data", *_MEANS)
    pool = subject == Subject.POOL
    written = [
        (
            *(cluster_id, subject, key, day, packed.pack_day(values)),
            *(_mean_of(values.get(name, ())) if pool else None for name in _MEANS.values()),
        )
        for key, values in found.items()
    ]
    bulk.upsert(HistoryDay, columns, written, ("cluster_id", "subject", "key", "day"))


def _mean_of(values: Sequence[int | None]) -> float | None:
    """None where less than half of the day is known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) >= packed.SLOTS // 2 else None


def write_days(cluster_id: int, subject: str, day: date, found: Mapping[str, dict[str, Values]]) -> None:
    """Put what is known of a day by other means beside what is recorded of it, which stays. found: key → columns of SLOTS values."""
    days = HistoryDay.objects.filter(cluster_id=cluster_id, subject=subject, day=day, key__in=found)
    with transaction.atomic():
        stored = dict(days.select_for_update().values_list("key", "data"))
        _write(cluster_id, subject, day, {key: _beside(stored.get(key), columns) for key, columns in found.items()})


def write_minutes(cluster_id: int, at: datetime, found: Iterable[tuple[Subject, int, Minute]], folded: bool) -> None:
    """A minute that is known by other means; one that is recorded stays. folded: its hour lies in days already."""
    rows = [
        HistoryMinute(
            cluster_id=cluster_id, subject=subject, part=part, at=at, folded=folded, data=packed.pack_minute(minute)
        )
        for subject, part, minute in found
    ]
    HistoryMinute.objects.bulk_create(rows, ignore_conflicts=True, batch_size=200)


def slots_of(minutes: Iterable[tuple[datetime, bytes | memoryview]]) -> dict[str, dict[str, Values]]:
    """{key: {column: a value for each slot of the hour}}: the mean of the minutes that are known, and of used memory the highest.

    minutes: of one hour.
    """
    sums: dict[int | str, dict[str, list[list[int]]]] = {}
    for at, data in minutes:
        slot = at.minute * 60 // packed.SLOT_S
        for key, name, value in _values(at, data):
            columns = sums.setdefault(key, {})
            places = columns.get(name)
            if places is None:
                columns[name] = places = [[] for _ in range(_SLOTS_AN_HOUR)]
            places[slot].append(value)
    return {str(key): _means(columns) for key, columns in sums.items()}


def _values(at: datetime, data: bytes | memoryview) -> Iterable[tuple[int | str, str, int]]:
    try:
        minute = packed.unpack_minute(data)
    except packed.Unreadable as error:
        logger.error("history of %s is left out: its minute cannot be read: %s", at.isoformat(), error)
        return
    for name, column in minute.columns.items():
        for key, value in zip(minute.keys, column, strict=True):
            if value is not None:
                yield key, name, value


def _means(columns: dict[str, list[list[int]]]) -> dict[str, Values]:
    made: dict[str, Values] = {
        name: [round(sum(values) / len(values)) if values else None for values in places]
        for name, places in columns.items()
    }
    if packed.USED in columns:
        made[packed.USED_MOST] = [max(values, default=None) for values in columns[packed.USED]]
    return made


def _with(data: Any, slots: dict[str, Values], first: int) -> dict[str, Values]:
    """A day with the slots of an hour in it; what was there of that hour is gone."""
    columns = day_of(data)
    for name in columns.keys() | slots.keys():
        column = columns.setdefault(name, [None] * packed.SLOTS)
        column[first : first + _SLOTS_AN_HOUR] = slots.get(name, [None] * _SLOTS_AN_HOUR)
    return columns


def day_of(data: Any) -> dict[str, Values]:
    """A day as it is stored; {} for none, and for one that cannot be read."""
    if data is None:
        return {}
    try:
        return packed.unpack_day(data)
    except packed.Unreadable as error:
        logger.error("a day of the history is begun anew: it cannot be read: %s", error)
        return {}


def _beside(data: Any, found: dict[str, Values]) -> dict[str, Values]:
    """A day that is stored, with what is found where nothing is."""
    recorded = day_of(data)
    known = [any(column[slot] is not None for column in recorded.values()) for slot in range(packed.SLOTS)]
    columns: dict[str, Values] = {}
    for name in recorded.keys() | found.keys():
        own, other = recorded.get(name, [None] * packed.SLOTS), found.get(name, [None] * packed.SLOTS)
        columns[name] = [mine if there else theirs for mine, theirs, there in zip(own, other, known, strict=True)]
    return columns
