"""A day of a cluster by namespace and owner: from cards, allocations, and the history, which says when the mirror was in step, and
what of a namespace was idle or not used.

The day that goes on is summed again and again; one that is over once more, and for good: what was learned late is in it.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Min, Q

from inventory.charges.hardware import labels_of
from inventory.charges.prices import Hardware
from inventory.charges.prices import packed as packed_hardware
from inventory.charges.rates import rates
from inventory.charges.rule import Held, Holder, Parts, Piece, Span, add_node
from inventory.charges.used import Used, used_on
from inventory.history import packed, recorder
from inventory.history.moment import part_of
from inventory.models import (
    Allocation,
    Card,
    ChargeDay,
    Cluster,
    HistoryDay,
    HistoryMinute,
    NamespaceDay,
    NodeTotals,
    OwnerDay,
    Subject,
)
from runtime import bulk
from runtime.clock import database_now

logger = logging.getLogger(__name__)

#: Node → model → its cards.
_Cards = dict[str, dict[str, list[Piece]]]

#: Between two sums of the day that goes on; so many times as long as one took, where that is more.
EVERY_S, APART = 290.0, 20
#: Seconds of one message that are given to days that are over.
CLOSE_S = 20.0
_DAY_S, _MINUTE_S = 86400, 60
_MIB = packed.MIB
_PARTS = ("total", "free", "unplaced", "unmetered", "unknown")
_OF_NAMESPACE, _AMOUNTS = ("cluster_id", "day", "namespace"), ("card_us", "mib_s")
#: Of a namespace's memory, by its column of the history.
_WASTE = {"idle_mib_s": packed.IDLE, "unused_mib_s": packed.UNUSED}
#: Of an owner's days that are over.
_USED = ("idle_mib_s", "unused_mib_s", "asked_mib", "peak_mib", "samples")


def look(now: datetime | None = None) -> int:
    """Sum what is due of all clusters. Returns how many days. Called by the schedule."""
    at = now or database_now()
    until, done = time.monotonic() + CLOSE_S, 0
    for cluster_id in Cluster.objects.values_list("pk", flat=True):
        for day in open_days(cluster_id, at):
            if time.monotonic() > until:
                return done
            done += write_day(cluster_id, day, at)
        done += _today(cluster_id, at)
    return done


def open_days(cluster_id: int, now: datetime) -> Iterator[date]:
    """Days that are over and not summed for good, from the first of which something is recorded on."""
    days = ChargeDay.objects.filter(cluster_id=cluster_id)
    first = days.filter(done=True).aggregate(last=Max("day"))["last"]
    day = first + timedelta(days=1) if first else _first_day(cluster_id)
    while day is not None and day < _day(now):
        yield day
        day += timedelta(days=1)


def _first_day(cluster_id: int) -> date | None:
    days = HistoryDay.objects.filter(cluster_id=cluster_id, subject=Subject.CLUSTER)
    minutes = HistoryMinute.objects.filter(cluster_id=cluster_id, subject=Subject.CLUSTER)
    found = [days.aggregate(first=Min("day"))["first"]]
    if (minute := minutes.aggregate(first=Min("at"))["first"]) is not None:
        found.append(_day(minute))
    return min((one for one in found if one is not None), default=None)


def _today(cluster_id: int, now: datetime) -> int:
    row = ChargeDay.objects.filter(cluster_id=cluster_id, day=_day(now)).values_list("until", "took_s").first()
    if row is not None and (now - row[0]).total_seconds() < max(EVERY_S, APART * row[1]):
        return 0
    return write_day(cluster_id, _day(now), now)


def write_day(cluster_id: int, day: date, now: datetime) -> int:
    """Sum a day as far as it has gone, and write it. Returns 1; 0 for a day of which there is nothing, and no cards.

    A day that is over is done. What is summed until later stays.
    """
    began = time.monotonic()
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
    until = min(now, begin + timedelta(days=1))
    known = known_spans(cluster_id, day, until)
    if not known and day == _day(now):
        return 0
    whole = (int(begin.timestamp()), int(until.timestamp()))
    cards, holds = _read(cluster_id, whole)
    summed = _sum(cluster_id, cards, holds, known, whole)
    parts = Parts()
    for one in summed.values():
        parts.add(one)
    figures: dict[str, Any] = {
        f"{name}_{unit}": getattr(parts, name)[place]
        for name in _PARTS
        for place, unit in enumerate(("card_us", "mib_s"))
    }
    figures |= {
        f"{name}_by_hardware": packed_hardware((kind, *getattr(one, name)) for kind, one in summed.items())
        for name in _PARTS[1:]
    }
    figures |= {
        "done": day < _day(now),
        "since": datetime.fromtimestamp(known[0][0], UTC) if known else None,
        "until": until,
    }
    wasted = waste(cluster_id, day)
    spaces = _by_hardware({kind: one.namespaces for kind, one in summed.items()})
    held = _by_hardware({kind: one.holders for kind, one in summed.items()})
    namespaces = {
        (cluster_id, day, name): (*amounts, *wasted.get(name, (None, None)), spaces[name])
        for name, amounts in parts.namespaces.items()
    }
    used: dict[Holder, Used] = {}
    if day < _day(now):
        sizes = {card.id: card.memory for models in cards.values() for pieces in models.values() for card in pieces}
        used = used_on(cluster_id, day, whole[0], sizes, holds, settings.IDLE_MINUTES * _MINUTE_S)
    nothing = Used()
    owners: dict[Any, tuple[int | str | None, ...]] = {
        (cluster_id, day, *holder): (*amounts, *used.get(holder, nothing).columns, held[holder])
        for holder, amounts in parts.holders.items()
    }
    with transaction.atomic():
        # Two who do it at once write one after the other; watchers go on writing rows of the cluster.
        locked = Cluster.objects.select_for_update(no_key=True).filter(pk=cluster_id)
        if not locked.exists() or ChargeDay.objects.filter(cluster_id=cluster_id, day=day, until__gt=until).exists():
            return 0
        _replace(NamespaceDay, cluster_id, day, _OF_NAMESPACE, (*_AMOUNTS, *_WASTE, "by_hardware"), namespaces)
        of_owner = (*_OF_NAMESPACE, "owner_kind", "owner_name")
        _replace(OwnerDay, cluster_id, day, of_owner, (*_AMOUNTS, *_USED, "by_hardware"), owners)
        # Last, since writing is a part of what it took.
        figures["took_s"] = time.monotonic() - began
        ChargeDay.objects.update_or_create(cluster_id=cluster_id, day=day, defaults=figures)
    return 1


def _replace(
    model: type[NamespaceDay] | type[OwnerDay],
    cluster_id: int,
    day: date,
    key: tuple[str, ...],
    figures: tuple[str, ...],
    made: Mapping[Any, tuple[int | str | None, ...]],
) -> None:
    """The rows of a day become these: those that changed are written, those of nobody go. key: the columns of the keys of `made`."""
    rows = model.objects.filter(cluster_id=cluster_id, day=day).values_list("id", *key, *figures)
    stored = {tuple(row[1 : -len(figures)]): (row[0], row[-len(figures) :]) for row in rows.iterator(5000)}
    gone = [pk for one, (pk, _) in stored.items() if one not in made]
    for start in range(0, len(gone), bulk.BATCH):
        model.objects.filter(pk__in=gone[start : start + bulk.BATCH]).delete()
    changed = [(*one, *amounts) for one, amounts in made.items() if one not in stored or stored[one][1] != amounts]
    bulk.upsert(model, (*key, *figures), changed, key)


def _read(cluster_id: int, whole: Span) -> tuple[_Cards, dict[str, list[Held]]]:
    """Cards by node and model, and allocations by node. Three queries."""
    begin, end = (datetime.fromtimestamp(moment, UTC) for moment in whole)
    cards: _Cards = defaultdict(lambda: defaultdict(list))
    there = Card.objects.filter(
        Q(removed_at=None) | Q(removed_at__gt=begin), cluster_id=cluster_id, first_seen_at__lt=end
    )
    columns = ("id", "node_name", "model", "memory_total_bytes", "shares", "first_seen_at", "removed_at")
    for pk, node, model, memory, shares, since, gone in there.values_list(*columns).iterator(5000):
        span = (_second(since), gone and _second(gone))
        cards[node][model].append(Piece(pk, (memory or 0) // _MIB, shares or None, *span))
    holds: dict[str, list[Held]] = defaultdict(list)
    began = Allocation.objects.filter(cluster_id=cluster_id, started_at__lt=end).order_by()
    names = (
        "node_name",
        "namespace",
        "pod_uid",
        "card_id",
        "mode",
        "quantity",
        "memory_bytes",
        "started_at",
        "ended_at",
        "owner_kind",
        "owner_name",
    )
    for rows in (began.filter(ended_at=None), began.filter(ended_at__gt=begin)):
        for node, name, pod, card, mode, quantity, memory, since, gone, *owner in rows.values_list(*names).iterator(
            5000
        ):
            size = None if memory is None else memory // _MIB
            ends = None if gone is None else _second(gone)
            holds[node].append(Held(name, pod, card, mode, quantity, size, _second(since), ends, *owner))
    return cards, holds


def _sum(
    cluster_id: int, cards: _Cards, holds: Mapping[str, list[Held]], known: list[Span], whole: Span
) -> dict[Hardware, Parts]:
    """By hardware. One query; two more while there are prices by label."""
    found: dict[Hardware, Parts] = defaultdict(Parts)
    pools = dict(NodeTotals.objects.filter(cluster_id=cluster_id).values_list("node_name", "pool"))
    labels = labels_of(cluster_id, rates().label_keys)
    for node, models in cards.items():
        own = holds.get(node, [])
        if len(models) > 1 and any(one.card is None for one in own):
            # Which of its models they are on is unknown.
            models = {"": [card for pieces in models.values() for card in pieces]}
        for model, pieces in models.items():
            ids = {card.id for card in pieces}
            mine = [one for one in own if one.card is None or one.card in ids]
            hardware = Hardware(pools.get(node, ""), model, labels.get((cluster_id, node), ()))
            add_node(found[hardware], pieces, mine, known, whole)
    return found


def _by_hardware(summed: Mapping[Hardware, Mapping[Any, Sequence[int]]]) -> dict[Any, str]:
    """Namespace or owner with an allocation → its amounts by hardware."""
    found: dict[Any, list[tuple[Hardware, int, int]]] = defaultdict(list)
    for hardware, holders in summed.items():
        for holder, (cards, memory) in holders.items():
            found[holder].append((hardware, cards, memory))
    return {holder: packed_hardware(parts) for holder, parts in found.items()}


def waste(cluster_id: int, day: date) -> dict[str, tuple[int | None, ...]]:
    """Namespace → MiB-seconds of the day in the order of `_WASTE`: from its history, folded or not. None: not collected."""
    of_namespaces = {"cluster_id": cluster_id, "subject": Subject.NAMESPACE}
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
    found: dict[str, list[dict[str, packed.Values]]] = defaultdict(list)
    for name, data in HistoryDay.objects.filter(**of_namespaces, day=day).values_list("key", "data").iterator(500):
        found[name].append(recorder.day_of(data))
    minutes = HistoryMinute.objects.filter(
        **of_namespaces, folded=False, at__gte=begin, at__lt=begin + timedelta(days=1)
    ).order_by("at")
    for _hour, rows in groupby(minutes.values_list("at", "data").iterator(500), lambda row: row[0].hour):
        for name, slots in recorder.slots_of(rows).items():
            found[name].append(slots)
    return {name: tuple(_seconds(parts, column) for column in _WASTE.values()) for name, parts in found.items()}


def _seconds(parts: list[dict[str, packed.Values]], column: str) -> int | None:
    known = [value for part in parts for value in part.get(column, ()) if value is not None]
    return sum(known) * packed.SLOT_S if known else None


def known_spans(cluster_id: int, day: date, until: datetime) -> list[Span]:
    """When it is known who held what: five minutes each where the history is folded, else minutes. Ordered, apart."""
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
    first, last = int(begin.timestamp()), int(until.timestamp())
    spans: list[Span] = []
    of_cluster = {"cluster_id": cluster_id, "subject": Subject.CLUSTER}
    for data in HistoryDay.objects.filter(**of_cluster, key="", day=day).values_list("data", flat=True):
        slots = _slots(data)
        spans += [(first + slot * packed.SLOT_S, first + (slot + 1) * packed.SLOT_S) for slot in slots]
    minutes = HistoryMinute.objects.filter(
        **of_cluster, part=part_of(Subject.CLUSTER, ""), folded=False, at__gte=begin, at__lt=until
    )
    for at, data in minutes.values_list("at", "data"):
        if _is_known(data):
            spans.append((_second(at), _second(at) + _MINUTE_S))
    return _joined(spans, last)


def _slots(data: bytes | memoryview) -> list[int]:
    """Slots of a day in which something is known of what is held."""
    try:
        columns = packed.unpack_day(data)
    except packed.Unreadable as error:
        logger.error("a day of the history is taken for not known: it cannot be read: %s", error)
        return []
    told = [columns.get(name, []) for name in (packed.TOTAL, packed.ALLOCATED)]
    told.append([value or None for value in columns.get(packed.UNKNOWN, [])])
    return [slot for slot in range(packed.SLOTS) if any(slot < len(one) and one[slot] is not None for one in told)]


def _is_known(data: bytes | memoryview) -> bool:
    try:
        minute = packed.unpack_minute(data)
    except packed.Unreadable:
        return False
    values = {name: column[0] for name, column in minute.columns.items() if column}
    return any(values.get(name) is not None for name in (packed.TOTAL, packed.ALLOCATED)) or bool(
        values.get(packed.UNKNOWN)
    )


def _joined(spans: list[Span], last: int) -> list[Span]:
    joined: list[Span] = []
    for begin, end in sorted(spans):
        stop = min(end, last)
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], stop))
        elif begin < stop:
            joined.append((begin, stop))
    return joined


def _second(moment: datetime) -> int:
    return int(moment.timestamp())


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
