"""Why a run waits, said when somebody looks: five queries however many runs, none where none is under way.

A row of the queue is written only when it was tried; what holds up thousands at once (limits, a cluster that does not answer, a copy
of the database, no worker that launches) is counted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.conf import settings

from inventory.processes import pulse_of
from runtime.clock import database_now
from runtime.models import Role
from validations.copies import copy_words
from validations.models import STARTED, Launcher, Run, State
from validations.models.run import said_of
from validations.software import CODE, Cause, causes
from wording.said import Said, quote, restored, sentence, series

#: States in which no container runs yet.
_NOT_STARTED = (State.QUEUED, State.CREATING, State.PENDING, State.PULLING)
#: No launch worker is seen.
NO_WORKER = "no-worker"


class Why(NamedTuple):
    """A word that stays, and a text. Both "" for a run that nothing is known to hold up."""

    reason: str
    message: str


def tell(rows: Iterable[Run]) -> None:
    """Put into the rows why they wait (`pending_reason`, `pending_message`), which is not saved."""
    active = [run for run in rows if run.state != State.ENDED]
    queued = [run for run in active if run.state == State.QUEUED]
    launchers = _launchers({run.cluster_id for run in active}) if active else {}
    why = _no_worker(queued) or reasons(queued, launchers)
    for run in active:
        copy = copy_words(launchers[run.cluster_id]) if run.cluster_id in launchers else ""
        if copy or run.pk in why:
            run.pending_reason, run.pending_message = Why("copy", copy) if copy else why[run.pk]
    _tell_software([run for run in active if run.state in _NOT_STARTED])


def _tell_software(waiting: Sequence[Run]) -> None:
    """Add what of the software of their nodes keeps them from starting: that of a node comes and goes while a run waits."""
    found = causes((run.cluster_id, run.node_name) for run in waiting)
    now = database_now() if found else None
    for run in waiting:
        cause = found.get((run.cluster_id, run.node_name))
        if cause is not None and now is not None and cause.blocks:
            run.pending_reason, run.pending_message = _with(run, cause, now)


def _with(run: Run, cause: Cause, now: datetime) -> Why:
    """What is said already comes first: it is of the run itself."""
    message = restored(run.pending_message, said_of(run, "pending_message"))
    told = cause.lasting(now)
    if not message:
        return Why(run.pending_reason or CODE, told)
    return Why(run.pending_reason, series([message if isinstance(message, Said) else quote(message), told]))


def _no_worker(queued: Sequence[Run]) -> dict[str, Why]:
    """Of all of them, where no launch worker is seen: then nobody looks at what else may hold them up."""
    missing = pulse_of(Role.LAUNCH).reason if queued else ""
    return {run.pk: Why(NO_WORKER, missing) for run in queued} if missing else {}


def reasons(queued: Iterable[Run], launchers: dict[int, Launcher] | None = None) -> dict[str, Why]:
    """By id of the run. launchers: of their clusters, where they are known."""
    runs = list(queued)
    if not runs:
        return {}
    counted = _Counted(_launchers({run.cluster_id for run in runs}) if launchers is None else launchers)
    return {run.pk: counted.why(run) for run in runs}


def _launchers(clusters: set[int]) -> dict[int, Launcher]:
    rows = Launcher.objects.filter(cluster_id__in=clusters).select_related("cluster")
    return {row.cluster_id: row for row in rows}


class _Counted:
    """The runs under way, by what the limits count. They are few: the limits hold."""

    def __init__(self, launchers: dict[int, Launcher]) -> None:
        self._launchers = launchers
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
        if launcher is not None and launcher.failing_since is not None:
            return Why(
                launcher.refused.get("code", "") if launcher.refused else "unreachable",
                restored(launcher.error, launcher.wording),
            )
        if full := self._full(run):
            return Why("NoSlot", full)
        return Why(run.pending_reason, restored(run.pending_message, said_of(run, "pending_message")))

    def _full(self, run: Run) -> str:
        if self._clusters[run.cluster_id] >= settings.MAX_RUNS_PER_CLUSTER:
            return cluster_full()
        if self._nodes[run.cluster_id, run.node_name] >= settings.MAX_RUNS_PER_NODE:
            return node_full()
        if run.requested_by_id is not None and self._users[run.requested_by_id] >= settings.MAX_RUNS_PER_USER:
            return user_full()
        return ""


def cluster_full() -> str:
    return sentence(
        "Limit of active runs in this cluster reached: {max_runs_per_cluster} (GPUDASH_MAX_RUNS_PER_CLUSTER).",
        max_runs_per_cluster=settings.MAX_RUNS_PER_CLUSTER,
    )


def node_full() -> str:
    return sentence(
        "Limit of active runs on this node reached: {max_runs_per_node} (GPUDASH_MAX_RUNS_PER_NODE).",
        max_runs_per_node=settings.MAX_RUNS_PER_NODE,
    )


def user_full() -> str:
    return sentence(
        "Limit of active runs of this user reached: {max_runs_per_user} (GPUDASH_MAX_RUNS_PER_USER).",
        max_runs_per_user=settings.MAX_RUNS_PER_USER,
    )
