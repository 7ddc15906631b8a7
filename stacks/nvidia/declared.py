"""What NVIDIA's plugin and the GPU Operator write on nodes, and the pods that they consist of.

Sources: the labels of GPU Feature Discovery; the operand table of the GPU Operator.
"""

from __future__ import annotations

from itertools import takewhile

from stacks.engine.labels import first, mebibytes, text
from stacks.engine.stack import Components, Cuda, Kept, Labels, NodeLabels
from stacks.nvidia import dra_driver, gke
from stacks.nvidia.plugin_config import DEFAULT, DISCOVERY, FALLBACKS, FILE, PLUGIN

PRODUCT = "nvidia.com/gpu.product"
MEMORY = "nvidia.com/gpu.memory"
#: The scheduler knows nothing of cards that a pod takes by this variable.
VISIBLE = "NVIDIA_VISIBLE_DEVICES"
_DRIVER_FULL = first(("nvidia.com/cuda.driver-version.full", "nvidia.com/vgpu.host-driver-version"), text)
#: Older GPU Feature Discovery writes only the parts.
_DRIVER_PARTS = ("nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor", "nvidia.com/cuda.driver.rev")
_RUNTIME_PARTS = ("nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor")
_CAPABILITY_PARTS = ("nvidia.com/gpu.compute.major", "nvidia.com/gpu.compute.minor")


def _model(product: str) -> str:
    return product.removesuffix("-SHARED")


def _driver(labels: Labels) -> tuple[str, str] | None:
    if (full := _DRIVER_FULL(labels)) is not None:
        return full
    version = _joined(labels, _DRIVER_PARTS)
    return (version, "labels nvidia.com/cuda.driver.*") if version else None


def _joined(labels: Labels, names: tuple[str, ...]) -> str:
    """A version of which each part has a label, up to the first that is missing."""
    return ".".join(takewhile(bool, (labels.get(name, "") for name in names)))


def _cuda(labels: Labels) -> Cuda:
    """The driver of a vGPU's host is not the one that programs find on the node."""
    return Cuda(
        driver=labels.get("nvidia.com/cuda.driver-version.full") or _joined(labels, _DRIVER_PARTS),
        newest=labels.get("nvidia.com/cuda.runtime-version.full") or _joined(labels, _RUNTIME_PARTS),
        capability=_joined(labels, _CAPABILITY_PARTS),
    )


NODE_LABELS = NodeLabels(
    prefixes=("nvidia.com/", *gke.KEPT),
    dropped=("nvidia.com/gfd.timestamp",),
    present=("nvidia.com/gpu.present",),
    by_claims=("nvidia.com/gpu.deploy.dra-driver",),
    given_by={"nvidia.com/gpu.deploy.device-plugin": "device-plugin"},
    vendor_words=("nvidia",),
    model=first((PRODUCT,), _model),
    memory=first((MEMORY,), mebibytes),
    driver=_driver,
    cuda=_cuda,
)

_BY_LABEL = {
    "app.kubernetes.io/component": {
        "nvidia-driver": "driver",
        "nvidia-vgpu-host-manager": "vgpu-manager",
    },
    "app": {
        "gpu-operator": "gpu-operator",
        "nvidia-driver-daemonset": "driver",
        "nvidia-container-toolkit-daemonset": "container-toolkit",
        "nvidia-operator-validator": "operator-validator",
        "nvidia-device-plugin-daemonset": PLUGIN,
        "nvidia-device-plugin-mps-control-daemon": "mps-control-daemon",
        "nvidia-dcgm": "dcgm",
        "nvidia-dcgm-exporter": "dcgm-exporter",
        "gpu-feature-discovery": DISCOVERY,
        "nvidia-mig-manager": "mig-manager",
        "nvidia-node-status-exporter": "node-status-exporter",
        "nvidia-vgpu-manager-daemonset": "vgpu-manager",
        "nvidia-vgpu-device-manager": "vgpu-device-manager",
        "nvidia-sandbox-validator": "sandbox-validator",
        "nvidia-sandbox-device-plugin-daemonset": "sandbox-device-plugin",
        "nvidia-kata-sandbox-device-plugin-daemonset": "kata-sandbox-device-plugin",
        "nvidia-vfio-manager": "vfio-manager",
        "nvidia-kata-manager": "kata-manager",
        "nvidia-cc-manager": "cc-manager",
        "nvidia-cuda-validator": "cuda-validator",
        "nvidia-device-plugin-validator": "device-plugin-validator",
        "nvidia-driver-validation": "driver-validation",
        "nvidia-device-plugin-validation": "device-plugin-validation",
    },
    "k8s-app": {"nvidia-gpu-device-plugin": PLUGIN},
    "name": {
        "nvidia-device-plugin-ds": PLUGIN,
        "nvidia-vfio-manager": "vfio-manager",
        "nvidia-kata-manager": "kata-manager",
        "nvidia-cc-manager": "cc-manager",
    },
    "app.kubernetes.io/name": {
        "nvidia-device-plugin": PLUGIN,
        "gpu-feature-discovery": DISCOVERY,
        "dcgm-exporter": "dcgm-exporter",
    },
}
COMPONENTS = Components(
    by_label={
        key: {**_BY_LABEL.get(key, {}), **dra_driver.BY_LABEL.get(key, {})}
        for key in (*_BY_LABEL, *dra_driver.BY_LABEL)
    },
    device_plugins=(PLUGIN,),
    daemonsets=(PLUGIN, DISCOVERY),
)

KEPT = Kept(
    node_annotations=("nvidia.com/gpu-driver-upgrade-enabled",),
    env=(VISIBLE, "CUDA_VISIBLE_DEVICES", DEFAULT, FALLBACKS, FILE),
    env_of_interest=(VISIBLE,),
)
