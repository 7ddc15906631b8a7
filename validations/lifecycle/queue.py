"""The queue of a cluster: of its runs a pass reads those that are to end there, and as many as may get a slot; never all.

Who comes first is who is due longest. A run whose node, user or cluster is full keeps its place and is not read; one that gets no
room on its card comes again a little later, so that it does not stand in the way of those behind it, nor they in its own.
Of runs that cannot begin now, because their card is full or their node is gone, a pass tries some: what is tried in vain costs as
much as what begins, and those under way wait for the end of the pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from inventory.models import Node
from validations.lifecycle.claim import claim
from validations.lifecycle.end import end_run
from validations.lifecycle.endings import Ending, cancelled_by
from validations.models import STARTED, Run, State
from validations.waiting import reasons
from wording.said import sentence

#: Runs that end in the queue, in one pass; the rest in the next.
MOST_ENDED = 50
#: A run that had no room is tried again after so many seconds.
AGAIN_S = 5
#: Runs of nodes that the cluster does not have now, and runs without room, that one pass tries.
MOST_LOST, MOST_WITHOUT_ROOM = 10, 20
#: How often more candidates are read, when those before turned out to have no slot.
_ROUNDS = 4


def started(cluster_id: int) -> list[Run]:
    """Runs under way, those first that nobody has looked at for the longest time."""
    rows = list(Run.objects.filter(cluster_id=cluster_id, state__in=STARTED))
    return sorted(rows, key=lambda run: (run.looked_at is not None, run.looked_at or run.state_since, run.pk))


def end_in_queue(cluster_id: int, now: datetime) -> None:
    """Runs that are cancelled or have waited too long, at most MOST_ENDED of each."""
    queued = Run.objects.filter(cluster_id=cluster_id, state=State.QUEUED)
    for run in queued.filter(cancel_requested_at__isnull=False)[:MOST_ENDED]:
        end_run(run, State.QUEUED, ending=cancelled_by(run.cancelled_by).stored(), job_removed=True)
    late = now - timedelta(seconds=settings.RUN_QUEUE_TIMEOUT_S)
    overdue = list(queued.filter(state_since__lt=late, cancel_requested_at=None).order_by("state_since")[:MOST_ENDED])
    why = reasons(overdue)
    for run in overdue:
        told = why[run.pk].message
        text = sentence(
            "No free slot within {run_queue_timeout_s} s (GPUDASH_RUN_QUEUE_TIMEOUT_S). {detail}",
            run_queue_timeout_s=settings.RUN_QUEUE_TIMEOUT_S,
            detail=told,
        )
        end_run(run, State.QUEUED, ending=Ending("timeout", text).stored(), job_removed=True)


def claimed(cluster_id: int, under_way: Iterable[Run], now: datetime) -> Iterator[Run]:
    """Runs that get a slot now, one by one."""
    full, lost, without_room = Full(cluster_id, under_way), MOST_LOST, MOST_WITHOUT_ROOM
    for _ in range(_ROUNDS):
        waiting = full.first(now, lost)
        for run, is_lost in waiting:
            if full.slots <= 0 or without_room <= 0:
                return
            if full.holds(run):
                continue
            lost -= is_lost
            if claim(run, now):
                full.take(run)
                yield run
            elif run.state == State.QUEUED:
                without_room -= 1
                later = now + timedelta(seconds=AGAIN_S)
                Run.objects.filter(pk=run.pk, state=State.QUEUED).update(due_at=later)
        if not waiting:
            return


class Full:
    """What is full: counted once, and counted on with each run that gets a slot."""

    def __init__(self, cluster_id: int, under_way: Iterable[Run]) -> None:
        self._cluster_id = cluster_id
        runs = list(under_way)
        self.slots = settings.MAX_RUNS_PER_CLUSTER - len(runs)
        self._nodes = Counter(run.node_name for run in runs)
        everywhere = Run.objects.filter(state__in=STARTED, requested_by__isnull=False).order_by()
        self._users = Counter(dict(everywhere.values_list("requested_by").annotate(Count("pk"))))

    def take(self, run: Run) -> None:
        self.slots -= 1
        self._nodes[run.node_name] += 1
        if run.requested_by_id is not None:
            self._users[run.requested_by_id] += 1

    def holds(self, run: Run) -> bool:
        node = self._nodes[run.node_name] >= settings.MAX_RUNS_PER_NODE
        return node or self._users[run.requested_by_id] >= settings.MAX_RUNS_PER_USER

    def first(self, now: datetime, lost: int) -> list[tuple[Run, bool]]:
        """As many candidates as there are slots, and whether the node of each is gone. lost: of how many it may be."""
        if self.slots <= 0:
            return []
        # The nodes of a group are checked when its Job is made.
        there = Exists(Node.objects.filter(cluster_id=self._cluster_id, name=OuterRef("node_name"))) | Q(node_name="")
        rows = self.candidates(now).select_related("cluster")
        found = [(run, False) for run in rows.filter(there)[: self.slots]]
        found += [(run, True) for run in rows.exclude(there)[: min(lost, self.slots)]]
        return sorted(found, key=lambda one: (one[0].due_at, one[0].pk))[: self.slots]

    def candidates(self, now: datetime) -> QuerySet[Run]:
        """Queued runs that are due and whose node and user are not full, who is due longest first."""
        nodes = [name for name, count in self._nodes.items() if count >= settings.MAX_RUNS_PER_NODE]
        users = [user for user, count in self._users.items() if count >= settings.MAX_RUNS_PER_USER]
        rows = Run.objects.filter(cluster_id=self._cluster_id, state=State.QUEUED, cancel_requested_at=None)
        rows = rows.filter(due_at__lte=now).order_by("due_at", "id")
        rows = rows.exclude(node_name__in=nodes) if nodes else rows
        return rows.exclude(requested_by__isnull=False, requested_by__in=users) if users else rows
