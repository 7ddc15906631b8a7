"""Job and pod → where a run is and why. Pure: no clock, no I/O, no tables; a strange object gives "not known", never an error.

Source: batch/v1 JobStatus conditions, core/v1 PodStatus, the kubelet's container waiting reasons.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kube.objects import Condition
from kube.workloads import ContainerStatus, Event, Job, Pod, Terminated
from validations.lifecycle.endings import PREEMPTED, Ending
from validations.models.state import State
from validations.suites.engine.manifest import CONTAINER
from wording.said import sentence

#: The kubelet tries these again, but they seldom mend themselves: given up after a while.
TROUBLE = {
    "ErrImagePull": "image",
    "ImagePullBackOff": "image",
    "ImageInspectError": "image",
    "RegistryUnavailable": "image",
    "CreateContainerConfigError": "container-config",
    "CreateContainerError": "container-config",
    "RunContainerError": "container-config",
    "CreatePodSandboxError": "container-config",
}
#: These never mend themselves.
HOPELESS = {"InvalidImageName": "image", "ErrImageNeverPull": "image"}


#: Kueue suspends Jobs that name no queue where its option manageJobsWithoutQueueName is on, and starts them when it admits them.
_SUSPENDED = sentence(
    "The Job is suspended in the cluster. If Kueue did it, exclude the namespace of the validations from Kueue."
)


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What the cluster shows of a run.

    state: PENDING, PULLING, RUNNING or COLLECTING (the container, or all hope of one, has ended).
    terminated: how the container ended, None when it did not or is not known. ending: what ended the run besides.
    trouble: reason code of a container that cannot start (yet). started_at: of the container, RFC 3339; "" when it did not start.
    pod: the one that this was read from.
    """

    state: State
    reason: str = ""
    message: str = ""
    pod_name: str = ""
    pod_uid: str = ""
    image_digest: str = ""
    terminated: Terminated | None = None
    pod_reason: str = ""
    ending: Ending | None = None
    trouble: str = ""
    started_at: str = ""
    terminating_since: str | None = None
    pod: Pod | None = None


def observe(job: Job, pods: Iterable[Pod], was: State = State.PENDING) -> Seen:
    """Where a run with this Job is. pods: those of the run; the newest counts. was: where the run was seen last."""
    found = sorted(pods, key=lambda pod: (pod.metadata.creationTimestamp or "", pod.metadata.uid))
    failure = _failure(job)
    if not found:
        return _without_pod(job, failure, was)
    seen = _of_pod(found[-1])
    if failure is None:
        return _awaited(_complete(job, seen))
    if seen.state is not State.COLLECTING:
        return msgspec.structs.replace(seen, state=State.COLLECTING, ending=_why_failed(failure, seen, seen.state))
    # The container ended, and the Job with it (its exit code says why) unless the end came from outside.
    # A container that ended well fails no Job: another of its pods did, or this one is none of the controller's.
    well = seen.terminated is not None and seen.terminated.exitCode == 0
    outside = failure.reason == "DeadlineExceeded" or bool(seen.terminating_since) or well
    if outside and seen.ending is None:
        return msgspec.structs.replace(seen, ending=_why_failed(failure, seen, seen.state))
    return seen


def _condition(conditions: Iterable[Condition] | None, kind: str) -> Condition | None:
    return next((one for one in conditions or () if one.type == kind and one.status == "True"), None)


def _failure(job: Job) -> Condition | None:
    """Failed, or FailureTarget: since 1.31 the first waits until the pods have ended, which those of a lost node never do."""
    conditions = job.status.conditions if job.status else None
    return _condition(conditions, "Failed") or _condition(conditions, "FailureTarget")


def _complete(job: Job, seen: Seen) -> Seen:
    """A Job that is complete while its pod still looks alive: the pod's status is about to come, or will never."""
    done = _condition(job.status.conditions if job.status else None, "Complete")
    if done is None or seen.state is State.COLLECTING:
        return seen
    return msgspec.structs.replace(
        seen, reason="Complete", message=sentence("The Job is complete. Waiting for the status of the pod.")
    )


def _awaited(seen: Seen) -> Seen:
    """A container that was ended while its pod is deleted: the Job says in a moment whether its deadline or a hand did it."""
    killed = seen.terminated is not None and seen.terminated.exitCode != 0
    if seen.state is not State.COLLECTING or not seen.terminating_since or not killed:
        return seen
    message = sentence("The pod is being deleted. Waiting for the status of the Job.")
    return msgspec.structs.replace(seen, state=State.RUNNING, reason="Terminating", message=message)


def _without_pod(job: Job, failure: Condition | None, was: State) -> Seen:
    conditions = job.status.conditions if job.status else None
    if failure is not None:
        return Seen(state=State.COLLECTING, ending=_why_failed(failure, None, was))
    if _condition(conditions, "Complete"):
        return Seen(
            state=State.COLLECTING,
            ending=Ending("pod-deleted", sentence("The pod no longer exists. Its exit code is unknown.")),
        )
    if _condition(conditions, "Suspended"):
        return Seen(state=State.PENDING, reason="Suspended", message=_SUSPENDED)
    return Seen(state=State.PENDING, reason="NoPod", message=sentence("The Job has no pod yet."))


def _preempted(pod: Pod | None) -> Ending | None:
    """The scheduler took the node for a pod of higher priority. Source: core/v1 DisruptionTarget, since Kubernetes 1.26."""
    told = _condition(pod.status.conditions if pod and pod.status else None, "DisruptionTarget")
    if told is None or told.reason not in _PREEMPTIONS:
        return None
    return Ending(
        PREEMPTED, sentence("Preempted by a pod of higher priority: {text}", text=(told.message or told.reason)[:900])
    )


_PREEMPTIONS = ("PreemptionByScheduler", "PreemptionByKubeScheduler")


def _why_failed(failure: Condition, seen: Seen | None, was: State) -> Ending:
    if preempted := _preempted(seen.pod if seen else None):
        return preempted
    if failure.reason == "PodFailurePolicy":  # only Jobs of policies have one: see `gives_way`
        text = (failure.message or failure.reason)[:900]
        return Ending(PREEMPTED, sentence("The pod was disrupted. The run was skipped ({text}).", text=text))
    text = ": ".join(part for part in (failure.reason, failure.message) if part)[:1000]
    if failure.reason == "DeadlineExceeded":
        return _deadline(seen, was, text)
    if seen is None or seen.terminating_since:
        return Ending("pod-deleted", sentence("The pod was deleted before it finished ({text}).", text=text))
    return Ending("job-failed", sentence("The Job failed: {text}.", text=text))


def _deadline(seen: Seen | None, was: State, text: str) -> Ending:
    """The Job's deadline has its own words for each step that it hits."""
    where = (
        sentence(" Last seen: {reason}: {message}", reason=seen.reason, message=seen.message)
        if seen and seen.reason
        else ""
    )
    if was not in (State.PULLING, State.RUNNING, State.COLLECTING):
        return Ending(
            "unschedulable",
            sentence(
                "No node accepted the pod within the deadline of the Job ({text}).{where}", text=text, where=where
            ),
        )
    if was is State.PULLING:
        return Ending(
            "image",
            sentence(
                "The image was not pulled within the deadline of the Job ({text}).{where}", text=text, where=where
            ),
        )
    return Ending("timeout", sentence("The run exceeded the deadline of the Job ({text}).", text=text))


def _of_pod(pod: Pod) -> Seen:
    status, spec = pod.status, pod.spec
    container = _container(pod)
    seen = Seen(
        state=State.PENDING,
        pod_name=pod.metadata.name,
        pod_uid=pod.metadata.uid,
        image_digest=(container.imageID or "") if container else "",
        pod_reason=(status.reason or "") if status else "",
        terminating_since=pod.metadata.deletionTimestamp,
        pod=pod,
    )
    terminated = _terminated(container)
    if terminated is not None:
        return _ended(seen, pod, terminated)
    if status is not None and status.phase in ("Failed", "Succeeded"):
        return _ended(seen, pod, None)
    if container and container.state and container.state.running:
        return msgspec.structs.replace(seen, state=State.RUNNING, started_at=container.state.running.startedAt or "")
    if spec is not None and spec.nodeName:
        return _waiting(seen, container)
    return _unscheduled(seen, pod)


def _container(pod: Pod) -> ContainerStatus | None:
    rows = (pod.status.containerStatuses if pod.status else None) or []
    return next((row for row in rows if row.name == CONTAINER), None)


def _terminated(container: ContainerStatus | None) -> Terminated | None:
    return container.state.terminated if container and container.state else None


def _ended(seen: Seen, pod: Pod, terminated: Terminated | None) -> Seen:
    """The pod's own reason (Evicted, NodeLost, UnexpectedAdmissionError …) tells more than the container's "Error"."""
    message = (pod.status.message if pod.status else None) or ""
    if (ending := _preempted(pod)) is not None:
        pass
    elif seen.pod_reason and seen.pod_reason != "Completed":
        text = f"{seen.pod_reason}: {message}" if message else f"{seen.pod_reason}."
        ending = Ending(
            _POD_REASONS.get(seen.pod_reason, "killed"),
            sentence("The pod was ended by the cluster: {text}", text=text[:900]),
        )
    elif terminated is None:
        ending = Ending(
            "pod-deleted",
            _without_a_word(message[:900]),
        )
    started = (terminated.startedAt if terminated else None) or ""
    return msgspec.structs.replace(
        seen, state=State.COLLECTING, terminated=terminated, ending=ending, message=message[:1000], started_at=started
    )


_POD_REASONS = {
    "Evicted": "evicted",
    "Preempting": "evicted",
    "Preempted": "evicted",
    "NodeLost": "node-lost",
    "NodeShutdown": "node-lost",
    "Terminated": "node-lost",
    "Shutdown": "node-lost",
    "DeadlineExceeded": "timeout",
    "UnexpectedAdmissionError": "refused-by-node",
    "NodeAffinity": "refused-by-node",
    "OutOfcpu": "refused-by-node",
    "OutOfmemory": "refused-by-node",
}


def _waiting(seen: Seen, container: ContainerStatus | None) -> Seen:
    waiting = container.state.waiting if container and container.state else None
    reason = (waiting.reason if waiting else None) or "ContainerCreating"
    message = ((waiting.message if waiting else None) or "")[:1000]
    ending = None
    if reason in HOPELESS:
        ending = Ending(HOPELESS[reason], f"{reason}: {message}")
    return msgspec.structs.replace(
        seen, state=State.PULLING, reason=reason, message=message, trouble=TROUBLE.get(reason, ""), ending=ending
    )


def _unscheduled(seen: Seen, pod: Pod) -> Seen:
    conditions = (pod.status.conditions if pod.status else None) or []
    refused = next((one for one in conditions if one.type == "PodScheduled" and one.status == "False"), None)
    if refused is None:
        return msgspec.structs.replace(
            seen, reason="Scheduling", message=sentence("The scheduler has not reported yet.")
        )
    return msgspec.structs.replace(
        seen, reason=refused.reason or "Unschedulable", message=(refused.message or "")[:1000]
    )


def last_word(events: list[Event]) -> str:
    """The newest event as text, for a pod or Job whose status says too little; "" when there is none."""
    told = [one for one in events if one.message]
    if not told:
        return ""
    # Of one second, as most events are, the last in the list.
    newest = max(reversed(told), key=lambda one: one.lastTimestamp or one.eventTime or "")
    return f"{newest.reason or 'event'}: {newest.message}"[:1000]


def _without_a_word(message: str) -> str:
    said = sentence("The pod ended without a container status.")
    return sentence("{cause} {message}", said=said, message=message) if message.strip() else said
