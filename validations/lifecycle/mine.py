"""Which Jobs are ours to follow and to delete: those that this database made, not those that a copy of it, or its original, made."""

from __future__ import annotations

import msgspec

from kube.workloads import Job
from validations.lifecycle.cluster_api import ClusterApi
from validations.maker import MAKER_LABEL
from validations.models import Run
from validations.suites.engine.manifest import RUN_LABEL, job_name, run_label
from wording.said import sentence


def foreign(name: str) -> str:
    """What is said of a Job of this name that is not ours."""
    return sentence(
        "Job {name} was created by another launcher: a copy of this database, or its original.",
        name=name,
    )


class Mine(msgspec.Struct, frozen=True):
    """makers: we, and those from whom we took over."""

    makers: frozenset[str]

    def ours(self, job: Job, run: Run | None) -> bool:
        """Whether the Job may be followed and deleted. run: that of its label, None for none.

        A Job of a version before has no maker's label: it is ours when a run of ours is known to have made it.
        """
        maker = (job.metadata.labels or {}).get(MAKER_LABEL, "")
        return maker in self.makers if maker else run is not None and run.job_uid in ("", job.metadata.uid)

    def foreign(self, job: Job, run: Run) -> bool:
        """A Job of this run's name and label that another launcher made."""
        return is_of(job, run) and not self.ours(job, run)


def is_of(job: Job, run: Run) -> bool:
    """Whether the Job carries the run's label."""
    return (job.metadata.labels or {}).get(RUN_LABEL) == run_label(run.id)


def delete_job(run: Run, api: ClusterApi, mine: Mine) -> None:
    """Delete the Job of a run, if it is the run's and ours. Raises ApiError."""
    uid = run.job_uid
    if not uid:
        # The answer to its creation was lost, or there never was one: what has its name is looked at first.
        job = api.job(job_name(run.pk))
        if job is None or not is_of(job, run) or not mine.ours(job, run):
            return
        uid = job.metadata.uid
    api.delete(job_name(run.pk), uid)
