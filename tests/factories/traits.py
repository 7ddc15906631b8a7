"""Traits: short descriptions of one sharing system each, of which the objects of a node are made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

GIB = 2**30
MIB = 2**20
#: Share of each card that is held, repeated over the cards of a node.
DEFAULT_LOADS = (0.0, 0.4, 1.0, 0.8)


@dataclass(frozen=True)
class Trait:
    """What the objects of one sharing system carry. In texts, "{cards}" is the number of cards, "{index}" that of one.

    resource: what pods ask for.
    slots: of it, on each card.
    most: holders that split the load of a card, where it is shared by amount.
    counts: the resource that counts cards.
    labels, annotations: of the node; the annotations are an administrator's word.
    register: what HAMi's plugin writes of each card of the node.
    device_ids: as the kubelet names the device of a pod.
    writes: the annotations that the scheduler leaves on a pod: of gpushare's generation 1 or 2; 3: HAMi's.
    placed: whether anything says which card a pod holds.
    """

    resource: str
    slots: int = 1
    most: int = 1
    counts: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    device_ids: str = ""
    writes: int = 0
    annotations: tuple[tuple[str, str], ...] = ()
    register: str = ""
    placed: bool = True
    os: str = "linux"

    def parts(self, load: float) -> list[int]:
        """How many slots each holder of a card has, when the share `load` of it is held."""
        held = round(self.slots * load) if self.slots > 1 else bool(load)
        if self.most == 1:
            return [1] * held
        return [part for part in (held // 2, held - held // 2) if part]

    def uuids(self, node: str, cards: int) -> list[str]:
        """Of the cards of a node, where the kubelet names devices by them."""
        uuid = self.device_ids.partition("::")[0]
        return [uuid.format(node=node, index=index) for index in range(cards)] if uuid else []

    def written(self, node: str, index: int, quantity: int, assumed: datetime) -> dict[str, str]:
        """The annotations by which a pod has the card `index`."""
        nanoseconds = str(int(assumed.timestamp()) * 10**9)
        if self.writes == 1:
            prefix = "ALIYUN_COM_GPU_MEM"
            return {
                f"{prefix}_IDX": str(index),
                f"{prefix}_POD": str(quantity),
                f"{prefix}_DEV": str(self.slots),
                f"{prefix}_ASSIGNED": "true",
                f"{prefix}_ASSUME_TIME": nanoseconds,
            }
        if self.writes == 2:
            prefix = "scheduler.framework.gpushare"
            return {
                f"{prefix}.allocation": json.dumps({"0": {str(index): quantity}}),
                f"{prefix}.assigned": "true",
                f"{prefix}.assume-time": nanoseconds,
            }
        if self.writes == 3:
            return {"hami.io/vgpu-devices-allocated": f"GPU-{node}-{index},NVIDIA,8192,0:;"}
        return {}


def _accelerator(name: str, mebibytes: int) -> tuple[tuple[str, str], ...]:
    return (
        ("aliyun.accelerator/nvidia_name", name),
        ("aliyun.accelerator/nvidia_count", "{cards}"),
        ("aliyun.accelerator/nvidia_mem", f"{mebibytes}MiB"),
    )


def _discovered(product: str, mebibytes: int, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """What GPU Feature Discovery says of a node."""
    return (
        ("nvidia.com/gpu.product", product),
        ("nvidia.com/gpu.memory", str(mebibytes)),
        ("nvidia.com/gpu.count", "{cards}"),
        ("nvidia.com/cuda.driver-version.full", "550.54.15"),
        *(more or (("nvidia.com/gpu.replicas", "1"),)),
    )


_A100 = _discovered("A100-SXM4-80GB", 81920)
_COUNT = "aliyun.com/gpu-count"
TRAITS: dict[str, Trait] = {
    "gpushare": Trait("aliyun.com/gpu-mem", 15, 2, _COUNT, _accelerator("Tesla-T4", 15360), writes=1),
    "gpushare-mib": Trait("aliyun.com/gpu-mem", 7611, 2, _COUNT, _accelerator("Tesla-P4", 7611), writes=2),
    "nvidia": Trait("nvidia.com/gpu", labels=_A100, device_ids="GPU-{node}-{index}"),
    "nvidia-count": Trait("nvidia.com/gpu", labels=_A100, placed=False),
    "mig": Trait(
        "nvidia.com/mig-1g.10gb",
        labels=(
            ("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"),
            ("nvidia.com/gpu.memory", "81920"),
            ("nvidia.com/gpu.count", "1"),
            ("nvidia.com/mig.strategy", "mixed"),
            ("nvidia.com/mig.capable", "true"),
            ("nvidia.com/mig-1g.10gb.count", "{cards}"),
            ("nvidia.com/mig-1g.10gb.memory", "9728"),
            ("nvidia.com/mig-1g.10gb.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"),
        ),
        device_ids="MIG-{node}-{index}",
    ),
    "time-sliced": Trait(
        "nvidia.com/gpu.shared",
        4,
        labels=_discovered(
            "A10", 23028, ("nvidia.com/gpu.replicas", "4"), ("nvidia.com/gpu.sharing-strategy", "time-slicing")
        ),
        device_ids="GPU-{node}-{index}::{number}",
    ),
    "hami": Trait(
        "nvidia.com/gpu",
        10,
        register="GPU-{node}-{index},10,81920,100,NVIDIA-A100-SXM4-80GB,0,true,{index},hami-core:",
        writes=3,
    ),
    "directx": Trait(
        "windows.alibabacloud.com/directx",
        16,
        annotations=(("gpudash.io/card-count", "{cards}"),),
        placed=False,
        os="windows",
    ),
    "unknown": Trait("alpha.kubernetes.io/nvidia-gpu", placed=False),
}
FLEET = ("gpushare", "nvidia", "gpushare-mib", "nvidia-count", "time-sliced", "directx", "unknown")
