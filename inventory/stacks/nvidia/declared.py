"""What NVIDIA's plugin and the GPU Operator write on nodes, and the pods that they consist of.

Sources: the labels of GPU Feature Discovery; the operand table of the GPU Operator.
"""

from __future__ import annotations

from inventory.stacks.engine.labels import first, mebibytes, text
from inventory.stacks.engine.stack import Components, Kept, Labels, NodeLabels
from inventory.stacks.nvidia import gke
from inventory.stacks.nvidia.plugin_config import DEFAULT, DISCOVERY, FALLBACKS, FILE, PLUGIN

PRODUCT = "nvidia.com/gpu.product"
MEMORY = "nvidia.com/gpu.memory"
#: The scheduler knows nothing of cards that a pod takes by this variable.
VISIBLE = "NVIDIA_VISIBLE_DEVICES"
_DRIVER_FULL = first(("nvidia.com/cuda.driver-version.full", "nvidia.com/vgpu.host-driver-version"), text)
#: Older GPU Feature Discovery writes only the parts.
_DRIVER_PARTS = ("nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor", "nvidia.com/cuda.driver.rev")


def _model(product: str) -> str:
    return product.removesuffix("-SHARED")


def _driver(labels: Labels) -> tuple[str, str] | None:
    if (full := _DRIVER_FULL(labels)) is not None:
        return full
    parts = [labels.get(name, "") for name in _DRIVER_PARTS]
    version = ".".join(part for part in parts if part)
    return (version, "labels nvidia.com/cuda.driver.*") if parts[0] else None


NODE_LABELS = NodeLabels(
    prefixes=("nvidia.com/", *gke.KEPT),
    dropped=("nvidia.com/gfd.timestamp",),
    present=("nvidia.com/gpu.present",),
    by_claims=("nvidia.com/gpu.deploy.dra-driver",),
    vendor_words=("nvidia",),
    model=first((PRODUCT,), _model),
    memory=first((MEMORY,), mebibytes),
    driver=_driver,
)

COMPONENTS = Components(
    by_label={
        "app.kubernetes.io/component": {
            "nvidia-driver": "nvidia-driver",
            "nvidia-dra-validator": "nvidia-dra-validator",
        },
        "app": {
            "nvidia-driver-daemonset": "nvidia-driver",
            "nvidia-container-toolkit-daemonset": "nvidia-container-toolkit",
            "nvidia-operator-validator": "nvidia-operator-validator",
            "nvidia-device-plugin-daemonset": PLUGIN,
            "nvidia-device-plugin-mps-control-daemon": "nvidia-mps-control-daemon",
            "nvidia-dcgm": "nvidia-dcgm",
            "nvidia-dcgm-exporter": "nvidia-dcgm-exporter",
            "gpu-feature-discovery": DISCOVERY,
            "nvidia-mig-manager": "nvidia-mig-manager",
            "nvidia-node-status-exporter": "nvidia-node-status-exporter",
            "nvidia-vgpu-manager-daemonset": "nvidia-vgpu-manager",
            "nvidia-vgpu-device-manager": "nvidia-vgpu-device-manager",
            "nvidia-sandbox-validator": "nvidia-sandbox-validator",
            "nvidia-sandbox-device-plugin-daemonset": "nvidia-sandbox-device-plugin",
            "nvidia-kata-sandbox-device-plugin-daemonset": "nvidia-kata-sandbox-device-plugin",
            "nvidia-cuda-validator": "nvidia-cuda-validator",
            "nvidia-device-plugin-validator": "nvidia-device-plugin-validator",
            "nvidia-driver-validation": "nvidia-driver-validation",
            "nvidia-device-plugin-validation": "nvidia-device-plugin-validation",
        },
        "k8s-app": {"nvidia-gpu-device-plugin": PLUGIN},
        "name": {
            "nvidia-device-plugin-ds": PLUGIN,
            "nvidia-vfio-manager": "nvidia-vfio-manager",
            "nvidia-kata-manager": "nvidia-kata-manager",
            "nvidia-cc-manager": "nvidia-cc-manager",
        },
        "app.kubernetes.io/name": {
            "nvidia-device-plugin": PLUGIN,
            "gpu-feature-discovery": DISCOVERY,
            "dcgm-exporter": "nvidia-dcgm-exporter",
        },
    },
    device_plugins=(PLUGIN,),
    daemonsets=(PLUGIN, DISCOVERY),
)

KEPT = Kept(
    node_annotations=("nvidia.com/gpu-driver-upgrade-enabled",),
    env=(VISIBLE, "CUDA_VISIBLE_DEVICES", DEFAULT, FALLBACKS, FILE),
    env_of_interest=(VISIBLE,),
)
