"""The pod of a component → what is true of it. Ready is no proof: what a plugin offers is asked of the node by `of_node`.

Reads conditions, container states and images. An exit code of 0 in CrashLoopBackOff is a crash: some plugins log their error and
return. Sources: Kubernetes 1.36 (pod lifecycle; container state reasons of the kubelet), KEP-3085 (PodReadyToStartContainers).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from kube.objects import Container, ContainerStatus, Pod, TemplateSpec
from stacks.engine.shell import delete_pod, describe_object, pod_log
from stacks.engine.software.base import CRASH_LOOPING, NOT_READY, OUTDATED, PENDING, READY, WAITING, Statement
from stacks.engine.versions import image_version
from wording.said import quote, sentence

NO_IMAGE = frozenset(
    ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable")
)
_NO_CONTAINER = frozenset(
    ("CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError", "PreCreateHookError")
)
#: The kubelet's words for a container whose turn has not come.
_NOT_BEGUN = frozenset(("PodInitializing", "ContainerCreating"))
#: So often a container may have ended before it is said beside a good state.
_RESTARTS = 3
_LONGEST_MESSAGE = 400


def of_pod(
    pod: Pod, template: TemplateSpec | None, main: tuple[str, ...], waits: Mapping[str, str], rolled_on_delete: bool
) -> Statement:
    """template: of its DaemonSet or Deployment. main: containers whose image has the version. waits: init container → component.

    rolled_on_delete: a new template reaches the pod only when it is deleted.
    """
    spec, name = pod.spec, f"{pod.metadata.namespace}/{pod.metadata.name}"
    version = version_in((spec.containers if spec else None) or (), main)
    wanted = version_in((template.containers if template else None) or (), main)
    found = _state(pod, waits)
    since = found.since if found.since is not None else _since(pod)
    made = msgspec.structs.replace(found, version=version, source=f"pod {name}", since=since)
    if made.state != READY or not wanted or wanted == version or not version:
        return made
    why = (
        sentence(
            "The pod runs {version}, its DaemonSet has {wanted}. Delete the pod to update it.",
            version=version,
            wanted=wanted,
        )
        if rolled_on_delete
        else sentence("The pod runs {version}, its controller has {wanted}.", version=version, wanted=wanted)
    )
    return msgspec.structs.replace(made, state=OUTDATED, wanted=wanted, why=why)


def version_in(containers: Iterable[Container], main: tuple[str, ...]) -> str:
    """Of the first of the main containers that is there, else of the first container."""
    images = {one.name: one.image for one in containers}
    for name in main:
        if name in images:
            return image_version(images[name])
    return image_version(next(iter(images.values()), None))


def _state(pod: Pod, waits: Mapping[str, str]) -> Statement:
    status = pod.status
    conditions = {one.type: one for one in (status.conditions if status else None) or ()}
    if pod.metadata.deletionTimestamp is not None:
        return Statement(
            state=NOT_READY,
            why=sentence("The pod is being deleted."),
            since=seconds(pod.metadata.deletionTimestamp),
            remedy=sentence("If the node no longer exists: {command}", command=delete_pod(pod, "--force")),
        )
    scheduled = conditions.get("PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        return Statement(state=PENDING, why=quote((scheduled.message or scheduled.reason or "")[:_LONGEST_MESSAGE]))
    init = list((status.initContainerStatuses if status else None) or ())
    main = list((status.containerStatuses if status else None) or ())
    specs = {one.name: one for one in (pod.spec.initContainers if pod.spec else None) or ()}
    found = _trouble(init, pod, False) or _initializing(init, specs, waits, pod) or _trouble(main, pod, True)
    if found is not None:
        return found
    if status is None or not _begun(init, main, status.phase):
        return _not_begun(pod, conditions.get("PodReadyToStartContainers") is not None)
    ready = conditions.get("Ready")
    if ready is not None and ready.status == "True":
        return Statement(
            state=READY,
            since=seconds(ready.lastTransitionTime),
            warnings=tuple(_restarts(one) for one in main if (one.restartCount or 0) >= _RESTARTS),
        )
    failed = next((one for one in main if not one.ready), None)
    return Statement(
        state=NOT_READY,
        container=failed.name if failed else "",
        why=sentence("The container runs, but its readiness or startup probe does not pass.")
        if failed
        else sentence("The pod is not Ready."),
        since=seconds(ready.lastTransitionTime) if ready is not None else None,
        remedy=pod_log(pod, failed.name if failed else ""),
    )


def _trouble(statuses: Iterable[ContainerStatus], pod: Pod, lasting: bool) -> Statement | None:
    """The first container that cannot go on: no image, no container, or it ends again and again. lasting: none should ever end."""
    for one in statuses:
        state = one.state
        waiting = state.waiting if state else None
        reason = (waiting.reason if waiting else None) or ""
        if reason in NO_IMAGE:
            image = _image(pod, one.name)
            return Statement(
                state=NOT_READY,
                container=one.name,
                reason=reason,
                why=sentence("The image {image} cannot be pulled ({reason}).", image=image, reason=reason),
                remedy=sentence(
                    "Check the image address and tag, or copy the image to a reachable registry: {image}", image=image
                ),
            )
        if reason in _NO_CONTAINER:
            return Statement(
                state=NOT_READY,
                container=one.name,
                reason=reason,
                why=sentence(
                    "The container {name} cannot be created ({reason}): {message}",
                    name=one.name,
                    reason=reason,
                    message=((waiting.message if waiting else None) or "")[:_LONGEST_MESSAGE],
                ),
            )
        ended = one.lastState.terminated if one.lastState else None
        now = state.terminated if state else None
        if reason == "CrashLoopBackOff" or (now is not None and (now.exitCode or lasting)):
            last = now or ended
            return Statement(
                state=CRASH_LOOPING,
                container=one.name,
                exit_code=last.exitCode if last else None,
                why=_ended(one, last.exitCode if last else None, (last.message or last.reason or "") if last else ""),
                remedy=pod_log(pod, one.name, previous=True),
            )
        if reason and reason not in _NOT_BEGUN:
            return Statement(
                state=NOT_READY,
                container=one.name,
                why=sentence("The container {name} is waiting: {reason}.", name=one.name, reason=reason[:100]),
            )
    return None


def _ended(one: ContainerStatus, code: int | None, text: str) -> str:
    said = text.strip()[:_LONGEST_MESSAGE]
    if code is None:
        return sentence("The container {name} is crash-looping.", name=one.name)
    if code == 0:
        return sentence("The container {name} ends with exit code 0 although it should keep running.", name=one.name)
    if said and said != "Error":
        return sentence(
            "The container {name} ends with exit code {code}: {message}", name=one.name, code=code, message=said
        )
    return sentence("The container {name} ends with exit code {code}.", name=one.name, code=code)


def _initializing(
    statuses: Iterable[ContainerStatus], specs: Mapping[str, Container], waits: Mapping[str, str], pod: Pod
) -> Statement | None:
    """An init container that still runs; a sidecar is none."""
    for one in statuses:
        if not (one.state and one.state.running) or (one.name in specs and specs[one.name].restartPolicy == "Always"):
            continue
        since = seconds(one.state.running.startedAt)
        if one.name in waits:
            return Statement(
                state=WAITING,
                waiting_for=waits[one.name],
                container=one.name,
                since=since,
                why=sentence(
                    "The init container {name} is waiting for {component}.", name=one.name, component=waits[one.name]
                ),
            )
        return Statement(
            state=NOT_READY,
            container=one.name,
            since=since,
            why=sentence("The init container {name} is running.", name=one.name),
            remedy=pod_log(pod, one.name),
        )
    return None


def _begun(init: list[ContainerStatus], main: list[ContainerStatus], phase: str | None) -> bool:
    """Whether a container was ever started."""
    for one in (*init, *main):
        state = one.state
        if one.ready or one.restartCount or (state and (state.running or state.terminated)):
            return True
    return phase == "Running" and not main


def _not_begun(pod: Pod, told: bool) -> Statement:
    if told:
        why = sentence(
            "The node did not create the pod sandbox. Cause: container runtime, network or volume; the API does not "
            "report which."
        )
    else:
        why = sentence("No container was started. The API does not report the cause.")
    return Statement(state=PENDING, why=why, remedy=describe_object("pod", pod.metadata))


def _restarts(one: ContainerStatus) -> str:
    last = one.lastState.terminated if one.lastState else None
    code = last.exitCode if last else None
    if code is None:
        return sentence("{name} was restarted {number} times.", name=one.name, number=one.restartCount)
    return sentence(
        "{name} was restarted {number} times, last exit code {code}.", name=one.name, number=one.restartCount, code=code
    )


def _image(pod: Pod, container: str) -> str:
    spec = pod.spec
    found = (*((spec.containers if spec else None) or ()), *((spec.initContainers if spec else None) or ()))
    return next((one.image for one in found if one.name == container and one.image), "") or container


def _since(pod: Pod) -> float | None:
    return seconds(pod.status.startTime if pod.status else None) or seconds(pod.metadata.creationTimestamp)


def seconds(text: str | None) -> float | None:
    """RFC 3339 → unix seconds; None for nothing or nonsense."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None
