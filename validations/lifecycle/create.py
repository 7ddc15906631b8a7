"""The Job is created, once: its name comes from the run's id, so a second try finds the first one's.

What is posted is made anew from suite, options and place (`building`), and kept in the row for the page.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from kube.client import ApiError
from kube.workloads import Job
from validations.jobs import workload_key
from validations.lifecycle.building import CannotBuild, manifest_now
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.creations import WAIT_S, Creations, Posted
from validations.lifecycle.end import end_run
from validations.lifecycle.endings import Ending
from validations.lifecycle.gives_way import why_not
from validations.lifecycle.mine import Mine, foreign, is_of
from validations.lifecycle.moves import move, note
from validations.lifecycle.own import other_job
from validations.lifecycle.refusals import at_creation, by_rule, refusal
from validations.lifecycle.room import no_room
from validations.models import Run, State
from validations.permitted import remember
from validations.suites.engine.manifest import job_name
from wording.said import cut, of_error, sentence

#: Refusals that may pass: signed out, time-out, conflict of writes, too many requests.
_PASSING = frozenset((401, 408, 425, 429))


def create_job(run: Run, api: ClusterApi, mine: Mine, now: datetime) -> None:
    """Create the Job of one run, and wait a little for the answer: a pass finds what comes later. Raises ApiError."""
    creations = Creations(api)
    post_job(run, api, creations, mine, now)
    creations.settle(lambda run: post_job(run, api, creations, mine, now), time.monotonic() + WAIT_S)


def post_job(run: Run, api: ClusterApi, creations: Creations, mine: Mine, now: datetime) -> None:
    """Post the Job, or write what the API server has answered: creating → pending, or ended when it says no.

    What is posted is in the row before: when the answer is lost, the next pass knows the Job by it. Raises ApiError when it is to be
    tried again.
    """
    if (posted := creations.answered(run)) is not None:
        _answered(run, api, posted, mine, now)
        return
    if not creations.may_begin(run):
        return
    if full := no_room(run):
        # There was room when the run was claimed; an earlier try may have failed since then.
        note(run, last_error=full)
        return
    if (ending := why_not(run)) is not None:
        end_run(run, State.CREATING, ending=ending.stored(), job_removed=not run.last_error)
        return
    try:
        built = manifest_now(run, run.state_since)
    except CannotBuild as error:
        end_run(run, State.CREATING, ending=error.ending.stored(), job_removed=not run.last_error)
        return
    before = run.manifest
    note(run, manifest=built.manifest, own_image=built.own_image, **shown(built.manifest))
    creations.begin(run, (built.manifest, before))


def _answered(run: Run, api: ClusterApi, posted: Posted, mine: Mine, now: datetime) -> None:
    try:
        job = posted.work.result()
    except ApiError as error:
        if error.status == 409:
            _found(run, api, mine, now, posted.manifests)
            return
        if error.status < 400 or error.status >= 500 or error.status in _PASSING:
            told = refusal(error, api.namespace)
            note(
                run,
                last_error=told.text
                if told
                else sentence("The Job could not be created yet: {error}", error=cut(of_error(error), 1900)),
            )
            raise
        _refused(run, api, error)
        return
    _created(run, api, job, now)


def shown(manifest: dict[str, Any]) -> dict[str, str]:
    """Columns that say what runs."""
    image = manifest["spec"]["template"]["spec"]["containers"][0]["image"]
    return {"image": image, "workload_key": workload_key(manifest), "namespace": manifest["metadata"]["namespace"]}


def _refused(run: Run, api: ClusterApi, error: ApiError) -> None:
    """The run ends. After an earlier try whose answer was lost there may be a Job all the same: it is looked for."""
    ending = at_creation(error, api.namespace)
    if by_rule(error):
        remember(run.cluster_id, ending.code, ending.text)
    end_run(run, State.CREATING, ending=ending.stored(), job_removed=not run.last_error)


def _found(run: Run, api: ClusterApi, mine: Mine, now: datetime, posted: Iterable[Any]) -> None:
    """There is a Job of this name: ours from an earlier try, or somebody else's. posted: manifests of this try and the last."""
    name = job_name(run.pk)
    job = api.job(name)
    if job is None:
        return  # it went away in between: the next pass creates it
    if is_of(job, run) and mine.ours(job, run):
        if place := other_job(job, posted):
            end_foreign(run, place)
        else:
            _created(run, api, job, now)
        return
    if is_of(job, run):
        text = foreign(name)
    else:
        text = sentence(
            "Job {name} in {namespace} does not belong to this run. Rename or delete it.",
            name=name,
            namespace=api.namespace,
        )
    end_run(run, State.CREATING, ending=Ending("refused", text).stored(), job_removed=True)


def _created(run: Run, api: ClusterApi, job: Job, now: datetime) -> None:
    if not adopt(run, job, now) and not Run.objects.filter(pk=run.pk).exclude(state=State.ENDED).exists():
        # The run ended meanwhile (cancelled, timed out): its Job must not stay.
        api.delete(job.metadata.name, job.metadata.uid)


def end_foreign(run: Run, place: str) -> None:
    """The Job of this name was not posted by us: nothing of it is read."""
    text = sentence(
        "Job {name} differs from the one that gpudash creates ({place}). Delete it, then launch the run again.",
        name=job_name(run.pk),
        place=place,
    )
    end_run(run, run.state, ending=Ending("job-of-other-launcher", text).stored(), log_complete=False, job_removed=True)


def adopt(run: Run, job: Job, now: datetime) -> bool:
    """The Job is there: creating → pending."""
    return move(run, State.PENDING, now, job_uid=job.metadata.uid[:128].replace("\0", ""), last_error="")
