"""The types of nodes of the demo's fleet, one row each: those that give out cards by memory, as a whole or in turns.

Labels, resource names, taints and versions are those that the real systems write; see `nodes.py` for the objects. Cards that are
cut are in `migtypes.py`, further vendors and schedulers in `vendortypes.py`; how many of each a fleet has is in `fleetplan.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fleetsim import models
from fleetsim.mig import Layout
from fleetsim.models import Model
from fleetsim.systems import NVIDIA_GPU, Counted, GpushareV1, GpushareV2, Hami, System

ALIBABA_DIRECTX = "windows.alibabacloud.com/directx"
TW_COMPUTE = "directx.microsoft.com/compute"
TW_DISPLAY = "directx.microsoft.com/display"
AKS_DIRECTX = "microsoft.com/directx"
ALPHA_GPU = "alpha.kubernetes.io/nvidia-gpu"


def by_uuid(card: int, uuid: str, slots: int) -> tuple[str, ...]:
    """The ids of NVIDIA's plugin: of a card or an instance that has one holder."""
    return (uuid,)


GIB, MIB = GpushareV1(), GpushareV2()
OPERATOR = Counted(NVIDIA_GPU, ids=by_uuid)
OPERATOR_COUNT_ONLY = Counted(NVIDIA_GPU)
SHARED = Counted(NVIDIA_GPU, shared=True)
ALPHA = Counted(ALPHA_GPU)

Taint = tuple[str, str, str]
WINDOWS_TAINT: Taint = ("os", "windows", "NoSchedule")
GPU_TAINT: Taint = ("nvidia.com/gpu", "present", "NoSchedule")


@dataclass(frozen=True)
class Part:
    """A resource that stands for some of a node's cards, or for slices of them. parents: the card of each, by number."""

    system: System
    parents: tuple[int, ...]
    profile: str = ""


@dataclass(frozen=True)
class NodeType:
    """One type of node.

    name: pattern with the number of the node within its type. units: per card, in the system's own unit (0: no ledger).
    pods_per_card: holders that a card admits. life: whether workloads come and go here. slices: the resources of a node whose
    cards are cut, instead of units; layout: how they are, where the GPU Operator cuts them. dra: "cards" or "slices", where a
    driver of dynamic resource allocation gives them out.
    """

    key: str
    name: str
    system: System | None = None
    model: Model | None = None
    cards: int = 0
    units: int = 0
    pods_per_card: int = 1000
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    windows: bool = False
    windows_build: str = "10.0.20348"
    kubelet: str = "v1.31.4"
    runtime: str = "containerd://1.7.24"
    instance_type: str = ""
    plugins: tuple[str, ...] = ()
    operator: bool = False
    life: bool = True
    slices: tuple[Part, ...] = ()
    layout: Layout | None = None
    dra: str = ""

    @property
    def slices_total(self) -> int:
        """Slices that have an identity of their own."""
        return sum(len(part.parents) for part in self.slices if part.profile)

    @property
    def pool(self) -> str:
        """Value of the label `pool`, by which workloads choose their nodes."""
        return self.key


def _gib(key: str, name: str, model: Model, cards: int, life: bool = True) -> NodeType:
    labels = {"gpushare": "true", **_accelerator(model, cards)}
    units = model.memory_mib // 1024
    return NodeType(key, name, GIB, model, cards, units, labels=labels, plugins=("gpushare-gib",), life=life)


def _mib(key: str, name: str, model: Model, cards: int, schedule: str, instance: str) -> NodeType:
    labels = {"ack.node.gpu.schedule": schedule, "ack.node.gpu.placement": "binpack", **_accelerator(model, cards)}
    return NodeType(
        key, name, MIB, model, cards, model.memory_mib, 20, labels, plugins=("gpushare-mib",), instance_type=instance
    )


def _accelerator(model: Model, cards: int) -> dict[str, str]:
    return {
        "aliyun.accelerator/nvidia_name": model.label,
        "aliyun.accelerator/nvidia_count": str(cards),
        "aliyun.accelerator/nvidia_mem": f"{model.memory_mib}MiB",
        "aliyun.accelerator/xpu_type": "nvidia",
    }


T4_GIB = _gib("gpushare-t4", "gpu-t4-{:02d}", models.T4, 4)
V100_GIB = _gib("gpushare-v100", "gpu-v100-{:02d}", models.V100, 8)
#: Two long-lived services hold half of each card: what waits for 20 GiB in one piece waits for ever.
A10_GIB = _gib("gpushare-a10", "gpu-a10-{:02d}", models.A10, 2, life=False)
EDGE_GIB = _gib("gpushare-edge", "gpu-edge-{:02d}", models.T4, 1)
P100_GIB = _gib("gpushare-p100", "gpu-p100-{:02d}", models.P100, 2, life=False)
A10_MIB = _mib("ack-a10", "cn-hangzhou.192.168.3.{}", models.A10, 2, "cgpu", "ecs.gn7i-c32g1.16xlarge")
T4_MIB = _mib("ack-t4", "cn-hangzhou.192.168.4.{}", models.T4, 4, "core_mem", "ecs.gn6i-c24g1.24xlarge")
T4_MIB_8 = _mib("ack-t4x8", "cn-hangzhou.192.168.5.{}", models.T4, 8, "share", "")

H100 = NodeType(
    "h100",
    "dgx-h100-{:02d}",
    OPERATOR,
    models.H100,
    8,
    1,
    taints=(GPU_TAINT,),
    kubelet="v1.36.2",
    runtime="containerd://2.1.4",
    operator=True,
)
A100 = NodeType("a100", "dgx-a100-{:02d}", OPERATOR_COUNT_ONLY, models.A100, 8, 1, operator=True)
L40S = NodeType("l40s", "gpu-l40s-{:02d}", OPERATOR, models.L40S, 4, 1, kubelet="v1.36.2", operator=True)
#: Its operands wait for the driver, which something on the host still holds: no resource yet.
L40S_WAITING = NodeType("l40s-new", "gpu-l40s-new-{:02d}", None, models.L40S, 4, operator=True, life=False)
TIME_SLICED = NodeType("time-sliced", "dev-t4-{:02d}", SHARED, models.T4, 2, 4, operator=True)
MPS = NodeType("mps", "mps-a10-{:02d}", SHARED, models.A10, 2, 4, operator=True)

K80 = NodeType(
    "alpha-k80",
    "old-k80-{:02d}",
    ALPHA,
    models.K80,
    4,
    1,
    labels={"alpha.kubernetes.io/nvidia-gpu-name": "Tesla-K80"},
    kubelet="v1.7.16",
    runtime="docker://1.12.6",
)

#: Alibaba Cloud's nodes with a card for Windows, in one of its regions.
_REGION = "topology.kubernetes.io/region"
_DIRECTX = {
    "windows.alibabacloud.com/deployment-topology": "2.0",
    "windows.alibabacloud.com/directx-supported": "true",
}

#: One device each, so that life is kept away: a validation would wait for minutes. One node has a holder, see `mistakes.py`.
ALIBABA_WINDOWS = NodeType(
    "ack-windows",
    "ackwin{:04d}",
    Counted(ALIBABA_DIRECTX, shared=True),
    models.GRID_T4_8Q,
    1,
    1,
    labels={**_DIRECTX, _REGION: "cn-hangzhou"},
    taints=(WINDOWS_TAINT,),
    windows=True,
    windows_build="10.0.17763",
    kubelet="v1.28.15-aliyun.1",
    instance_type="ecs.vgn6i-m8-vws.2xlarge",
    plugins=("directx-alibaba",),
    life=False,
)
#: The plugin's image is that of another region, which the node does not reach: no resource.
ALIBABA_BEIJING = NodeType(
    "ack-windows-bj",
    "ackwinbj{:04d}",
    None,
    models.GRID_T4_8Q,
    1,
    labels={**_DIRECTX, _REGION: "cn-beijing"},
    taints=(WINDOWS_TAINT,),
    windows=True,
    windows_build="10.0.17763",
    kubelet="v1.28.15-aliyun.1",
    instance_type="ecs.vgn6i-m8-vws.2xlarge",
    life=False,
)
WDDM = NodeType(
    "win-wddm",
    "win-wddm-{:02d}",
    Counted(TW_DISPLAY, shared=True),
    models.T4,
    1,
    4,
    taints=(WINDOWS_TAINT,),
    windows=True,
    instance_type="g4dn.2xlarge",
    plugins=("directx-wddm",),
)
MCDM = NodeType(
    "win-mcdm",
    "win-mcdm-{:02d}",
    Counted(TW_COMPUTE, shared=True),
    models.A10,
    1,
    4,
    taints=(WINDOWS_TAINT,),
    windows=True,
    instance_type="g5.4xlarge",
    plugins=("directx-mcdm",),
)
#: Windows Server 2025, for which no plugin is built: no resource.
WINDOWS_2025 = NodeType(
    "win-2025",
    "win-2025-{:02d}",
    None,
    models.T4,
    1,
    taints=(WINDOWS_TAINT,),
    windows=True,
    windows_build="10.0.26100",
    kubelet="v1.36.2",
    instance_type="g4dn.2xlarge",
    life=False,
)
AKS = NodeType(
    "aks-windows",
    "akswgpu{:06d}",
    Counted(AKS_DIRECTX, shared=True),
    models.A10_24Q,
    1,
    1,
    labels={
        "kubernetes.azure.com/accelerator": "nvidia",
        "kubernetes.azure.com/os-sku": "Windows2022",
        "kubernetes.azure.com/agentpool": "wgpu",
    },
    taints=(("sku", "gpu", "NoSchedule"),),
    windows=True,
    kubelet="v1.32.6",
    instance_type="Standard_NV36ads_A10_v5",
    plugins=("directx-aks",),
    life=False,
)

HAMI = NodeType(
    "hami-4090",
    "hami-4090-{:02d}",
    Hami(),
    models.RTX4090,
    4,
    models.RTX4090.memory_mib,
    10,
    {"gpu": "on"},
    plugins=("hami",),
)
#: Somebody labelled it for gpushare, and its plugin sleeps: Docker's default runtime is not NVIDIA's. No resource.
UNSERVED = NodeType(
    "gpu-unserved",
    "lab-p100-{:02d}",
    None,
    models.P100,
    1,
    labels={"gpushare": "true"},
    runtime="docker://24.0.7",
    kubelet="v1.23.17",
    life=False,
)
CPU = NodeType("cpu", "cpu-{:02d}", life=False)
CONTROL_PLANE = NodeType(
    "control-plane",
    "cp-{:02d}",
    labels={"node-role.kubernetes.io/control-plane": ""},
    taints=(("node-role.kubernetes.io/control-plane", "", "NoSchedule"),),
    kubelet="v1.36.2",
    life=False,
)
