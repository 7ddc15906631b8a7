"""One pass over the runs of a cluster: what should be, beside what is. Level-triggered: it may come late, twice, or not at all.

It reads the runs under way, and of the queue only those that end there or get a slot. Two list calls (Jobs, pods), then one call
for each run that moves. Logs and creations are waited for last, and not for long; then what is over is deleted. Runs are read
before the lists, so that what is missing from a list was really there before; orphans are looked up after it. Nothing in it
blocks for longer than its deadline, and its lease is renewed all the while.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from inventory.models import Cluster
from kube.client import ApiError
from runtime.clock import database_now
from runtime.leases.lease import Lease, LeaseLost
from validations.lifecycle import collect, lock, outage, queue, removal, step
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.create import post_job
from validations.lifecycle.creations import WAIT_S, Creations
from validations.lifecycle.gives_way import PRIORITY_CLASS
from validations.lifecycle.lock import COPIES
from validations.lifecycle.logreads import LogReads
from validations.lifecycle.look import Look
from validations.lifecycle.mine import Mine
from validations.lifecycle.moves import note
from validations.lifecycle.reality import Reality
from validations.lifecycle.refusals import NO_CLIENT, refusal
from validations.logstore import Moved
from validations.maker import maker
from validations.models import ACTIVE, Launcher, Run, State
from validations.permitted import credentials_refused
from wording.said import cut, of_error

logger = logging.getLogger(__name__)

#: How often a cluster without runs is looked through for Jobs that no run knows.
SWEEP_S = 300
#: Time between two looks above which the cluster counts as not seen.
UNSEEN_S = 30
#: How long one pass looks at runs, from its lists on; less than its lease.
BUDGET_S = 10.0
#: How often a copy of the database looks whether it still is one.
COPY_S = 20


def with_work() -> list[int]:
    """Clusters in which a pass would find something to do: two queries, however many there are; all by the database's clock."""
    missing = Cluster.objects.filter(launcher=None).values_list("pk", flat=True)
    Launcher.objects.bulk_create([Launcher(cluster_id=pk) for pk in missing], ignore_conflicts=True)
    mine = Run.objects.filter(cluster_id=OuterRef("cluster_id"))
    left = mine.filter(Q(delete_next_at=None) | Q(delete_next_at__lte=Now()), state=State.ENDED, job_removed=False)
    swept = Q(swept_at__isnull=False, swept_at__gte=Now() - timedelta(seconds=SWEEP_S))
    due = Launcher.objects.filter(Q(next_try_at=None) | Q(next_try_at__lte=Now()))
    # Who asks for a run is told of a refusal, so it must not be known for longer than it lasts.
    found = due.filter(~swept | credentials_refused() | Exists(mine.filter(state__in=ACTIVE)) | Exists(left))
    return list(found.order_by("reached_at", "cluster_id").values_list("cluster_id", flat=True))


def reconcile(lease: Lease, api: ClusterApi | None, why: str = "") -> None:
    """One pass. Raises LeaseLost. Errors of the cluster are written to the launcher's row and to the runs.

    api None: there is no client for the cluster, for the reason `why`.
    """
    launcher = Launcher.objects.get(cluster_id=lease.cluster_id)
    now = database_now()
    runs = queue.started(lease.cluster_id)
    try:
        if api is None:
            raise ApiError(0, NO_CLIENT, why)
        api.meanwhile = lease.tick
        if lock.hold(lease, launcher, api, maker(), now) in COPIES:
            lease.update(next_try_at=now + timedelta(seconds=COPY_S))
            return
        queue.end_in_queue(lease.cluster_id, now)
        runs += queue.claimed(lease.cluster_id, runs, now)
        reality = Reality(api)
    except ApiError as error:
        queue.end_in_queue(lease.cluster_id, now)
        outage.not_seen(lease, launcher, runs, error, now)
        return
    _extend(runs, launcher, now)
    _reached(lease, launcher, api, now)
    mine = Mine(frozenset((maker(), *launcher.makers)))
    _look_at(runs, lease, reality, Look(api, now, LogReads(api, now, runs), mine, Creations(api)), launcher)


def _reached(lease: Lease, launcher: Launcher, api: ClusterApi, now: datetime) -> None:
    fields: dict[str, Any] = {}
    if launcher.swept_at is None or now - launcher.swept_at > timedelta(seconds=SWEEP_S):
        fields["swept_at"] = now
        if (classes := api.runtime_classes()) is not None:
            fields["runtime_classes"] = classes
        if (gives_way := api.gives_way(PRIORITY_CLASS)) is not None:
            fields["gives_way"] = gives_way
    known = {"failing_since": None, "next_try_at": None, "tries": 0, "error": ""}
    lease.update(reached_at=now, refused=outage.still_refused(launcher), **known, **fields)


def _look_at(runs: list[Run], lease: Lease, reality: Reality, look: Look, launcher: Launcher) -> None:
    """Each run in its turn. What a pass has no time for comes first in the next one."""
    ends = time.monotonic() + BUDGET_S
    seen: list[str] = []
    try:
        for run in runs:
            if time.monotonic() > ends:
                logger.info("cluster %s: %s runs wait for the next pass", lease.cluster_id, len(runs) - len(seen))
                break
            lease.tick()
            seen.append(run.pk)
            _safely(run, look, partial(_advance, run, reality, look))
        until = min(ends, time.monotonic() + WAIT_S)
        look.logs.settle(partial(_again, reality, look), ends)
        look.creations.settle(partial(_again, reality, look, ends=True), until)
    finally:
        Run.objects.filter(pk__in=seen).exclude(state=State.ENDED).update(looked_at=look.now)
    lease.tick()
    removal.remove(lease, launcher, reality, look)


def _again(reality: Reality, look: Look, run: Run, ends: bool) -> None:
    """The log that a run waited for has come, or it has not: the run is looked at once more, or its new bytes are stored."""
    _safely(run, look, partial(_advance, run, reality, look) if ends else partial(_follow, run, look))


def _follow(run: Run, look: Look) -> None:
    error = collect.follow_log(run, look)
    if error is not None:
        note(run, last_error=error)


def _advance(run: Run, reality: Reality, look: Look) -> None:
    job = reality.job_of(run)
    if run.state == State.CREATING and job is None and run.cancel_requested_at is None:
        if step.too_late(run, look.now):
            step.give_up_creating(run, look)
        else:
            post_job(run, look.api, look.creations, look.mine, look.now)
        return
    step.advance(run, job, reality.pods_of(run), reality.unreadable(run), look)


def _extend(runs: list[Run], launcher: Launcher, now: datetime) -> None:
    """Put the deadlines off by the time that nobody looked (an outage of the cluster, or of gpudash), up to the limit."""
    if launcher.reached_at is None or now - launcher.reached_at < timedelta(seconds=UNSEEN_S):
        return
    for run in runs:
        if run.step_deadline_at is None:
            continue
        unseen = now - max(launcher.reached_at, run.state_since)
        more = min(int(unseen.total_seconds()), settings.RUN_OUTAGE_LIMIT_S - run.extended_s)
        if more > 0:
            later = run.step_deadline_at + timedelta(seconds=more)
            note(run, step_deadline_at=later, extended_s=run.extended_s + more)


def _safely(run: Run, look: Look, work: Callable[[], None]) -> None:
    """One run's trouble is its own: it is noted, and the next pass tries again. Only a lost connection ends the pass."""
    try:
        work()
    except ApiError as error:
        told = refusal(error, look.api.namespace)
        note(run, last_error=cut(told.text if told else of_error(error), 2000))
    except Moved:
        logger.info("run %s was moved by another process", run.pk)
    except (LeaseLost, *outage.LOST):
        raise
    except Exception as error:
        logger.exception("run %s: the pass failed", run.pk)
        outage.mistaken(run, error, look.now)
