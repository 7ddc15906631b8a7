"""The software of NVIDIA's stack: operands of the GPU Operator, or the device plugin alone, and the operator's custom resources.

Sources: NVIDIA/gpu-operator v1.11.1 to v26.7.0 (assets); NVIDIA/k8s-device-plugin v0.20.0 (deployments).
"""

from __future__ import annotations

from stacks.engine.software.base import Component, SoftwareOf
from stacks.nvidia import dra_driver, operator
from stacks.nvidia.operands import OPERANDS, OPTIONAL, concerns, expected, without
from stacks.nvidia.refined import DRIVER_CONTAINERS, refined, together

_WAITS = {
    "container-toolkit": {"driver-validation": "driver"},
    "operator-validator": {"driver-validation": "driver", "toolkit-validation": "container-toolkit"},
    "sandbox-validator": {"vfio-pci-validation": "vfio-manager", "vgpu-manager-validation": "vgpu-manager"},
    "sandbox-device-plugin": {
        "vfio-pci-validation": "vfio-manager",
        "vgpu-devices-validation": "vgpu-device-manager",
    },
    "kata-sandbox-device-plugin": {"vfio-pci-validation": "vfio-manager"},
    "vgpu-device-manager": {"vgpu-manager-validation": "vgpu-manager"},
    "driver": {"mofed-validation": "network-operator"},
    "vfio-manager": {"cc-manager-validation": "cc-manager"},
}
_WAITS_FOR_TOOLKIT = {"toolkit-validation": "container-toolkit", "driver-validation": "driver"}
_MAIN = {
    "driver": DRIVER_CONTAINERS,
    "container-toolkit": ("nvidia-container-toolkit-ctr",),
    "device-plugin": ("nvidia-device-plugin", "nvidia-device-plugin-ctr", "nvidia-gpu-device-plugin"),
    "gpu-feature-discovery": ("gpu-feature-discovery", "gpu-feature-discovery-ctr"),
    "mig-manager": ("nvidia-mig-manager",),
    "dcgm": ("nvidia-dcgm-ctr",),
    "dcgm-exporter": ("nvidia-dcgm-exporter", "dcgm-exporter", "exporter"),
    "operator-validator": ("nvidia-operator-validator",),
    "mps-control-daemon": ("mps-control-daemon-ctr",),
}


def _offers(resource: str) -> bool:
    """Cards, shares of them and MIG slices."""
    return resource in ("nvidia.com/gpu", "nvidia.com/gpu.shared") or resource.startswith("nvidia.com/mig-")


def _offers_to_machines(resource: str) -> bool:
    """Cards for virtual machines, which are named by their model."""
    return resource.startswith("nvidia.com/") and not _offers(resource)


def _component(name: str) -> Component:
    offers = {
        "device-plugin": _offers,
        "sandbox-device-plugin": _offers_to_machines,
        "kata-sandbox-device-plugin": _offers_to_machines,
    }
    return Component(
        name=name,
        main=_MAIN.get(name, ()),
        waits=_WAITS.get(name, _WAITS_FOR_TOOLKIT),
        offers=offers.get(name),
        refine=refined(name),
        optional=name in OPTIONAL,
    )


def _in_order() -> list[Component]:
    """The order of blame: where cards are claimed, that plugin stands in the place of the device plugin."""
    found = [_component(name) for name in OPERANDS]
    found.insert(list(OPERANDS).index("device-plugin"), dra_driver.COMPONENT)
    return found


SOFTWARE = SoftwareOf(
    node=tuple(_in_order()),
    concerns=concerns,
    without=without,
    expected=expected,
    cluster=operator.in_cluster,
    together=together,
)
