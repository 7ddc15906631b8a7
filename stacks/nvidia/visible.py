"""Pods that set NVIDIA_VISIBLE_DEVICES themselves and ask for no card: they use cards that the scheduler gives to others.

Source: the README of NVIDIA/k8s-device-plugin (device list strategies): the container runtime honours the variable of any container,
whatever the device plugin has allocated.
"""

from __future__ import annotations

from kube.objects import Container, Pod
from stacks.engine.base import WARNING, Finding
from stacks.engine.components import component
from stacks.engine.requests import asked, containers, holds, name_of
from stacks.nvidia.declared import VISIBLE
from wording.said import sentence

#: The runtime gives no card for these.
_NOTHING = frozenset(("", "void", "none"))


def by_hand(pods: list[Pod]) -> list[Finding]:
    """`visible-devices-by-hand` for each pod that asks for no card of any system; the GPU machinery itself may."""
    return [_finding(pod, names) for pod in pods if holds(pod) and (names := _containers(pod)) and not component(pod)]


def _containers(pod: Pod) -> list[str]:
    """The containers that take cards by the variable, of a pod that asks for none."""
    taking = []
    for _, _, container in containers(pod):
        if container.resources is not None and any("/" in name for name, _ in asked(container)):
            return []
        taking += [container.name] if _takes(container) else []
    return taking


def _takes(container: Container) -> bool:
    return any(
        item.name == VISIBLE and (item.value or "").strip().lower() not in _NOTHING for item in container.env or ()
    )


def _finding(pod: Pod, names: list[str]) -> Finding:
    text = sentence(
        "{pod} sets {visible} itself in {names} and requests no card. It may use every card of this node, even cards "
        "of other pods, and is excluded from totals. Remove the variable from the pod spec and request a card.",
        pod=name_of(pod),
        visible=VISIBLE,
        names=", ".join(names[:5]),
    )
    return Finding(code="visible-devices-by-hand", severity=WARNING, text=text, pod=name_of(pod))
