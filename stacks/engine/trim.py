"""What the mirror keeps of a pod: only what the stacks and the pages read, and nothing of pods without a GPU.

Called once per pod of the cluster, so a pod of no interest must be recognised with a few dictionary look-ups. `account` of
trimmed objects equals `account` of the whole ones.
"""

from __future__ import annotations

from kube import listed
from kube.objects import (
    Condition,
    Container,
    ContainerState,
    ContainerStatus,
    EnvSource,
    EnvVar,
    Metadata,
    Pod,
    PodSpec,
    PodStatus,
    Quantities,
    Resources,
    Terminated,
)
from stacks.engine.base import Context
from stacks.engine.components import FURTHER_KEYS, LABEL_KEYS, component_of
from stacks.engine.names import LONGEST_ANNOTATION, OVERSIZE
from stacks.engine.registry import Names, names, registry

#: Labels that Kubernetes itself writes and pages or apps above read, and those by which components are known.
_LABELS = frozenset(
    (
        *LABEL_KEYS,
        *FURTHER_KEYS,
        "job-name",
        "batch.kubernetes.io/job-name",
        "controller-revision-hash",
        "app.kubernetes.io/managed-by",
    )
)
_CONDITIONS = frozenset(("Ready", "PodScheduled"))
#: Of components also whether their sandbox was made.
_OF_COMPONENTS = _CONDITIONS | {"PodReadyToStartContainers"}
_LONGEST_TEXT = 1024
_LONGEST_VALUE = 256


def trim_pod(pod: listed.Pod, context: Context) -> Pod | None:
    """A copy with only what is read; None when the pod is of no interest.

    Of interest: it asks for a resource that looks like a GPU or for a resource claim, it is a component of the GPU machinery,
    or a GPU scheduler has written on it. Annotations longer than 64 KiB are replaced by a marker (see `names.OVERSIZE`).
    Raises listed.Unreadable for one of interest whose environment or status does not decode.
    """
    spec, metadata, known = pod.spec, pod.metadata, names(context)
    part = component_of(metadata.labels) if metadata.labels else ""
    if not part and not _asks(spec, known):
        annotations = metadata.annotations
        written = annotations and _written_on(annotations, known)
        if not written and not (spec is not None and _takes(spec)):
            return None
    status = listed.status(pod)
    return Pod(
        metadata=_metadata(metadata, known, bool(part)),
        spec=_spec(spec, known, part) if spec is not None else None,
        status=_status(status, bool(part)) if status is not None else None,
    )


def _asks(spec: listed.PodSpec | None, known: Names) -> bool:
    if spec is None:
        return False
    if spec.resourceClaims:
        return True
    for containers in (spec.containers, spec.initContainers):
        for container in containers or ():
            resources = container.resources
            if resources is not None and (_gpu(resources.limits, known) or _gpu(resources.requests, known)):
                return True
    return False


def _takes(spec: listed.PodSpec) -> bool:
    """Whether a container takes cards by its environment. Most environments do not have the name anywhere, so they stay bytes."""
    wanted = registry.env_of_interest
    for containers in (spec.containers, spec.initContainers):
        for container in containers or ():
            raw = container.env
            if raw and registry.env_marks.search(raw) and _named(container, wanted):
                return True
    return False


def _named(container: listed.Container, wanted: frozenset[str]) -> bool:
    return any(item.name in wanted for item in listed.environment(container) or ())


def _gpu(quantities: Quantities | None, known: Names) -> bool:
    if quantities:
        for name in quantities:
            # Native resources have no slash: most pods are done here.
            if "/" in name and known.relevant(name):
                return True
    return False


def _written_on(annotations: dict[str, str], known: Names) -> bool:
    prefixes, head, heads = known.annotations, known.head, known.heads
    for name in annotations:  # noqa: SIM110 - a generator costs twice as much, and this runs for every pod
        if name[:head] in heads and name.startswith(prefixes):
            return True
    return False


def _metadata(metadata: Metadata, known: Names, part: bool) -> Metadata:
    labels, annotations = metadata.labels, metadata.annotations
    if not part:
        for owner in metadata.ownerReferences or ():
            owner.uid = ""  # of 150,000 pods nobody asks
    return Metadata(
        name=metadata.name,
        namespace=metadata.namespace,
        uid=metadata.uid,
        resourceVersion=metadata.resourceVersion,
        creationTimestamp=metadata.creationTimestamp,
        deletionTimestamp=metadata.deletionTimestamp,
        labels={name: value for name, value in labels.items() if _label(name, known)} if labels else None,
        annotations=kept(annotations, known.annotations) if annotations else None,
        ownerReferences=metadata.ownerReferences,
    )


def _label(name: str, known: Names) -> bool:
    return name in _LABELS or name in known.pod_labels or name.startswith(known.label_prefixes)


def kept(annotations: dict[str, str], prefixes: tuple[str, ...]) -> dict[str, str]:
    """The annotations of interest, each at most 64 KiB; a longer one is replaced by a marker that stacks report."""
    return {
        name: value if len(value) <= LONGEST_ANNOTATION else f"{OVERSIZE}{len(value)}"
        for name, value in annotations.items()
        if name.startswith(prefixes)
    }


def _spec(spec: listed.PodSpec, known: Names, part: str) -> PodSpec:
    containers, init = spec.containers, spec.initContainers
    return PodSpec(
        nodeName=spec.nodeName,
        containers=[_container(item, known, part) for item in containers] if containers is not None else None,
        initContainers=[_container(item, known, part) for item in init] if init is not None else None,
        resourceClaims=spec.resourceClaims,
        runtimeClassName=spec.runtimeClassName,
        schedulerName=spec.schedulerName,
    )


def _container(container: listed.Container, known: Names, part: str) -> Container:
    # The command line of a plugin may say what its units are; that of a user's pod is read by nobody.
    plugin = part in registry.commands
    env = listed.environment(container)
    return Container(
        name=container.name,
        image=container.image,
        command=container.command if plugin else None,
        args=container.args if plugin else None,
        env=component_env(env) if env else None,
        resources=_resources(container.resources, known) if container.resources is not None else None,
        restartPolicy=container.restartPolicy,
    )


def component_env(env: list[EnvVar]) -> list[EnvVar] | None:
    """The variables that stacks read."""
    names, endings = registry.env, registry.env_endings
    found = [item for item in env if item.name in names or item.name.endswith(endings)]
    return [EnvVar(item.name, _value(item), _source(item)) for item in found] or None


def _value(item: EnvVar) -> str | None:
    return item.value[:_LONGEST_VALUE] if item.value else item.value


def _source(item: EnvVar) -> EnvSource | None:
    return item.valueFrom if item.valueFrom is not None and item.valueFrom.configMapKeyRef is not None else None


def _resources(resources: Resources, known: Names) -> Resources | None:
    limits = _quantities(resources.limits, known)
    same = resources.requests == resources.limits  # as those of extended resources must be
    requests = limits if same else _quantities(resources.requests, known)
    return Resources(limits, requests) if limits or requests else None


def _quantities(quantities: Quantities | None, known: Names) -> Quantities | None:
    if not quantities:
        return None
    found = {name: value for name, value in quantities.items() if "/" in name and known.relevant(name)}
    return found or None


def _status(status: PodStatus, part: bool) -> PodStatus:
    """The same struct, which was decoded for this, less what is not kept."""
    conditions, app, init = status.conditions, status.containerStatuses, status.initContainerStatuses
    status.message = _cut(status.message)
    kept_ = _OF_COMPONENTS if part else _CONDITIONS
    status.conditions = [_condition(item) for item in conditions if item.type in kept_] if conditions else None
    status.containerStatuses = [_container_status(item, part) for item in app] if app else None
    status.initContainerStatuses = [_container_status(item, part) for item in init] if init else None
    return status


def _condition(condition: Condition) -> Condition:
    condition.message = _cut(condition.message)
    return condition


def _container_status(status: ContainerStatus, part: bool) -> ContainerStatus:
    """Of user pods the ready flag, the current state, the last failure and the devices; of components also restarts."""
    if not part:
        status.restartCount = status.imageID = None
        last = status.lastState.terminated if status.lastState is not None else None
        status.lastState = _failure(last) if last is not None and last.exitCode else None
    for state in (status.state, status.lastState):
        if state is not None:
            _shorten(state, part)
    return status


def _failure(last: Terminated) -> ContainerState:
    return ContainerState(terminated=Terminated(last.exitCode, _cut(last.reason), None, _cut(last.finishedAt)))


def _shorten(state: ContainerState, part: bool) -> None:
    if state.waiting is not None:
        state.waiting.message = _cut(state.waiting.message)
    if state.terminated is not None:
        state.terminated.message = _cut(state.terminated.message)
    if state.running is not None and not part:
        state.running.startedAt = None


def _cut(text: str | None) -> str | None:
    return text[:_LONGEST_TEXT] if text is not None and len(text) > _LONGEST_TEXT else text
