"""Which pods are part of the GPU machinery of a node, and why a pod does not run yet.

Reads labels, conditions and container states only. Which labels make a pod a component is declared by the stacks
(`stack.Components`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from kube.objects import Container, ContainerStatus, Pod
from stacks.engine.base import Context
from stacks.engine.registry import registry
from stacks.engine.requests import holds
from wording.said import sentence

Value = TypeVar("Value")

#: Keys of labels by which a pod is known as a component; the first of them that matches wins. The mirror keeps them.
LABEL_KEYS = (
    *("app.kubernetes.io/component", "nvidia-dra-driver-gpu-component", "dra-driver-nvidia-gpu-component"),
    *("app", "name", "component", "k8s-app", "app.kubernetes.io/name", "daemonset-name"),
)
#: Keys by which a component is told apart from others with the same label of these (`stack.Components.divided`).
FURTHER_KEYS = ("role",)

_LONGEST_MESSAGE = 1024


def component(pod: Pod) -> str:
    """Id of the plugin or operator component that the pod is; "" when it is none."""
    return component_of(pod.metadata.labels)


def component_of(labels: dict[str, str] | None) -> str:
    """The same, from labels (of a pod, or of a DaemonSet's template)."""
    if not labels:
        return ""
    known = registry.components
    keys = [key for key in labels if key in known]
    if len(keys) > 1:
        keys.sort(key=LABEL_KEYS.index)
    for key in keys:
        if found := known[key].get(labels[key]) or (_by_ending(key, labels[key]) if key in registry.endings else ""):
            further = registry.divided.get(found)
            return found if further is None else further[1].get(labels.get(further[0], ""), "")
    return ""


def _by_ending(key: str, value: str) -> str:
    """Where a label's value begins with a name that people choose."""
    return next((name for ending, name in registry.endings.get(key, ()) if value.endswith(ending)), "")


def by_command(
    plugin: str, pods: Iterable[Pod], context: Context, read: Callable[[Iterable[Container]], Value]
) -> Value | None:
    """What the command lines of a plugin say: of its pods among these, where they agree, else of all its DaemonSets.

    read: gets the containers of one. None where they do not agree, or none is there. The component is one of `commands`.
    """
    here = {
        read((pod.spec.containers if pod.spec else None) or ())
        for pod in pods
        if component(pod) == plugin and holds(pod)
    }
    if len(here) == 1:
        return here.pop()
    sets: set[Value] = set()
    for daemonset in context.daemonsets:
        template = daemonset.spec.template if daemonset.spec else None
        labels = (template.metadata.labels if template else None, daemonset.metadata.labels)
        if any(component_of(each) == plugin for each in labels):
            sets.add(read((template.spec.containers if template and template.spec else None) or ()))
    return sets.pop() if len(sets) == 1 else None


def command_line(containers: Iterable[Container]) -> str:
    """The words of all command lines, with a space between."""
    return " ".join(word for container in containers for word in (*(container.command or ()), *(container.args or ())))


def ready(pod: Pod) -> bool | None:
    """The pod's Ready condition; None when the pod has none."""
    for condition in (pod.status.conditions if pod.status else None) or ():
        if condition.type == "Ready":
            return condition.status == "True"
    return None


def pending_reason(pod: Pod) -> tuple[str, str]:
    """(reason, message) of what the pod waits for; ("", "") when nothing says so.

    A message that is no sentence is what the cluster says.
    First what the scheduler says (PodScheduled is False), then the first container that waits for something of its own,
    init containers first, then an init container that still runs, then the pod's own reason.
    """
    status = pod.status
    if status is None:
        return "", ""
    for condition in status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.reason or "", (condition.message or "")[:_LONGEST_MESSAGE]
    statuses = (*(status.initContainerStatuses or ()), *(status.containerStatuses or ()))
    found = _waiting(statuses) or _initializing(pod)
    return found or (status.reason or "", (status.message or "")[:_LONGEST_MESSAGE])


def _waiting(statuses: tuple[ContainerStatus, ...]) -> tuple[str, str] | None:
    """The first container that waits; "PodInitializing" is left out, it only repeats that an earlier one is not done."""
    for found in statuses:
        waiting = found.state.waiting if found.state else None
        if waiting is not None and waiting.reason != "PodInitializing":
            message = f"{found.name}: {waiting.message}" if waiting.message else found.name
            return waiting.reason or "Waiting", message[:_LONGEST_MESSAGE]
    return None


def _initializing(pod: Pod) -> tuple[str, str] | None:
    specs = (pod.spec.initContainers if pod.spec else None) or ()
    sidecars = {found.name for found in specs if found.restartPolicy == "Always"}
    for status in (pod.status.initContainerStatuses if pod.status else None) or ():
        if status.state and status.state.running and status.name not in sidecars:
            return "Initializing", sentence("waiting for the init container {name}", name=status.name)
    return None
