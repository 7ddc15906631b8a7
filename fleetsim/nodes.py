"""Node objects of the demo, in the API's form: labels, capacity, conditions, addresses, nodeInfo as the real ones."""

from __future__ import annotations

import json
from typing import Any

from fleetsim import nodetypes
from fleetsim.clock import DAY, rfc3339
from fleetsim.nodetypes import NodeType
from fleetsim.systems import GPU_CORE, GPU_COUNT, GPU_MEM, NVIDIA_GPU

DRIVER = "570.148.08"
CUDA = "12.8"
#: Operands of the GPU Operator that have a node label of their own.
OPERANDS = ("driver", "container-toolkit", "device-plugin", "gpu-feature-discovery", "dcgm", "dcgm-exporter")
OPERANDS_MORE = ("node-status-exporter", "operator-validator")


def build(kind: NodeType, name: str, number: int, uid: str, uuids: list[str], now: float) -> dict[str, Any]:
    """One Ready node. number: in the fleet, from 0. uuids: of its cards."""
    created = now - 40 * DAY - number % 97 * DAY / 3
    metadata: dict[str, Any] = {
        "name": name,
        "uid": uid,
        "creationTimestamp": rfc3339(created),
        "labels": _labels(kind, name),
        "annotations": _annotations(kind, uuids, now),
    }
    spec: dict[str, Any] = {"podCIDR": f"10.{64 + number // 256}.{number % 256}.0/24", "providerID": f"demo://{name}"}
    if kind.taints:
        spec["taints"] = [{"key": key, "value": value, "effect": effect} for key, value, effect in kind.taints]
    capacity = _capacity(kind)
    return {
        "metadata": metadata,
        "spec": spec,
        "status": {
            "capacity": capacity,
            "allocatable": {**capacity, "memory": _less(capacity["memory"])},
            "conditions": conditions(now, created),
            "addresses": [
                {"type": "InternalIP", "address": f"192.168.{number // 250}.{number % 250 + 4}"},
                {"type": "Hostname", "address": name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": _info(kind, number),
        },
    }


def conditions(now: float, since: float, ready: str = "True") -> list[dict[str, Any]]:
    """The kubelet's conditions. ready "Unknown": the kubelet stopped posting."""
    rows = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]
    if ready != "True":
        rows = [(kind, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.") for kind, *_ in rows]
    return [
        {
            "type": kind,
            "status": status,
            "lastHeartbeatTime": rfc3339(now if ready == "True" else since),
            "lastTransitionTime": rfc3339(since),
            "reason": reason,
            "message": message,
        }
        for kind, status, reason, message in rows
    ]


def _labels(kind: NodeType, name: str) -> dict[str, str]:
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
    if kind is nodetypes.UNSERVED:
        labels.update({"nvidia.com/gpu.present": "true", "feature.node.kubernetes.io/pci-10de.present": "true"})
    if kind is nodetypes.AMD:
        labels.update(_amd_labels())
    return labels


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
        labels.update({"nvidia.com/gpu.deploy.mig-manager": "true", "nvidia.com/mig.config": "all-disabled"})
        labels["nvidia.com/mig.config.state"] = "success"
    # Feature discovery waits for the toolkit as the device plugin does.
    return labels if kind is nodetypes.L40S_WAITING else {**labels, **_feature_labels(kind)}


def _feature_labels(kind: NodeType) -> dict[str, str]:
    model = kind.model
    if model is None:
        return {}
    strategy = {nodetypes.TIME_SLICED.key: "time-slicing", nodetypes.MPS.key: "mps"}.get(kind.key, "none")
    driver, runtime = DRIVER.split("."), CUDA.split(".")
    labels = {
        "nvidia.com/cuda.driver-version.full": DRIVER,
        "nvidia.com/cuda.driver-version.major": driver[0],
        "nvidia.com/cuda.driver-version.minor": driver[1],
        "nvidia.com/cuda.driver-version.revision": driver[2],
        "nvidia.com/cuda.runtime-version.full": CUDA,
        "nvidia.com/cuda.runtime-version.major": runtime[0],
        "nvidia.com/cuda.runtime-version.minor": runtime[1],
        "nvidia.com/gfd.timestamp": "1780000000",
        "nvidia.com/gpu.product": model.label + ("-SHARED" if strategy != "none" else ""),
        "nvidia.com/gpu.count": str(kind.cards),
        "nvidia.com/gpu.memory": str(model.memory_mib),
        "nvidia.com/gpu.replicas": str(kind.units),
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
    return labels


def _amd_labels() -> dict[str, str]:
    return {
        "feature.node.kubernetes.io/amd-gpu": "true",
        "amd.com/gpu.family": "AI",
        "amd.com/gpu.device-id": "740f",
        "amd.com/gpu.product-name": "Instinct_MI210",
        "amd.com/gpu.vram": "64G",
        "amd.com/gpu.cu-count": "104",
        "amd.com/gpu.simd-count": "416",
        "amd.com/gpu.driver-version": "6.8.5",
    }


def _annotations(kind: NodeType, uuids: list[str], now: float) -> dict[str, str]:
    annotations = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
    if kind is nodetypes.HAMI and kind.model is not None:
        name, memory = kind.model.name, kind.model.memory_mib
        cards = [
            {"id": uuid, "count": 10, "devmem": memory, "devcore": 100, "type": f"NVIDIA-{name}", "mode": "hami-core"}
            | ({"index": index} if index else {})
            | {"health": True}
            for index, uuid in enumerate(uuids)
        ]
        annotations["hami.io/node-nvidia-register"] = json.dumps(cards, separators=(",", ":"))
        annotations["hami.io/node-handshake"] = f"Requesting_{rfc3339(now).replace('T', ' ').rstrip('Z')}"
    return annotations


def _capacity(kind: NodeType) -> dict[str, str]:
    cpus, memory = (8, 32) if kind.windows else (128, 1024) if kind.cards == 8 else (32, 128)
    capacity = {
        "cpu": str(cpus),
        "memory": f"{memory * 1024 * 1024 - 98_304}Ki",
        "ephemeral-storage": "514937088Ki",
        "pods": "64" if kind.windows else "250",
    }
    if kind.system is None or not kind.units:
        return capacity
    if kind.system.resource == GPU_MEM:
        capacity.update({GPU_MEM: str(kind.cards * kind.units), GPU_COUNT: str(kind.cards)})
        if kind is nodetypes.T4_MIB:
            capacity[GPU_CORE] = str(kind.cards * 100)
    elif kind is nodetypes.HAMI:
        capacity[NVIDIA_GPU] = str(kind.cards * kind.pods_per_card)
    else:
        capacity[kind.system.resource] = str(kind.cards * kind.units)
    return capacity


def _less(memory: str) -> str:
    # What the kubelet keeps for itself and the system.
    return f"{int(memory.removesuffix('Ki')) - 1_048_576}Ki"


def _info(kind: NodeType, number: int) -> dict[str, str]:
    image = "Ubuntu 22.04.5 LTS"
    kernel = "5.15.0-130-generic"
    if kind is nodetypes.K80:
        image, kernel = "CentOS Linux 7 (Core)", "3.10.0-514.el7.x86_64"
    if kind.windows:
        server = {"10.0.17763": "2019", "10.0.20348": "2022"}[kind.windows_build]
        image = f"Windows Server {server} Datacenter"
        kernel = f"{kind.windows_build}.{6414 if server == '2019' else 2762}"
    return {
        "machineID": f"{number:032x}",
        "systemUUID": f"{number:08x}-0000-4000-8000-000000000000",
        "bootID": f"{number:08x}-0000-4000-8000-00000000b007",
        "kernelVersion": kernel,
        "osImage": image,
        "containerRuntimeVersion": kind.runtime,
        "kubeletVersion": kind.kubelet,
        "kubeProxyVersion": kind.kubelet,
        "operatingSystem": "windows" if kind.windows else "linux",
        "architecture": "amd64",
    }
