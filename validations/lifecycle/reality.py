"""Jobs and pods of one cluster at one moment: two list calls, whatever the number of runs."""

from __future__ import annotations

from collections import defaultdict

from kube.workloads import Job, Pod
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.mine import is_of
from validations.models import Run
from validations.suites.engine.manifest import RUN_LABEL, job_name, run_label


class Reality:
    """jobs: by name. pods: by run label. by_run: Jobs that are named after the run of their label. Raises ApiError."""

    def __init__(self, api: ClusterApi) -> None:
        jobs, pods = api.jobs(), api.pods()
        self.strange = jobs.strange | pods.strange
        self.jobs: dict[str, Job] = {job.metadata.name: job for job in jobs.objects}
        labels = {name: (job.metadata.labels or {}).get(RUN_LABEL, "") for name, job in self.jobs.items()}
        self.by_run = {label: self.jobs[name] for name, label in labels.items() if name == job_name(label)}
        self.pods: dict[str, list[Pod]] = defaultdict(list)
        for pod in pods.objects:
            self.pods[(pod.metadata.labels or {}).get(RUN_LABEL, "")].append(pod)

    def unreadable(self, run: Run) -> bool:
        """Whether something of this run may be among what could not be read."""
        return any(not name or name.startswith(job_name(run.pk)) for name in self.strange)

    def job_of(self, run: Run) -> Job | None:
        job = self.jobs.get(job_name(run.pk))
        return job if job is not None and is_of(job, run) else None

    def pods_of(self, run: Run) -> list[Pod]:
        return self.pods.get(run_label(run.id), [])
