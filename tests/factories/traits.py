"""Traits: short descriptions of one sharing system each, of which nodes are made."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 2**30
MIB = 2**20
#: Share of each card that is held, repeated over the cards of a node.
DEFAULT_LOADS = (0.0, 0.4, 1.0, 0.8)


@dataclass(frozen=True)
class Trait:
    """One sharing system as rows. card_units: memory of a card in `unit`; None when the system does not know it.

    placed: whether the card of a pod is known. shares: holders that a card admits, for shared cards.
    """

    stack: str
    mode: str
    resource: str
    model: str
    card_units: int | None
    unit_bytes: int = GIB
    unit: str = ""
    unit_source: str = ""
    evidence: str = "count-only"
    placed: bool = True
    shares: int | None = None
    os: str = "linux"

    @property
    def card_bytes(self) -> int | None:
        return None if self.card_units is None else self.card_units * self.unit_bytes

    @property
    def metered(self) -> bool:
        """Whether a hold says how much memory it takes."""
        return self.mode in ("memory", "whole") and self.card_units is not None


_GIB_SOURCE, _MIB_SOURCE = "DaemonSet argument --memory-unit=GiB", "node label aliyun.accelerator/nvidia_mem"
TRAITS: dict[str, Trait] = {
    "gpushare": Trait(
        "gpushare", "memory", "aliyun.com/gpu-mem", "Tesla-T4", 15, GIB, "GiB", _GIB_SOURCE, evidence="annotation-v1"
    ),
    "gpushare-mib": Trait(
        "gpushare", "memory", "aliyun.com/gpu-mem", "Tesla-P4", 7611, MIB, "MiB", _MIB_SOURCE, evidence="annotation-v2"
    ),
    "nvidia": Trait("nvidia", "whole", "nvidia.com/gpu", "A100-SXM4-80GB", 81920, MIB, evidence="device-status"),
    "nvidia-count": Trait("nvidia", "whole", "nvidia.com/gpu", "A100-SXM4-80GB", 81920, MIB, placed=False),
    "time-sliced": Trait(
        "nvidia", "shares", "nvidia.com/gpu.shared", "A10", 23028, MIB, shares=4, evidence="device-status"
    ),
    "directx": Trait(
        "directx-alibaba",
        "shares",
        "windows.alibabacloud.com/directx",
        "",
        None,
        os="windows",
        evidence="count-only",
        shares=16,
    ),
    "unknown": Trait("kubernetes-alpha", "whole", "alpha.kubernetes.io/nvidia-gpu", "", None, placed=False),
}
FLEET = ("gpushare", "nvidia", "gpushare-mib", "nvidia-count", "time-sliced", "directx", "unknown")
