"""One pass over all runs of a cluster: what should be, beside what is. Level-triggered: it may come late, twice, or not at all.

Two list calls (Jobs, pods) whatever the number of runs; then one call for each run that moves. Runs are read before the
lists, so that what is missing from a list was really there before; orphans are looked up after it.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from inventory.kube.client import ApiError
from validations.lifecycle import step
from validations.lifecycle.claim import claim
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.creation import create_job, is_of
from validations.lifecycle.endings import CANCELLED, Ending
from validations.lifecycle.lease import Lease
from validations.lifecycle.moves import note
from validations.lifecycle.objects import Job, Pod
from validations.logstore import Moved
from validations.models import ACTIVE, Launcher, Run, State
from validations.results import end_run
from validations.suites.manifest import RUN_LABEL, run_label

logger = logging.getLogger(__name__)

#: How often a cluster without runs is looked through for Jobs that no run knows.
SWEEP_S = 300
#: Time between two looks above which the cluster counts as not seen.
UNSEEN_S = 30
#: How long a cluster that was not reached is left alone: each try may hold a thread for a connection time-out.
RETRY_S = 10


class Reality:
    """Jobs and pods of one cluster at one moment, by run label."""

    def __init__(self, api: ClusterApi) -> None:
        jobs, pods = api.jobs(), api.pods()
        self.strange = jobs.strange | pods.strange
        self.jobs: dict[str, Job] = {job.metadata.name: job for job in jobs.objects}
        self.pods: dict[str, list[Pod]] = defaultdict(list)
        for pod in pods.objects:
            self.pods[(pod.metadata.labels or {}).get(RUN_LABEL, "")].append(pod)

    def unreadable(self, run: Run) -> bool:
        """Whether something of this run may be among what could not be read."""
        return any(not name or name.startswith(run.job_name) for name in self.strange)


def has_work(launcher: Launcher, now: datetime) -> bool:
    """Whether a pass would find something to do."""
    if launcher.next_try_at is not None and now < launcher.next_try_at:
        return False
    mine = Run.objects.filter(cluster_id=launcher.cluster_id)
    if mine.filter(Q(state__in=ACTIVE) | Q(state=State.ENDED, job_removed=False)).exists():
        return True
    return launcher.swept_at is None or now - launcher.swept_at > timedelta(seconds=SWEEP_S)


def reconcile(lease: Lease, api: ClusterApi | None, why: str = "") -> None:
    """One pass. Raises LeaseLost. Errors of the cluster are written to the launcher's row and to the runs.

    api None: there is no client for the cluster, for the reason `why`.
    """
    now = timezone.now()
    launcher = Launcher.objects.get(cluster_id=lease.cluster_id)
    runs = list(_living(lease.cluster_id))
    runs = [run for run in runs if not (run.state == State.QUEUED and _queued(run, now))]
    swept = launcher.swept_at is not None and now - launcher.swept_at <= timedelta(seconds=SWEEP_S)
    try:
        if api is None:
            raise ApiError(0, "NoClient", why)
        reality = Reality(api)
    except ApiError as error:
        _not_reached(lease, launcher, runs, error, now)
        return
    classes = launcher.runtime_classes if swept else api.runtime_classes()
    _extend(runs, launcher, now)
    fields = {} if classes is None else {"runtime_classes": classes}
    lease.update(
        reached_at=now,
        failing_since=None,
        next_try_at=None,
        error="",
        swept_at=launcher.swept_at if swept else now,
        **fields,
    )
    for run in runs:
        lease.update()
        _safely(run, reality, api, now)
    _reap(lease, reality, api)


def _living(cluster_id: int) -> list[Run]:
    """Active runs, and queued ones that get a slot now, oldest first."""
    found = []
    for run in Run.objects.filter(cluster_id=cluster_id, state__in=ACTIVE).order_by("id"):
        if run.state == State.QUEUED and run.cancel_requested_at is None:
            claim(run)
        found.append(run)
    return found


def _queued(run: Run, now: datetime) -> bool:
    """A run that waits for a slot: cancelled, or too long, or on. True: there is nothing more to do in this pass."""
    if run.cancel_requested_at is not None:
        end_run(run, State.QUEUED, ending=cancelled(run).stored(), job_removed=True)
    elif now - run.state_since > timedelta(seconds=settings.RUN_QUEUE_TIMEOUT_S):
        text = f"No slot came free within {settings.RUN_QUEUE_TIMEOUT_S} s (GPUDASH_RUN_QUEUE_TIMEOUT_S). {run.waiting_message}"
        end_run(run, State.QUEUED, ending=Ending("timeout", text).stored(), job_removed=True)
    return True


def cancelled(run: Run) -> Ending:
    return Ending(CANCELLED, f"Cancelled by {run.cancelled_by or 'an operator'}.")


def _not_reached(lease: Lease, launcher: Launcher, runs: list[Run], error: ApiError, now: datetime) -> None:
    """The runs go on: nobody knows better. Those that were not seen for too long end all the same."""
    text = f"The cluster was not reached: {error}"[:2000]
    lease.update(error=text, failing_since=launcher.failing_since or now, next_try_at=now + timedelta(seconds=RETRY_S))
    for run in runs:
        note(run, last_error=text)
        due = run.step_deadline_at
        left = timedelta(seconds=max(settings.RUN_OUTAGE_LIMIT_S - run.extended_s, 0))
        if due is not None and now > due + left:
            # The Job is not removed: it is found when the cluster is there again.
            end_run(run, run.state, ending=Ending("unreachable", text).stored(), log_complete=False)


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


def _safely(run: Run, reality: Reality, api: ClusterApi, now: datetime) -> None:
    """One run's trouble is its own: it is noted, and the next pass tries again."""
    try:
        job = reality.jobs.get(run.job_name)
        job = job if job is not None and is_of(job, run) else None
        if run.state == State.CREATING and job is None and run.cancel_requested_at is None:
            create_job(run, api) if not step.too_late(run, now) else step.give_up_creating(run, api)
            return
        pods = reality.pods[run_label(run.id)]
        step.advance(run, job, pods, reality.unreadable(run), api, now)
    except ApiError as error:
        note(run, last_error=str(error)[:2000])
    except Moved:
        logger.info("run %s was moved by another process", run.pk)


def _reap(lease: Lease, reality: Reality, api: ClusterApi) -> None:
    """Jobs with our label whose run has ended, or was never there; then the runs whose Jobs are known to be away."""
    labels = {(job.metadata.labels or {}).get(RUN_LABEL, ""): job for job in reality.jobs.values()}
    alive = set(Run.objects.filter(pk__in=labels, state__in=ACTIVE).values_list("pk", flat=True))
    for label, job in labels.items():
        if label in alive or job.metadata.deletionTimestamp:
            continue
        lease.update()
        try:
            api.delete(job.metadata.name, job.metadata.uid)
        except ApiError as error:
            logger.warning("the Job %s could not be deleted: %s", job.metadata.name, error)
    if "" in reality.strange:
        return
    waiting = Run.objects.filter(cluster_id=lease.cluster_id, state=State.ENDED, job_removed=False)
    for run in waiting.only("id", "job_name", "state")[:1000]:
        if run.job_name not in reality.jobs and run.job_name not in reality.strange:
            Run.objects.filter(pk=run.pk).update(job_removed=True)
