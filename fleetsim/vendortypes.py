"""Types of nodes of further vendors and schedulers: AMD, Intel, Ascend, Volcano's virtual GPUs, and KAI's fractions of cards."""

from __future__ import annotations

from fleetsim import models
from fleetsim.ascend import Ascend
from fleetsim.kai import Kai
from fleetsim.nodetypes import NodeType, by_uuid
from fleetsim.systems import NVIDIA_GPU, Counted
from fleetsim.volcano import VolcanoVgpu

#: How often Intel's plugin offers each card.
INTEL_SHARES = 4


def _intel(card: int, uuid: str, slots: int) -> tuple[str, ...]:
    return tuple(f"card{card}-{number}" for number in range(slots))


def _labeller(product: str, device: str, vram: str, units: int, mode: str = "") -> dict[str, str]:
    """What AMD's node labeller writes of devices that are all alike."""
    found = {
        "feature.node.kubernetes.io/amd-gpu": "true",
        "amd.com/gpu.family": "AI",
        "amd.com/gpu.device-id": device,
        "amd.com/gpu.product-name": product,
        "amd.com/gpu.vram": vram,
        "amd.com/gpu.cu-count": str(units),
        "amd.com/gpu.simd-count": str(units * 4),
        "amd.com/gpu.driver-version": "6.8.5",
    }
    return found | ({"amd.com/gpu.compute-memory-partition": mode} if mode else {})


AMD = NodeType(
    "amd-mi210",
    "gpu-mi210-{:02d}",
    Counted("amd.com/gpu"),
    models.MI210,
    4,
    1,
    labels=_labeller("Instinct_MI210", "740f", "64G", 104),
    plugins=("amd",),
    kubelet="v1.33.3",
)
#: Eight cards in eight partitions each, which the plugin names after what they are (strategy mixed).
AMD_PARTITIONS = NodeType(
    "amd-mi300x",
    "gpu-mi300x-{:02d}",
    Counted("amd.com/cpx_nps1"),
    models.MI300X_CPX,
    64,
    1,
    labels=_labeller("AMD_Instinct_MI300X_OAM", "74a1", "24G", 38, "cpx_nps1"),
    plugins=("amd",),
    kubelet="v1.33.3",
)
INTEL = NodeType(
    "intel-flex",
    "gpu-flex170-{:02d}",
    Counted("gpu.intel.com/i915", shared=True, ids=_intel),
    models.FLEX_170,
    2,
    INTEL_SHARES,
    labels={
        "intel.feature.node.kubernetes.io/gpu": "true",
        "gpu.intel.com/device-id.0380-56c0.present": "true",
        "gpu.intel.com/device-id.0380-56c0.count": "2",
        "gpu.intel.com/device.count": "2",
        "gpu.intel.com/family": "Flex_Series",
        "gpu.intel.com/product": "Flex_170",
    },
    plugins=("intel",),
    kubelet="v1.36.2",
)
ASCEND = NodeType(
    "ascend-910b",
    "npu-910b-{:02d}",
    Ascend(),
    models.ASCEND_910B,
    8,
    1,
    labels={
        "accelerator": "huawei-Ascend910",
        "accelerator-type": "module-910b-8",
        "node.kubernetes.io/npu.chip.name": "910B3",
        "servertype": "Ascend910-20",
        "mind-cluster/npu-chip-memory": "64G",
    },
    plugins=("ascend",),
    kubelet="v1.28.15",
)
VOLCANO = NodeType(
    "volcano-a40",
    "vgpu-a40-{:02d}",
    VolcanoVgpu(),
    models.A40,
    4,
    models.A40.memory_mib,
    10,
    plugins=("volcano",),
)
#: The GPU Operator gives out whole cards; the scheduler divides some of them.
KAI = NodeType(
    "kai-l40s", "kai-l40s-{:02d}", Kai(NVIDIA_GPU, ids=by_uuid), models.L40S, 4, 100, kubelet="v1.36.2", operator=True
)
