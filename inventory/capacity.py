"""How many watchers the workers can hold, and how many have no place: by what each worker says of itself, on the database's clock."""

from __future__ import annotations

from datetime import timedelta

import msgspec
from django.db.models import Sum
from django.db.models.functions import Now

from inventory.models import Watch, Worker
from inventory.models.cluster import Kind, resting
from runtime.leases.row import free
from wording.said import sentence

#: A worker that has not been seen for longer holds nothing.
GONE = timedelta(seconds=20)


class Capacity(msgspec.Struct, frozen=True):
    """workers: that are seen now. threads: of all of them. held: leases that somebody holds. waiting: that nobody does, though there
    is something to watch.
    """

    workers: int
    threads: int
    held: int
    waiting: int

    @property
    def free(self) -> int:
        return max(self.threads - self.held, 0)

    @property
    def lack(self) -> str:
        """What is missing and what to do, "" for nothing."""
        if not self.waiting or self.waiting <= self.free:
            return ""
        if not self.workers:
            return sentence("no watch worker: start one (gpudash worker watch)")
        return sentence(
            "watchers without a thread: {waiting}; free threads: {free} of {threads} in all watch workers ({workers}); "
            "start another watch worker, or raise the threads (-c; a cluster needs up to {kinds})",
            waiting=self.waiting,
            free=self.free,
            threads=self.threads,
            workers=self.workers,
            kinds=len(Kind),
        )


def capacity() -> Capacity:
    """Three queries."""
    seen = Worker.objects.filter(beat_at__gt=Now() - GONE)
    threads = list(seen.values_list("threads", flat=True))
    wanted = Watch.objects.exclude(resting())
    waiting = wanted.filter(free()).count()
    return Capacity(len(threads), sum(threads), wanted.count() - waiting, waiting)


def others_have_room(name: str) -> bool:
    """Whether a worker other than this one has a free thread, and holds less."""
    others = Worker.objects.filter(beat_at__gt=Now() - GONE).exclude(name=name)
    return others.aggregate(room=Sum("threads") - Sum("holds"))["room"] not in (None, 0)
