"""What the tables should say of a cluster, computed from the API's own answers.

Written apart from the product: requests, cards and memory are read here from the raw JSON, by the description of each sharing
system, so that an error of the product's stacks does not hide itself. Speaks of the kinds of `tests.controlplane.objects` only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from tests.controlplane.objects import DIRECTX, GPU_MEM, KINDS, MIB, NVIDIA, Json, Kind, plugin_labels

RESOURCES = (GPU_MEM, NVIDIA, DIRECTX)


class Hold(NamedTuple):
    """One container's hold. card: its key, "" when the card is not known. memory: bytes, None when not metered."""

    pod: str
    container: str
    resource: str
    card: str
    quantity: int
    memory: int | None


class Totals(NamedTuple):
    """Sums of a node: cards, bytes that can be given out, bytes held; None when not metered."""

    cards: int
    memory: int | None
    allocated: int | None


def kind_of(node: Json) -> Kind | None:
    """The kind of a node by its name ("gib-3" is of kind "gib"); None for a node without a GPU."""
    return KINDS.get(node["metadata"]["name"].rsplit("-", 1)[0])


def asked(pod: Json) -> dict[str, int]:
    """Effective request of GPU resources: the sum over containers, or one init container that asks more."""
    spec = pod["spec"]
    total: dict[str, int] = {}
    for container in spec["containers"]:
        for resource, value in _limits(container):
            total[resource] = total.get(resource, 0) + value
    for container in spec.get("initContainers", []):
        for resource, value in _limits(container):
            total[resource] = max(total.get(resource, 0), value)
    return total


def _limits(container: Json) -> Iterator[tuple[str, int]]:
    for resource, value in container.get("resources", {}).get("limits", {}).items():
        if resource in RESOURCES:
            yield resource, number(value)


def number(quantity: str) -> int:
    """A whole quantity; the API server writes 6000 as "6k"."""
    for suffix, power in (("k", 3), ("M", 6), ("G", 9)):
        if quantity.endswith(suffix):
            return int(quantity[:-1]) * int(10**power)
    return int(quantity)


def is_kept(pod: Json) -> bool:
    """Whether the mirror keeps the pod: it asks for a GPU, or it is a device plugin's."""
    return bool(asked(pod)) or pod["metadata"].get("labels", {}).get("component") == plugin_labels()["component"]


def holds(pod: Json) -> bool:
    return bool(pod["spec"].get("nodeName")) and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


def allocations(pod: Json, kind: Kind) -> Iterator[Hold]:
    """Who holds what: per container and card."""
    for position, container in enumerate(pod["spec"]["containers"]):
        for resource, quantity in _limits(container):
            for card, part in cards_of(pod, kind, position, container["name"], quantity).items():
                yield Hold(pod["metadata"]["uid"], container["name"], resource, card, part, memory(kind, part))


def cards_of(pod: Json, kind: Kind, position: int, container: str, quantity: int) -> dict[str, int]:
    """Card key → quantity, as the scheduler's annotation or the kubelet's device status says."""
    notes = pod["metadata"].get("annotations", {})
    if kind.evidence == "v1" and notes.get("ALIYUN_COM_GPU_MEM_IDX"):
        return {notes["ALIYUN_COM_GPU_MEM_IDX"]: quantity}
    if kind.evidence == "v2" and "scheduler.framework.gpushare.allocation" in notes:
        shares = json.loads(notes["scheduler.framework.gpushare.allocation"])
        return {card: int(part) for card, part in shares.get(str(position), {}).items()}
    if kind.evidence == "status":
        named = _devices(pod, container)
        return dict.fromkeys(named, 1) if named else {"": quantity}
    return {"": quantity}


def _devices(pod: Json, container: str) -> list[str]:
    for status in pod.get("status", {}).get("containerStatuses", []):
        if status["name"] == container:
            for entry in status.get("allocatedResourcesStatus", []):
                return [str(device["resourceID"]) for device in entry["resources"]]
    return []


def memory(kind: Kind, quantity: int) -> int | None:
    if kind.unit is not None:
        return quantity * kind.unit
    return quantity * kind.memory if kind.memory is not None else None


def totals(node: Json, kind: Kind, pods: list[Json]) -> Totals:
    """Sums of a node from its status and the pods that hold something on it."""
    units = number(node["status"]["capacity"][kind.resource])
    held = sum(asked(pod).get(kind.resource, 0) for pod in pods)
    cards = units // kind.each
    own = node["metadata"].get("labels", {}).get("nvidia.com/gpu.memory")
    if kind.unit is None and kind.memory is None and own is not None:
        # Cards that are shared in turns: what they have is known, what is taken of it is not metered.
        return Totals(cards, cards * int(own) * MIB, None)
    return Totals(cards, memory(kind, units), memory(kind, held))
