"""One pass over all runs of a cluster: what should be, beside what is. Level-triggered: it may come late, twice, or not at all.

Two list calls (Jobs, pods) whatever the number of runs; then one call for each run that moves. Runs are read before the
lists, so that what is missing from a list was really there before; orphans are looked up after it.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from inventory.kube.client import ApiError
from validations.lifecycle import outage, step
from validations.lifecycle.claim import claim
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.creation import create_job, is_of
from validations.lifecycle.endings import Ending, cancelled_by
from validations.lifecycle.lease import Lease
from validations.lifecycle.moves import note
from validations.lifecycle.objects import Job, Pod
from validations.lifecycle.refusals import NO_CLIENT, refusal
from validations.logstore import Moved
from validations.models import ACTIVE, Launcher, Run, State
from validations.results import end_run
from validations.suites.manifest import RUN_LABEL, job_name, run_label

logger = logging.getLogger(__name__)

#: How often a cluster without runs is looked through for Jobs that no run knows.
SWEEP_S = 300
#: Time between two looks above which the cluster counts as not seen.
UNSEEN_S = 30
#: How often Jobs are looked for that cannot be deleted now, when nothing else is to be done.
LEFT_S = 10


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
        return any(not name or name.startswith(job_name(run.pk)) for name in self.strange)


def has_work(launcher: Launcher, now: datetime) -> bool:
    """Whether a pass would find something to do."""
    if launcher.next_try_at is not None and now < launcher.next_try_at:
        return False
    mine = Run.objects.filter(cluster_id=launcher.cluster_id)
    if mine.filter(state__in=ACTIVE).exists():
        return True
    looked = launcher.reached_at is not None and now - launcher.reached_at < timedelta(seconds=LEFT_S)
    if not looked and mine.filter(state=State.ENDED, job_removed=False).exists():
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
            raise ApiError(0, NO_CLIENT, why)
        reality = Reality(api)
    except ApiError as error:
        outage.not_seen(lease, launcher, runs, error, now)
        return
    classes = launcher.runtime_classes if swept else api.runtime_classes()
    _extend(runs, launcher, now)
    fields = {} if classes is None else {"runtime_classes": classes}
    lease.update(
        reached_at=now,
        failing_since=None,
        next_try_at=None,
        error="",
        refused=outage.still_refused(launcher),
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
        end_run(run, State.QUEUED, ending=cancelled_by(run.cancelled_by).stored(), job_removed=True)
    elif now - run.state_since > timedelta(seconds=settings.RUN_QUEUE_TIMEOUT_S):
        text = f"No slot came free within {settings.RUN_QUEUE_TIMEOUT_S} s (GPUDASH_RUN_QUEUE_TIMEOUT_S). {run.waiting_message}"
        end_run(run, State.QUEUED, ending=Ending("timeout", text).stored(), job_removed=True)
    return True


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
        job = reality.jobs.get(job_name(run.pk))
        job = job if job is not None and is_of(job, run) else None
        if run.state == State.CREATING and job is None and run.cancel_requested_at is None:
            create_job(run, api) if not step.too_late(run, now) else step.give_up_creating(run, api)
            return
        pods = reality.pods[run_label(run.id)]
        step.advance(run, job, pods, reality.unreadable(run), api, now)
    except ApiError as error:
        told = refusal(error, api.namespace)
        note(run, last_error=(told.text if told else str(error))[:2000])
    except Moved:
        logger.info("run %s was moved by another process", run.pk)
    except DatabaseError:
        raise
    except Exception as error:
        logger.exception("run %s: the pass failed", run.pk)
        outage.mistaken(run, error, now)


def _reap(lease: Lease, reality: Reality, api: ClusterApi) -> None:
    """Jobs with our label and name whose run has ended, or was never there; then the runs whose Jobs are known to be away."""
    labels = {name: (job.metadata.labels or {}).get(RUN_LABEL, "") for name, job in reality.jobs.items()}
    ours = {label: reality.jobs[name] for name, label in labels.items() if name == job_name(label)}
    alive = set(Run.objects.filter(pk__in=ours, state__in=ACTIVE).values_list("pk", flat=True))
    for label, job in ours.items():
        if label in alive or job.metadata.deletionTimestamp:
            continue
        lease.update()
        try:
            api.delete(job.metadata.name, job.metadata.uid)
        except ApiError as error:
            step.left_behind(label, error, api)
    if "" in reality.strange:
        return
    waiting = Run.objects.filter(cluster_id=lease.cluster_id, state=State.ENDED, job_removed=False)
    for pk in waiting.values_list("pk", flat=True)[:1000]:
        if job_name(pk) not in reality.jobs and job_name(pk) not in reality.strange:
            Run.objects.filter(pk=pk).update(job_removed=True)
