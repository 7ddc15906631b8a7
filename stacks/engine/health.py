"""Devices that the kubelet calls unhealthy while a pod holds them: `allocatedResourcesStatus`, of whatever plugin.

Must not know any stack by name. Which card a device is, is known only where a stack or the node's numbers say it: the ids are
stand-ins where a scheduler chooses the card. Source: KEP-4680 (ResourceHealthStatus).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kube.objects import Pod, ResourceHealth
from stacks.engine import health_reports
from stacks.engine.base import ALL_CARDS, DEVICE_STATUS, ERROR, ONLY_CARD, UNHEALTHY, Card, Context, Finding
from stacks.engine.joining import JoinedCards
from stacks.engine.registry import names
from stacks.engine.requests import holds, name_of
from wording.said import sentence

_UNHEALTHY = "Unhealthy"
_MOST_NAMED = 8


def judged(joined: JoinedCards, pods: list[Pod], context: Context) -> tuple[JoinedCards, list[Finding]]:
    """The same with cards marked unhealthy that are surely meant, and `device-unhealthy` for each container with such a device."""
    cards, findings = joined.cards, []
    for pod, container, resource, devices in _reported(pods, context):
        sick = [entry for entry in devices if entry.health == _UNHEALTHY]
        held = [
            item
            for item in joined.allocations
            if (item.pod_uid, item.namespace, item.pod) == (pod.metadata.uid, pod.metadata.namespace, pod.metadata.name)
            and (item.container, item.resource) == (container, resource)
        ]
        if len(sick) == len(devices):
            sure = [item.card for item in held if item.evidence in (ONLY_CARD, ALL_CARDS) and item.card is not None]
            cards = cards | {key: _sick(cards[key], resource) for key in sure}
        known = {item.card for item in held if item.evidence in (DEVICE_STATUS, ONLY_CARD)}
        findings.append(_finding(pod, container, sick, known.pop() if len(known) == 1 else None))
    return msgspec.structs.replace(joined, cards=cards), findings


def _sick(card: Card, resource: str) -> Card:
    said = health_reports.of_device(UNHEALTHY, resource)
    return msgspec.structs.replace(card, health=UNHEALTHY, told=tuple(dict.fromkeys((*card.told, *said))))


def _reported(pods: list[Pod], context: Context) -> Iterator[tuple[Pod, str, str, list[ResourceHealth]]]:
    """(pod, container, resource, all its devices) where the kubelet calls one of them unhealthy."""
    known = names(context)
    for pod in pods:
        status = pod.status
        if status is None or not holds(pod):
            continue
        for container in (*(status.containerStatuses or ()), *(status.initContainerStatuses or ())):
            for item in container.allocatedResourcesStatus or ():
                devices = item.resources or []
                sick = any(entry.health == _UNHEALTHY for entry in devices)
                if sick and "/" in item.name and known.relevant(item.name):
                    yield pod, container.name, item.name, devices


def _finding(pod: Pod, container: str, sick: list[ResourceHealth], card: str | None) -> Finding:
    shown = ", ".join(entry.resourceID[:100] for entry in sick[:_MOST_NAMED])
    text = sentence(
        "The kubelet reports {shown} as unhealthy. {pod} has it (container {container}). Check the device plugin log "
        "and the kernel log (Xid) on the node. Move the pod.",
        shown=shown,
        pod=name_of(pod),
        container=container,
    )
    return Finding(code="device-unhealthy", severity=ERROR, text=text, card=card, pod=name_of(pod))
