"""Labels of the demo's nodes: what kubelet, Node Feature Discovery, GPU Operator and GPU Feature Discovery write, beside those of
the node's type."""

from __future__ import annotations

from fleetsim import nodetypes
from fleetsim.mig import Layout, profile, resource
from fleetsim.models import Model
from fleetsim.nodetypes import NodeType

#: On hosts that nobody upgrades, and where the GPU Operator installs the driver: before its upgrade, and since.
DRIVER, CUDA = "570.148.08", "12.8"
NEW_DRIVER, NEW_CUDA = "580.105.08", "13.0"
#: Operands of the GPU Operator that have a node label of their own.
OPERANDS = ("driver", "container-toolkit", "device-plugin", "gpu-feature-discovery", "dcgm", "dcgm-exporter")
OPERANDS_MORE = ("node-status-exporter", "operator-validator")
#: Plugins beside which GPU Feature Discovery runs, without the operator.
_DISCOVERED = ("volcano",)
#: The operator serves other nodes of this cluster; here another system is in its place.
_OTHERS = {
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.deploy.operands": "false",
}


def of_node(kind: NodeType, name: str) -> dict[str, str]:
    system = "windows" if kind.windows else "linux"
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": system,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": system,
        "pool": kind.pool,
        **kind.labels,
    }
    if kind.windows:
        labels["node.kubernetes.io/windows-build"] = kind.windows_build
    if kind.instance_type:
        labels["node.kubernetes.io/instance-type"] = kind.instance_type
        labels["beta.kubernetes.io/instance-type"] = kind.instance_type
    if kind.operator:
        labels.update(_operator_labels(kind))
    if not kind.windows:
        labels.update(_found(kind))
    if kind.plugins and kind.plugins[0] in _DISCOVERED:
        labels.update(_feature_labels(kind))
    return labels


def _found(kind: NodeType) -> dict[str, str]:
    """By Node Feature Discovery. Nodes of others are kept from the GPU Operator, which would take each that has such a card."""
    labels = {
        "feature.node.kubernetes.io/cpu-model.vendor_id": "AMD",
        "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    }
    nvidia = kind.model is not None and kind.model.pci[0] == "10de"
    return labels | _OTHERS if nvidia and not kind.operator else labels


def _operator_labels(kind: NodeType) -> dict[str, str]:
    labels = {f"nvidia.com/gpu.deploy.{operand}": "true" for operand in OPERANDS + OPERANDS_MORE}
    labels.update(
        {
            "feature.node.kubernetes.io/pci-10de.present": "true",
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu-driver-upgrade-state": "upgrade-done",
        }
    )
    if kind.model is not None and kind.model.mig_capable:
        config = kind.layout.config if kind.layout is not None else "all-disabled"
        labels.update({"nvidia.com/gpu.deploy.mig-manager": "true", "nvidia.com/mig.config": config})
        labels["nvidia.com/mig.config.state"] = "success"
    # Feature discovery waits for the toolkit as the device plugin does.
    return labels if kind is nodetypes.L40S_WAITING else {**labels, **_feature_labels(kind)}


def _feature_labels(kind: NodeType) -> dict[str, str]:
    model = kind.model
    if model is None:
        return {}
    strategy = {nodetypes.TIME_SLICED.key: "time-slicing", nodetypes.MPS.key: "mps"}.get(kind.key, "none")
    labels = {
        **driver_labels(new=kind.operator),
        "nvidia.com/gfd.timestamp": "1780000000",
        "nvidia.com/gpu.product": model.label + ("-SHARED" if strategy != "none" else ""),
        "nvidia.com/gpu.count": str(kind.cards),
        "nvidia.com/gpu.memory": str(model.memory_mib),
        "nvidia.com/gpu.replicas": str(kind.units if strategy != "none" else 1),
        "nvidia.com/gpu.sharing-strategy": strategy,
        "nvidia.com/gpu.family": model.family,
        "nvidia.com/gpu.compute.major": str(model.compute[0]),
        "nvidia.com/gpu.compute.minor": str(model.compute[1]),
        "nvidia.com/gpu.machine": model.machine,
        "nvidia.com/gpu.mode": "compute",
        "nvidia.com/mig.capable": str(model.mig_capable).lower(),
        "nvidia.com/mps.capable": str(strategy == "mps").lower(),
        "nvidia.com/vgpu.present": "false",
    }
    return labels | (_slice_labels(model, kind.layout) if kind.layout is not None else {})


def driver_labels(*, new: bool) -> dict[str, str]:
    """Which driver GPU Feature Discovery found."""
    full, runtime_full = (NEW_DRIVER, NEW_CUDA) if new else (DRIVER, CUDA)
    driver, runtime = full.split("."), runtime_full.split(".")
    return {
        "nvidia.com/cuda.driver-version.full": full,
        "nvidia.com/cuda.driver-version.major": driver[0],
        "nvidia.com/cuda.driver-version.minor": driver[1],
        "nvidia.com/cuda.driver-version.revision": driver[2],
        "nvidia.com/cuda.runtime-version.full": runtime_full,
        "nvidia.com/cuda.runtime-version.major": runtime[0],
        "nvidia.com/cuda.runtime-version.minor": runtime[1],
    }


def driver_of(labels: dict[str, str]) -> tuple[str, str]:
    """(driver, CUDA) of a node with these labels."""
    found = labels.get("nvidia.com/cuda.driver-version.full", DRIVER)
    return found, labels.get("nvidia.com/cuda.runtime-version.full", CUDA)


def _slice_labels(model: Model, layout: Layout) -> dict[str, str]:
    """Strategy mixed: each profile has labels of its own. Strategy single: those of the card speak of the slices."""
    labels = {"nvidia.com/mig.strategy": layout.strategy}
    for name, number in layout.counts.items():
        prefix = "nvidia.com/gpu" if layout.strategy == "single" else resource(name)
        product = f"{model.label}-MIG-{name}"
        said = {"product": product, "count": number, "replicas": 1, "sharing-strategy": "none"}
        said |= profile(model, name).attributes()
        labels |= {f"{prefix}.{key}": str(value) for key, value in said.items()}
    if layout.strategy == "mixed" and not layout.whole:
        # A card in MIG mode has no sharing of its own to speak of.
        labels["nvidia.com/gpu.replicas"] = "0"
    return labels
