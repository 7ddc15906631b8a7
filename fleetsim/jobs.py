"""The Job controller of the demo: Jobs come by POST, each gets a pod, and their status follows the pod.

Deadlines, time to live and foreground deletion are looked at each second (level-triggered), so a patch takes effect too.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from fleetsim import jobshape, pods, teams
from fleetsim.clock import rfc3339, unix
from fleetsim.jobpods import JobPods
from fleetsim.programs import Program
from fleetsim.resources import JOBS, NAMESPACES, PODS
from fleetsim.world import World

Job = dict[str, Any]
Pod = dict[str, Any]

SWEEP_S = 1.0
BACKOFF_S = 10.0
_UID_LABEL, _NAME_LABEL = "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"


class Jobs:
    """All Jobs of one world."""

    def __init__(self, world: World, programs: Sequence[Program]) -> None:
        self.world = world
        self.pods = JobPods(world, programs, self._pod_started, self._pod_ended)
        world.on_removed.append(self._pod_removed)
        world.timeline.after(SWEEP_S, self._sweep)

    def owns(self, pod: Pod) -> bool:
        """Whether a Job that was created here made this pod; its logs are recordings or there are none."""
        return _UID_LABEL in (pod["metadata"].get("labels") or {})

    def create(self, namespace: str, obj: Job, dry_run: bool) -> Job:
        """POST of a Job. Raises ApiError 400, 404 (namespace), 409 (name taken) or 422. dry_run: nothing is kept."""
        jobshape.check(obj, namespace)
        store = self.world.store
        with store.changed:
            store.entry(NAMESPACES, "", namespace)
            job = self._defaulted(namespace, deepcopy(obj))
            if dry_run:
                job["metadata"]["resourceVersion"] = ""
                if store.has(JOBS, namespace, job["metadata"]["name"]):
                    store.create(JOBS, job)  # Raises: the name is taken.
                return job
            store.create(JOBS, job)
            uid = job["metadata"]["uid"]
            self.world.timeline.after(0.1, lambda: self._add_pod(namespace, job["metadata"]["name"], uid))
            return job

    def _defaulted(self, namespace: str, job: Job) -> Job:
        metadata, spec = job["metadata"], job["spec"]
        for field in ("deletionTimestamp", "finalizers", "managedFields"):
            metadata.pop(field, None)  # Not a client's to set at creation.
        name = metadata.get("name") or metadata["generateName"] + teams.letters(self.world.rng, 5)
        uid = teams.uid(self.world.rng)
        metadata.update(
            {
                "name": name,
                "namespace": namespace,
                "uid": uid,
                "generation": 1,
                "creationTimestamp": rfc3339(self.world.now),
            }
        )
        for field, value in (
            ("parallelism", 1),
            ("completions", 1),
            ("backoffLimit", 6),
            ("completionMode", "NonIndexed"),
        ):
            if spec.get(field) is None:
                spec[field] = value
        spec["suspend"] = False
        own = {_UID_LABEL: uid, _NAME_LABEL: name, "controller-uid": uid, "job-name": name}
        spec["selector"] = {"matchLabels": {_UID_LABEL: uid}}
        template = spec["template"]
        template["metadata"] = template.get("metadata") or {}
        template["metadata"]["labels"] = {**(template["metadata"].get("labels") or {}), **own}
        job["status"] = {}
        return job

    def _get(self, namespace: str, name: str, uid: str) -> Job | None:
        if not self.world.store.has(JOBS, namespace, name):
            return None
        job = self.world.store.get(JOBS, namespace, name)
        return job if job["metadata"]["uid"] == uid else None

    def _add_pod(self, namespace: str, name: str, uid: str) -> None:
        job = self._get(namespace, name, uid)
        if job is None or _finished(job) or "deletionTimestamp" in job["metadata"]:
            return
        pod = self._pod(job)
        self.world.store.create(PODS, pod)
        job["status"].setdefault("startTime", rfc3339(self.world.now))
        job["status"].update({"active": 1, "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}})
        self.world.store.replace(JOBS, job)
        message = f"Created pod: {pod['metadata']['name']}"
        self.world.events.record(job, "Job", "SuccessfulCreate", message, self.world.now, "job-controller")
        self.pods.admit(pod)

    def _pod(self, job: Job) -> Pod:
        metadata, template = job["metadata"], job["spec"]["template"]
        name = self.world.free_name(metadata["namespace"], metadata["name"][:57])
        pod = pods.new(metadata["namespace"], name, teams.uid(self.world.rng), [], self.world.now, "Never")
        pod["metadata"].update(
            {
                "labels": dict(template["metadata"]["labels"]),
                "annotations": dict(template["metadata"].get("annotations") or {}),
                "ownerReferences": [pods.owner("Job", metadata["name"], metadata["uid"])],
            }
        )
        tolerations = (template["spec"].get("tolerations") or []) + pod["spec"]["tolerations"]
        pod["spec"].update(deepcopy(template["spec"]))
        pod["spec"]["tolerations"] = tolerations
        for container in pod["spec"]["containers"]:
            container["resources"] = _requesting(container.get("resources") or {})
        return pod

    def _owner(self, pod: Pod) -> Job | None:
        labels = pod["metadata"].get("labels") or {}
        if _UID_LABEL not in labels:
            return None
        return self._get(pod["metadata"]["namespace"], labels.get(_NAME_LABEL, ""), labels[_UID_LABEL])

    def _pod_started(self, pod: Pod) -> None:
        job = self._owner(pod)
        if job is not None and not _finished(job):
            job["status"]["ready"] = 1
            self.world.store.replace(JOBS, job)

    def _pod_ended(self, pod: Pod) -> None:
        job = self._owner(pod)
        if job is None or _finished(job):
            return
        job["status"].update({"active": 0, "ready": 0})
        if pod["status"]["phase"] == "Succeeded":
            job["status"].update({"succeeded": 1, "completionTime": rfc3339(self.world.now)})
            self._conclude(job, "Complete", "CompletionsReached", "Reached expected number of succeeded pods")
        else:
            self._failed_once(job)

    def _pod_removed(self, pod: Pod) -> None:
        """A pod that is deleted before it ended counts as failed."""
        job = self._owner(pod)
        if job is not None and not _finished(job) and pod["status"]["phase"] in ("Pending", "Running"):
            job["status"].update({"active": 0, "ready": 0})
            self._failed_once(job)

    def _failed_once(self, job: Job) -> None:
        status, metadata = job["status"], job["metadata"]
        status["failed"] = status.get("failed", 0) + 1
        if status["failed"] > job["spec"]["backoffLimit"]:
            self._conclude(job, "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
            return
        self.world.store.replace(JOBS, job)
        key = (metadata["namespace"], metadata["name"], metadata["uid"])
        self.world.timeline.after(BACKOFF_S, lambda: self._add_pod(*key))

    def _conclude(self, job: Job, kind: str, reason: str, message: str) -> None:
        first = "SuccessCriteriaMet" if kind == "Complete" else "FailureTarget"
        at = rfc3339(self.world.now)
        job["status"]["conditions"] = [
            {
                "type": one,
                "status": "True",
                "lastProbeTime": at,
                "lastTransitionTime": at,
                "reason": reason,
                "message": message,
            }
            for one in (first, kind)
        ]
        self.world.store.replace(JOBS, job)
        event = "Completed" if kind == "Complete" else reason
        self.world.events.record(job, "Job", event, message, self.world.now, "job-controller")

    def delete(self, namespace: str, name: str, policy: str) -> None:
        """DELETE of a Job: Background, Foreground (the Job stays until its pods are gone) or Orphan (they stay)."""
        store = self.world.store
        with store.changed:
            job = store.get(JOBS, namespace, name)
            own = self._pods_of(job)
            if policy == "Foreground" and own:
                job["metadata"]["deletionTimestamp"] = rfc3339(self.world.now)
                job["metadata"]["finalizers"] = ["foregroundDeletion"]
                store.replace(JOBS, job)
            else:
                store.remove(JOBS, namespace, name)
            for pod in own:
                if policy == "Orphan":
                    pod["metadata"].pop("ownerReferences", None)
                    store.replace(PODS, pod)
                else:
                    self.world.terminate((namespace, pod["metadata"]["name"]), 1.0)

    def _pods_of(self, job: Job) -> list[Pod]:
        namespace, uid = job["metadata"]["namespace"], job["metadata"]["uid"]
        return self.world.store.all(PODS, lambda one: one.namespace == namespace and one.labels.get(_UID_LABEL) == uid)

    def _sweep(self) -> None:
        for job in self.world.store.all(JOBS):
            namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
            if "deletionTimestamp" in job["metadata"]:
                if not self._pods_of(job):
                    self.world.store.remove(JOBS, namespace, name)
            elif self._ttl_over(job):
                self.delete(namespace, name, "Background")
            elif self._deadline_over(job):
                self._stop(job)
        self.world.timeline.after(SWEEP_S, self._sweep)

    def _ttl_over(self, job: Job) -> bool:
        ttl = job["spec"].get("ttlSecondsAfterFinished")
        ended = _finished(job)
        return ttl is not None and ended is not None and self.world.now >= unix(ended) + ttl

    def _deadline_over(self, job: Job) -> bool:
        deadline, started = job["spec"].get("activeDeadlineSeconds"), job["status"].get("startTime")
        if deadline is None or started is None or _finished(job) is not None:
            return False
        return self.world.now >= unix(started) + float(deadline)

    def _stop(self, job: Job) -> None:
        job["status"].update({"active": 0, "ready": 0, "failed": job["status"].get("failed", 0) + 1})
        self._conclude(job, "Failed", "DeadlineExceeded", "Job was active longer than specified deadline")
        for pod in self._pods_of(job):
            if pod["status"]["phase"] in ("Pending", "Running"):
                self.world.terminate((pod["metadata"]["namespace"], pod["metadata"]["name"]), 2.0)


def _finished(job: Job) -> str | None:
    """When the Job became Complete or Failed, None while it has not."""
    for row in job["status"].get("conditions") or []:
        if row["type"] in ("Complete", "Failed") and row["status"] == "True":
            return str(row["lastTransitionTime"])
    return None


def _requesting(resources: dict[str, Any]) -> dict[str, Any]:
    """Requests default to limits, as the API server defaults them; quantities as text."""
    limits = {name: str(value) for name, value in (resources.get("limits") or {}).items()}
    requests = limits | {name: str(value) for name, value in (resources.get("requests") or {}).items()}
    return {**({"limits": limits} if limits else {}), **({"requests": requests} if requests else {})}
