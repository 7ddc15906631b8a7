"""The Job is created, once: its name comes from the run's id, so a second try finds the first one's."""

from __future__ import annotations

from django.utils import timezone

from inventory.kube.client import ApiError
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.endings import Ending
from validations.lifecycle.moves import move, note
from validations.lifecycle.objects import Job
from validations.lifecycle.room import no_room
from validations.models import Run, State
from validations.results import end_run
from validations.suites.gpushare import assumed_at
from validations.suites.manifest import RUN_LABEL, run_label

#: Refusals that may pass: signed out, time-out, conflict of writes, too many requests.
_PASSING = frozenset((401, 408, 425, 429))


def create_job(run: Run, api: ClusterApi) -> None:
    """creating → pending, or ended when the API server says no. Raises ApiError when it is to be tried again."""
    if told := no_room(run):
        # There was room when the run was claimed; an earlier try may have failed since then.
        note(run, last_error=told)
        return
    try:
        job = api.create(assumed_at(run.manifest, timezone.now()))
    except ApiError as error:
        if error.status == 409:
            _found(run, api)
            return
        if error.status < 400 or error.status >= 500 or error.status in _PASSING:
            note(run, last_error=f"The Job could not be created yet: {error}"[:2000])
            raise
        end_run(run, State.CREATING, ending=refusal(run, error).stored(), job_removed=True)
        return
    _created(run, api, job)


def _found(run: Run, api: ClusterApi) -> None:
    """There is a Job of this name: ours from an earlier try, or somebody else's."""
    job = api.job(run.job_name)
    if job is None:
        return  # it went away in between: the next pass creates it
    if is_of(job, run):
        _created(run, api, job)
        return
    text = f"There is a Job {run.job_name} in {run.namespace} that is not of this run; rename or delete it."
    end_run(run, State.CREATING, ending=Ending("refused", text).stored(), job_removed=True)


def is_of(job: Job, run: Run) -> bool:
    """Whether the Job carries the run's label."""
    return (job.metadata.labels or {}).get(RUN_LABEL) == run_label(run.id)


def _created(run: Run, api: ClusterApi, job: Job) -> None:
    if not adopt(run, job) and not Run.objects.filter(pk=run.pk).exclude(state=State.ENDED).exists():
        # The run ended meanwhile (cancelled, timed out): its Job must not stay.
        api.delete(job.metadata.name, job.metadata.uid)


def adopt(run: Run, job: Job) -> bool:
    """The Job is there: creating → pending."""
    return move(run, State.PENDING, timezone.now(), job_uid=job.metadata.uid[:128], last_error="")


def refusal(run: Run, error: ApiError) -> Ending:
    """A no of the API server, with its message."""
    message = error.message or str(error)
    if error.status == 404:
        text = f"The namespace {run.namespace} does not exist in the cluster; create it (GPUDASH_VALIDATION_NAMESPACE). {message}"
        return Ending("namespace", text)
    if error.status == 403 and "quota" in message.lower():
        return Ending("quota", f"A quota of the namespace {run.namespace} does not admit the Job: {message}")
    if error.status == 403:
        return Ending("forbidden", f"The cluster does not let gpudash create the Job: {message}")
    return Ending("refused", f"The API server refused the Job: {error}")
