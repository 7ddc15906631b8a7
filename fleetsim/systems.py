"""How each sharing system places a pod and what it writes into it: the schedulers' and device plugins' part of the demo.

A system reads what a pod asks for, finds room in a ledger, and writes annotations and device status as the real one does.
Formats: gpushare scheduler extender and device plugin (v1), ACK scheduler framework (v2), HAMi, KEP-4680 device status.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from fleetsim.clock import nanoseconds
from fleetsim.ledger import Ledger, Parts

GPU_MEM = "aliyun.com/gpu-mem"
GPU_COUNT = "aliyun.com/gpu-count"
GPU_CORE = "aliyun.com/gpu-core.percentage"
NVIDIA_GPU = "nvidia.com/gpu"
V1 = "ALIYUN_COM_GPU_MEM"
V2 = "scheduler.framework.gpushare"
V2_CORE = "gpushare.alibabacloud.com/core-percentage"

Pod = dict[str, Any]
#: (number of the card, its UUID, its slots) → the ids by which the kubelet knows them, one for each slot.
Ids = Callable[[int, str, int], tuple[str, ...]]


def asked(container: dict[str, Any], resource: str) -> int:
    """What one container's limits ask of a resource; 0 when that is nothing or no number."""
    limits = (container.get("resources") or {}).get("limits") or {}
    text = str(limits.get(resource, "0"))
    return int(text) if text.isascii() and text.isdigit() else 0


def pod_total(pod: Pod, resource: str) -> int:
    return sum(asked(container, resource) for container in pod["spec"]["containers"])


@dataclass(frozen=True)
class Place:
    """Where a pod goes: node, resource, its cards, the UUIDs of all cards behind the resource, and units per card.

    claims: of a pod whose devices are given to claims, claim → device names.
    """

    node: str
    parts: Parts
    uuids: list[str]
    per_card: int
    resource: str = ""
    claims: Mapping[str, Any] = field(default_factory=dict)


class System(Protocol):
    """One sharing system."""

    @property
    def resource(self) -> str:
        """What its pods ask for."""
        ...

    @property
    def refusal(self) -> str:
        """Why a node that has enough in all does not fit, in the system's own words; "" when it has none."""
        ...

    @property
    def ids(self) -> Ids | None:
        """The ids that the kubelet reports of what a pod got; None where it reports none."""
        ...

    def pick(self, ledger: Ledger, pod: Pod) -> Parts | None:
        """Room for this pod, or None."""
        ...

    def reserve(self, pod: Pod, place: Place, now: float) -> None:
        """What the scheduler writes before it binds."""
        ...

    def assign(self, pod: Pod, now: float) -> None:
        """What the device plugin writes when the kubelet allocates."""
        ...


@dataclass(frozen=True)
class Counted:
    """Devices by count: the scheduler writes nothing, the kubelet picks. shared: a device is a slot of a card."""

    resource: str
    shared: bool = False
    ids: Ids | None = None
    refusal: str = ""

    def pick(self, ledger: Ledger, pod: Pod) -> Parts | None:
        count = pod_total(pod, self.resource)
        return ledger.choose_slots(count) if self.shared else ledger.choose(1, count)

    def reserve(self, pod: Pod, place: Place, now: float) -> None:
        return None

    def assign(self, pod: Pod, now: float) -> None:
        return None


@dataclass(frozen=True)
class GpushareV1:
    """The open-source extender: one card per pod, five annotations, ASSIGNED=false until the plugin's Allocate."""

    resource: str = GPU_MEM
    refusal: str = "Insufficient GPU Memory in one device"
    ids: Ids | None = None

    def pick(self, ledger: Ledger, pod: Pod) -> Parts | None:
        return ledger.choose(pod_total(pod, GPU_MEM))

    def reserve(self, pod: Pod, place: Place, now: float) -> None:
        card, (units, _) = next(iter(place.parts.items()))
        annotations = v1_annotations(card, units, place.per_card, now, assigned=False)
        pod["metadata"].setdefault("annotations", {}).update(annotations)

    def assign(self, pod: Pod, now: float) -> None:
        pod["metadata"].setdefault("annotations", {}).update(
            {f"{V1}_ASSIGNED": "true", f"{V1}_ASSUME_TIME": nanoseconds(now)},
        )


def v1_annotations(card: int, units: int, per_card: int, now: float, *, assigned: bool) -> dict[str, str]:
    """The five keys of the open-source extender."""
    return {
        f"{V1}_IDX": str(card),
        f"{V1}_POD": str(units),
        f"{V1}_DEV": str(per_card),
        f"{V1}_ASSIGNED": "true" if assigned else "false",
        f"{V1}_ASSUME_TIME": nanoseconds(now),
    }


def assumed_on(pod: Pod) -> Parts:
    """The card on which a pod says that it is assumed and not assigned yet; {} for a pod that no plugin would take."""
    annotations = pod["metadata"].get("annotations") or {}
    card = str(annotations.get(f"{V1}_IDX", ""))
    if annotations.get(f"{V1}_ASSIGNED") != "false" or not (card.isascii() and card.isdigit()):
        return {}
    return {int(card): (pod_total(pod, GPU_MEM), 0)}


@dataclass(frozen=True)
class GpushareV2:
    """ACK's scheduler framework: container → card → units as JSON; several cards by the label aliyun.com/gpu-count."""

    resource: str = GPU_MEM
    refusal: str = "Insufficient GPU Memory in one device"
    ids: Ids | None = None

    def pick(self, ledger: Ledger, pod: Pod) -> Parts | None:
        label = str((pod["metadata"].get("labels") or {}).get(GPU_COUNT, "1"))
        cards = int(label) if label.isascii() and label.isdigit() and int(label) > 0 else 1
        units, core = pod_total(pod, GPU_MEM), pod_total(pod, GPU_CORE)
        if units % cards or core % cards:
            return None
        return ledger.choose(units // cards, cards, core // cards)

    def reserve(self, pod: Pod, place: Place, now: float) -> None:
        annotations = pod["metadata"].setdefault("annotations", {})
        annotations[f"{V2}.allocation"] = _per_container(pod, place.parts, GPU_MEM)
        annotations[f"{V2}.assigned"] = "false"
        annotations[f"{V2}.assume-time"] = nanoseconds(now)
        if pod_total(pod, GPU_CORE):
            annotations[V2_CORE] = _per_container(pod, place.parts, GPU_CORE)

    def assign(self, pod: Pod, now: float) -> None:
        pod["metadata"].setdefault("annotations", {})[f"{V2}.assigned"] = "true"


def _per_container(pod: Pod, parts: Parts, resource: str) -> str:
    cards = sorted(parts)
    table = {
        str(index): {str(card): asked(container, resource) // len(cards) for card in cards}
        for index, container in enumerate(pod["spec"]["containers"])
        if asked(container, resource)
    }
    return json.dumps(table, separators=(",", ":"))


@dataclass(frozen=True)
class Hami:
    """HAMi: nvidia.com/gpu counts cards, gpumem is MiB per card, gpucores percent per card; cards in an annotation."""

    resource: str = NVIDIA_GPU
    refusal: str = "NodeUnfitPod"
    ids: Ids | None = None

    def pick(self, ledger: Ledger, pod: Pod) -> Parts | None:
        container = pod["spec"]["containers"][0]
        memory, core = asked(container, "nvidia.com/gpumem"), asked(container, "nvidia.com/gpucores")
        whole = max(room.units for room in ledger.cards)
        return ledger.choose(memory or whole, asked(container, NVIDIA_GPU), core)

    def reserve(self, pod: Pod, place: Place, now: float) -> None:
        cards = sorted(place.parts.items())
        devices = "".join(f"{place.uuids[card]},NVIDIA,{units},{core}:" for card, (units, core) in cards)
        pod["metadata"].setdefault("labels", {})["hami.io/vgpu-node"] = place.node
        pod["metadata"].setdefault("annotations", {}).update(
            {
                "hami.io/bind-phase": "allocating",
                "hami.io/bind-time": str(int(now)),
                "hami.io/vgpu-devices-allocated": f"{devices};",
                "hami.io/vgpu-devices-to-allocate": f"{devices};",
                "hami.io/vgpu-node": place.node,
                "hami.io/vgpu-time": str(int(now)),
            }
        )

    def assign(self, pod: Pod, now: float) -> None:
        pod["metadata"].setdefault("annotations", {}).update(
            {"hami.io/bind-phase": "success", "hami.io/vgpu-devices-to-allocate": ";"},
        )
