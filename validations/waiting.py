"""Why a run in the queue waits, said when somebody looks: three queries however many runs, none where no run is queued.

A row of the queue is written only when it was tried; what holds up thousands at once (limits, a cluster that does not answer, a copy
of the database) is counted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.conf import settings
from django.db.models import QuerySet

from validations.copies import copy_words
from validations.models import STARTED, Launcher, Run, State


class Why(NamedTuple):
    """A word that stays, and a text. Both "" for a run that nothing is known to hold up."""

    reason: str
    message: str


def tell(rows: Iterable[Run]) -> list[Run]:
    """The same runs; queued ones with why they wait in `waiting_reason` and `waiting_message`, which are not saved."""
    found = list(rows)
    why = reasons(run for run in found if run.state == State.QUEUED)
    for run in found:
        if run.pk in why:
            run.waiting_reason, run.waiting_message = why[run.pk]
    return found


def reasons(queued: Iterable[Run]) -> dict[str, Why]:
    """By id of the run."""
    runs = list(queued)
    if not runs:
        return {}
    counted = _Counted({run.cluster_id for run in runs})
    return {run.pk: counted.why(run) for run in runs}


def _launchers(clusters: set[int]) -> QuerySet[Launcher]:
    return Launcher.objects.filter(cluster_id__in=clusters).select_related("cluster")


class _Counted:
    """The runs under way, by what the limits count. They are few: the limits hold."""

    def __init__(self, clusters: set[int]) -> None:
        self._launchers = {row.cluster_id: row for row in _launchers(clusters)}
        self._clusters: Counter[int] = Counter()
        self._nodes: Counter[tuple[int, str]] = Counter()
        self._users: Counter[int | None] = Counter()
        rows = Run.objects.filter(state__in=STARTED).values_list("cluster_id", "node_name", "requested_by_id")
        for cluster, node, user in rows:
            self._clusters[cluster] += 1
            self._nodes[cluster, node] += 1
            self._users[user] += 1

    def why(self, run: Run) -> Why:
        launcher = self._launchers.get(run.cluster_id)
        if launcher is not None and (copy := copy_words(launcher)):
            return Why("copy", copy)
        if launcher is not None and launcher.failing_since is not None:
            return Why(launcher.refused.get("code", "") if launcher.refused else "unreachable", launcher.error)
        if full := self._full(run):
            return Why("NoSlot", full)
        return Why(run.waiting_reason, run.waiting_message)

    def _full(self, run: Run) -> str:
        if self._clusters[run.cluster_id] >= settings.MAX_RUNS_PER_CLUSTER:
            return cluster_full()
        if self._nodes[run.cluster_id, run.node_name] >= settings.MAX_RUNS_PER_NODE:
            return node_full()
        if run.requested_by_id is not None and self._users[run.requested_by_id] >= settings.MAX_RUNS_PER_USER:
            return user_full()
        return ""


def cluster_full() -> str:
    return f"{settings.MAX_RUNS_PER_CLUSTER} runs are under way in this cluster (GPUDASH_MAX_RUNS_PER_CLUSTER)."


def node_full() -> str:
    return f"{settings.MAX_RUNS_PER_NODE} runs are under way on this node (GPUDASH_MAX_RUNS_PER_NODE)."


def user_full() -> str:
    return f"{settings.MAX_RUNS_PER_USER} runs of this user are under way (GPUDASH_MAX_RUNS_PER_USER)."
