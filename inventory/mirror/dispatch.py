"""Which watchers are sent to workers: no more than they have threads for, and each once until it was taken or its message lost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from celery import current_app
from django.db import close_old_connections, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from inventory.capacity import Capacity, others_have_room
from inventory.mirror.keeper import keeper
from inventory.models import Watch, Worker
from inventory.models.cluster import Kind, WatchState, resting
from runtime.leases.lease import PROCESS
from runtime.leases.row import free
from runtime.messages import LOST, queue_length

TASK, QUEUE = "inventory.tasks.watch", "watch"
#: A watcher that was asked for and is not taken after this is asked for again, unless its message still lies in the queue.
AGAIN = timedelta(seconds=12)
#: First lists that a worker reads at once. With hundreds, its threads wait for connections and memory until their leases run out.
FIRST_LISTS = 40
#: A first list that takes longer is not counted: a slow cluster does not delay the others.
SLOW = timedelta(seconds=30)
#: A worker that holds this many more than its share leaves a first message to the others.
SLACK = 4


def dispatch(room: Capacity) -> int:
    """Send what there is room for. Returns how many messages were sent."""
    waiting = Watch.objects.filter(free()).exclude(resting())
    on_their_way = waiting.filter(sent_at__gt=Now() - AGAIN)
    places = room.free - on_their_way.count() if room.waiting else 0
    if places <= 0:
        return 0
    again = Q(sent_at__lte=Now() - AGAIN)
    if waiting.filter(again).exists() and queue_length(QUEUE):
        again = Q(sent_at__lte=Now() - LOST)  # it may still lie there
    idle = waiting.filter(Q(sent_at=None) | again).order_by("cluster_id", "kind")
    chosen = list(idle.values_list("pk", "cluster_id", "kind", "synced_at"))
    first = [pk for pk, _, kind, synced_at in chosen if synced_at is None and kind != Kind.CARDS]
    too_many = set(first[max(FIRST_LISTS * room.workers - _first_lists(), 0) :]) if first else ()
    return _send([(pk, cluster_id, kind) for pk, cluster_id, kind, _ in chosen if pk not in too_many][:places])


def _first_lists() -> int:
    """How many are being read now, or are on their way to a worker."""
    lists = Watch.objects.filter(synced_at=None, state__in=(WatchState.WAITING, WatchState.LISTING))
    lately = Q(state_since=None) | Q(state_since__gt=Now() - SLOW)
    now = (~free() & lately) | Q(sent_at__gt=Now() - AGAIN)
    return lists.exclude(kind=Kind.CARDS).filter(now).count()


def _send(chosen: Sequence[tuple[int, int, str]]) -> int:
    """Written down first: a message that is not sent is asked for again, one that is sent twice finds the lease held.

    A row that is locked is being written by a watcher that is late: it is left out, and nobody waits.
    """
    with transaction.atomic():
        rows = Watch.objects.select_for_update(skip_locked=True).filter(pk__in=[pk for pk, *_ in chosen])
        ready = set(rows.values_list("pk", flat=True))
        Watch.objects.filter(pk__in=ready).update(sent_at=Now(), sent=F("sent") + 1)
    for pk, cluster_id, kind in chosen:
        if pk in ready:
            current_app.send_task(TASK, (cluster_id, kind), queue=QUEUE)
    return len(ready)


def ask_again(cluster_id: int, kind: str) -> None:
    """This process has no thread for it: the next look sends it anew, and another may take it."""
    Watch.objects.filter(free(), cluster_id=cluster_id, kind=kind).update(sent_at=None)
    close_old_connections()


def give_way(cluster_id: int, kind: str) -> bool:
    """Whether this process leaves a watcher to another, which has fewer. Only the first message: no watcher waits for long."""
    if not keeper.running or keeper.holds < SLACK:
        return False
    workers = Worker.objects.count()
    if workers < 2 or keeper.holds < Watch.objects.exclude(resting()).count() / workers + SLACK:
        return False
    mine = Watch.objects.filter(free(), cluster_id=cluster_id, kind=kind, sent=1)
    return mine.exists() and others_have_room(PROCESS) and mine.update(sent_at=None) == 1
