"""The Job of an ended run goes away, at the end of the pass: no run waits for a deletion, and all of them have REMOVE_S.

Where the cluster does not let it, it is tried again ever more rarely, and said once. Each Job gets one DELETE in a pass at most.
When it is tried next stands in the run's row; for a Job that no row knows, in the launcher's (`Launcher.strays`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from kube.client import ApiError
from kube.workloads import Job
from runtime.leases.lease import Lease
from validations.lifecycle.cluster_api import DELETE
from validations.lifecycle.look import Look
from validations.lifecycle.mine import delete_job
from validations.lifecycle.reality import Reality
from validations.lifecycle.refusals import refusal
from validations.lifecycle.wordings import wordings
from validations.models import Launcher, Run, State
from validations.suites.engine.manifest import job_name
from wording.said import cut, of_error, sentence, stored

logger = logging.getLogger(__name__)

#: A Job whose deletion was accepted is looked for after so many seconds.
LOOK_S = 5
#: The first failure is tried again by the next pass; from then on after so many seconds, twice as many each time.
FIRST_S, LONGEST_S = 10, 600
#: Tries after which a Job that is being deleted counts as held by its finalizers.
PATIENT = 3
#: How long one pass deletes. It stops at the first call that hangs: that one comes again ever more rarely, the others in the next.
REMOVE_S = 5.0
#: Jobs that one pass deletes at most.
MOST = 100
MOST_STRAYS = 1000


def later(now: datetime, tries: int) -> datetime:
    """When the next try is due after so many that did not help."""
    return now + timedelta(seconds=min(FIRST_S * 2 ** min(tries - 2, 10), LONGEST_S) if tries > 1 else 0)


def remove(lease: Lease, launcher: Launcher, reality: Reality, look: Look) -> None:
    """The Jobs of runs that have just ended; then what is left of others."""
    until = time.monotonic() + REMOVE_S
    tried: set[str] = set()
    for run in look.ended:
        if not _may(look, until):
            break
        lease.tick()
        tried.add(run.pk)
        _remove(run, look)
    _reap(lease, launcher, reality, look, tried, until)


def _may(look: Look, until: float) -> bool:
    return time.monotonic() < until and not look.api.hangs(DELETE)


def _remove(run: Run, look: Look) -> None:
    """Whether it is really away says the next list: finalizers take their time."""
    try:
        delete_job(run, look.api, look.mine)
    except ApiError as error:
        _stays(run, _words(run.pk, error, look), look.now)
    else:
        _next(run, look.now + timedelta(seconds=LOOK_S), delete_tries=run.delete_tries + 1)


def _words(run_id: str, error: ApiError, look: Look) -> str:
    told = refusal(error, look.api.namespace)
    return sentence(
        "Job {job} still exists in the cluster: {text}",
        job=job_name(run_id),
        text=told.text if told else cut(of_error(error), 1800),
    )


def _stays(run: Run, text: str, now: datetime) -> None:
    """The run's page says why; the log says it when it begins."""
    if not run.last_error:
        logger.warning("run %s: %s It is tried again, ever more rarely.", run.pk, text)
    run.last_error = text
    tries = min(run.delete_tries + 1, 1000)
    columns = {"delete_tries": tries, "last_error": text}
    _next(run, later(now, tries), **columns, **wordings(run, columns))


def _next(run: Run, at: datetime, **columns: Any) -> None:
    Run.objects.filter(pk=run.pk, state=State.ENDED).update(delete_next_at=at, **columns)


def _reap(lease: Lease, launcher: Launcher, reality: Reality, look: Look, tried: set[str], until: float) -> None:
    """Our Jobs whose run has ended, or was never there; then the runs whose Jobs are known to be away."""
    known = {run.pk: run for run in _rows(reality.by_run)}
    strays: dict[str, Any] = {}
    done = 0
    for run_id, job in reality.by_run.items():
        run = known.get(run_id)
        if (run is not None and run.active) or not look.mine.ours(job, run) or run_id in tried:
            continue
        if run is None:
            strays |= _kept(launcher, job)
        if done < MOST and _due(launcher, run, job, look.now) and _may(look, until):
            lease.tick()
            done += 1
            if run is None:
                strays |= _remove_stray(launcher, job, look)
            else:
                _remove_again(run, job, look)
    if strays != launcher.strays:
        lease.update(strays=dict(list(strays.items())[:MOST_STRAYS]))
    _gone(launcher.cluster_id, reality)


def _rows(run_ids: Iterable[str]) -> Iterable[Run]:
    columns = ("id", "state", "job_uid", "delete_tries", "delete_next_at", "last_error", "wordings")
    return Run.objects.filter(pk__in=list(run_ids)).only(*columns)


def _due(launcher: Launcher, run: Run | None, job: Job, now: datetime) -> bool:
    if run is not None:
        return run.delete_next_at is None or run.delete_next_at <= now
    try:
        return datetime.fromisoformat(launcher.strays[job.metadata.name][1]) <= now
    except (KeyError, IndexError, TypeError, ValueError):
        return True


def _kept(launcher: Launcher, job: Job) -> dict[str, Any]:
    name = job.metadata.name
    return {name: launcher.strays[name]} if name in launcher.strays else {}


def _remove_again(run: Run, job: Job, look: Look) -> None:
    try:
        if held := _held(job):
            if run.delete_tries < PATIENT:
                _next(run, later(look.now, run.delete_tries + 1), delete_tries=run.delete_tries + 1)
            else:
                _stays(run, held, look.now)
            return
        look.api.delete(job.metadata.name, job.metadata.uid)
    except ApiError as error:
        _stays(run, _words(run.pk, error, look), look.now)
    else:
        _next(run, max(later(look.now, run.delete_tries), look.now + timedelta(seconds=LOOK_S)))


def _held(job: Job) -> str:
    """Why a Job that is being deleted is still there; "" for one that is not."""
    if not job.metadata.deletionTimestamp:
        return ""
    names = ", ".join(job.metadata.finalizers or [])[:1800].replace("\0", "") or sentence("none visible")
    return sentence(
        "Job {name} still exists in the cluster: finalizers block its deletion ({names}).",
        name=job.metadata.name,
        names=names,
    )


def _remove_stray(launcher: Launcher, job: Job, look: Look) -> dict[str, Any]:
    """The same for a Job that no row knows: what is to be kept of it, {} when its deletion was accepted."""
    name = job.metadata.name
    before = launcher.strays.get(name) or [0, "", ""]
    text = _held(job)
    if not text:
        try:
            look.api.delete(name, job.metadata.uid)
        except ApiError as error:
            text = sentence(
                "Job {name}, which belongs to no run, still exists in the cluster: {error}",
                name=name,
                error=cut(of_error(error), 900),
            )
        else:
            logger.warning(
                "The Job %s is of no run that this database knows (was a backup put back?): it is removed.", name
            )
    if text and not before[2]:
        logger.warning("%s It is tried again, ever more rarely.", text)
    tries = min(int(before[0]) + 1, 1000)
    at = later(look.now, tries) if text else look.now + timedelta(seconds=LOOK_S)
    return {name: [tries, at.isoformat(), text, stored(text)]}


def _gone(cluster_id: int, reality: Reality) -> None:
    """Nothing of these runs is left in the cluster: one query for all."""
    if "" in reality.strange:
        return
    waiting = Run.objects.filter(cluster_id=cluster_id, state=State.ENDED, job_removed=False)
    there = reality.jobs.keys() | reality.strange
    rows = waiting.values_list("pk", "last_error").iterator(2000)
    gone = {pk: text for pk, text in rows if job_name(pk) not in there}
    waiting.filter(pk__in=list(gone)).update(job_removed=True, last_error="", delete_next_at=None)
    for run_id in (pk for pk, text in gone.items() if text):
        logger.info("run %s: its Job, which could not be deleted, is away now", run_id)
