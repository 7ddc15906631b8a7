"""What the Prometheus of a cluster says of a card's or a node's past, for a chart: wanted here, asked for by a collector.

The web process asks no Prometheus, since a token may be needed that it does not have. It leaves a row that says what is wanted and
sends a message; until there is an answer a chart shows what gpudash wrote down itself. Sums over more than a node are always
gpudash's own: in a Prometheus two exporters, slices or relabelled series would be counted twice.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models.functions import Now

from inventory.history import packed
from inventory.history.named import Named
from inventory.history.series import Series, Window, scaled
from inventory.models import HistoryAnswer, Subject, UsageSource
from inventory.models.usage import SourceState, Way
from runtime.messages import send_once

TASK = "inventory.tasks.ask_past"
#: An answer is good for half a step of its window, within these; what is asked for and not answered is asked for again after AGAIN.
GOOD_LEAST, GOOD_MOST = timedelta(minutes=1), timedelta(minutes=15)
AGAIN = timedelta(seconds=30)
#: So many may wait for an answer; who comes then sees what gpudash wrote down itself.
MOST_WAITING = 64
#: A row that nobody has wanted for so long is deleted.
KEPT = timedelta(days=1)


class Past(NamedTuple):
    """asking: an answer is under way, so ask again in a moment. reason: why there is none; "" where there is, or none is wanted."""

    series: Series
    source: str
    asking: bool
    reason: str


def with_past(named: Named, window: Window, own: Series, now: datetime) -> Past:
    """What gpudash wrote down, and over it what the Prometheus of the cluster knows, where it has one that answers."""
    if named.subject not in (Subject.CARD, Subject.NODE) or not _has_prometheus(named.cluster.pk):
        return Past(own, "gpudash", False, "")
    row = HistoryAnswer.objects.filter(
        cluster=named.cluster, subject=named.subject, key=named.key, window=window.name
    ).first()
    fresh = row is not None and row.answered_at is not None and now - row.answered_at < _good(window)
    asking = False if fresh else _want(named, window, row, now)
    if row is None or row.answered_at is None or row.begins_at is None or row.data is None:
        return Past(own, "gpudash", asking, row.reason if row else "")
    return Past(_over(own, row), "prometheus", asking, row.reason)


def _has_prometheus(cluster_id: int) -> bool:
    sources = UsageSource.objects.filter(cluster_id=cluster_id, way=Way.PROMETHEUS, state=SourceState.READING)
    return sources.exists()


def _good(window: Window) -> timedelta:
    return min(max(timedelta(seconds=window.step_s / 2), GOOD_LEAST), GOOD_MOST)


def _want(named: Named, window: Window, row: HistoryAnswer | None, now: datetime) -> bool:
    """Say what is wanted, and send for it. Whether an answer is under way."""
    if row is not None and now - row.wanted_at < AGAIN and (row.answered_at is None or row.answered_at < row.wanted_at):
        return True
    if HistoryAnswer.objects.filter(answered_at=None, wanted_at__gt=now - AGAIN).count() >= MOST_WAITING:
        return False
    wanted, _made = HistoryAnswer.objects.update_or_create(
        cluster=named.cluster, subject=named.subject, key=named.key, window=window.name, defaults={"wanted_at": Now()}
    )
    transaction.on_commit(lambda: send_once(TASK, (wanted.pk,)))
    return True


def _over(own: Series, row: HistoryAnswer) -> Series:
    """A step that Prometheus knows is Prometheus', whatever of it gpudash wrote down. The answer may be some steps old."""
    assert row.begins_at is not None
    assert row.data is not None
    try:
        columns = packed.unpack_columns(row.data, own.length)
    except packed.Unreadable:
        return own
    late = round((own.begin - row.begins_at).total_seconds() / own.step_s)
    made = dict(own.columns)
    for name, values in columns.items():
        told = scaled(name, values)
        moved = [told[place + late] if 0 <= place + late < len(told) else None for place in range(own.length)]
        before = made.get(name, [None] * own.length)
        made[name] = [_better(name, new, old) for new, old in zip(moved, before, strict=True)]
    return Series(own.begin, own.step_s, own.length, made)


def _better(name: str, new: float | None, old: float | None) -> float | None:
    """gpudash looks each minute, a long chart's questions are further apart: the higher peak is the true one."""
    if new is None or old is None:
        return old if new is None else new
    return max(new, old) if name == packed.USED_MOST else new


def forget(now: datetime) -> int:
    """Delete what nobody wants any more."""
    return HistoryAnswer.objects.filter(wanted_at__lt=now - KEPT).delete()[0]
