"""One target for each sharing system, as the mirror would describe the node."""

from __future__ import annotations

from kube.objects import Taint
from validations.suites.engine.base import Facts, Resource, Run, Target

RUN = Run(id="0192f1c4-7b1e-7c1a-9d55-3f1f5c0a9a11", namespace="gpudash-validation")
UUID = "GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16"
_NVIDIA_TAINT = Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule")
_WINDOWS_TAINTS = (Taint(key="os", value="windows", effect="NoSchedule"), Taint(key="sku", effect="PreferNoSchedule"))
GIB = 2**30
TOLERATED = ("nvidia.com/gpu", "os=windows", "node.kubernetes.io/unschedulable")


def _linux(name: str, *resources: Resource, **more: object) -> Target:
    return Target(node=name, resources=resources, ready=True, tolerated=TOLERATED, **more)  # type: ignore[arg-type]


def _windows(name: str, resource: str, build: str) -> Target:
    return Target(
        node=name,
        os="windows",
        facts=Facts(windows_build=build),
        ready=True,
        taints=_WINDOWS_TAINTS,
        tolerated=TOLERATED,
        resources=(Resource(name=resource, allocatable=4, free=3),),
    )


TARGETS: dict[str, Target] = {
    "nvidia-whole": _linux(
        "gpu-a",
        Resource(name="nvidia.com/gpu", allocatable=8, free=2),
        hostname="gpu-a.example.internal",
        taints=(_NVIDIA_TAINT, Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")),
        runtime_classes=("nvidia", "runc"),
        cards_total=8,
        whole_cards=8,
    ),
    "nvidia-mig": _linux(
        "gpu-b",
        Resource(name="nvidia.com/gpu", allocatable=0, free=0),
        Resource(name="nvidia.com/mig-1g.10gb", allocatable=7, free=7),
    ),
    "nvidia-shared": _linux(
        "gpu-c",
        Resource(name="nvidia.com/gpu", allocatable=0),
        Resource(name="nvidia.com/gpu.shared", allocatable=40, free=39),
    ),
    "nvidia-alpha": _linux(
        "gpu-old",
        Resource(name="alpha.kubernetes.io/nvidia-gpu", allocatable=2, free=1),
        settings=(("ALPHA_DRIVER_PATH", "/usr/lib/nvidia-375"),),
    ),
    "nvidia-time-sliced": _linux(
        "gpu-g", Resource(name="nvidia.com/gpu", allocatable=8, free=8), cards_total=2, whole_cards=0
    ),
    "gpushare-gib": _linux(
        "gpu-d",
        Resource(name="aliyun.com/gpu-mem", allocatable=30, free=9, unit_bytes=GIB),
        Resource(name="aliyun.com/gpu-count", allocatable=2),
        stack="gpushare",
        card_key="1",
        card_index=1,
    ),
    "gpushare-mib": _linux(
        "gpu-e",
        Resource(name="rainbond.com/gpu-mem", allocatable=32552, free=4000, unit_bytes=2**20),
        stack="gpushare",
        settings=(("GPUSHARE_RESOURCE", "rainbond.com/gpu-mem"),),
    ),
    "hami": _linux("gpu-f", Resource(name="nvidia.com/gpu", allocatable=80, free=70), stack="hami", card_uuid=UUID),
    "amd-whole": _linux(
        "gpu-h",
        Resource(name="amd.com/gpu", allocatable=8, free=4),
        stack="amd",
        # A cluster that has NVIDIA's RuntimeClass as well: it is not for this node.
        runtime_classes=("nvidia",),
        cards_total=8,
        whole_cards=8,
    ),
    "amd-partition": _linux("gpu-i", Resource(name="amd.com/cpx_nps1", allocatable=64, free=64), stack="amd"),
    "directx-alibaba": _windows("cn-hangzhou.10.0.0.7", "windows.alibabacloud.com/directx", "10.0.17763.1999"),
    "directx-compute": _windows("win-a", "directx.microsoft.com/compute", "10.0.20348"),
    "directx-display": _windows("win-b", "directx.microsoft.com/display", "10.0.20348"),
    "directx-microsoft": _windows("akswin000001", "microsoft.com/directx", "10.0.20348"),
}
