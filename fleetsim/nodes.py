"""Node objects of the demo, in the API's form: capacity, conditions, addresses, nodeInfo as the real ones."""

from __future__ import annotations

import json
from typing import Any

from fleetsim import labels, nodetypes, vendortypes, volcano
from fleetsim.clock import DAY, rfc3339
from fleetsim.labels import DRIVER
from fleetsim.nodetypes import NodeType
from fleetsim.systems import GPU_CORE, GPU_COUNT, GPU_MEM, NVIDIA_GPU

#: Build → (the server's release, its revision).
_WINDOWS = {"10.0.17763": ("2019", 6414), "10.0.20348": ("2022", 2762), "10.0.26100": ("2025", 4061)}


def build(kind: NodeType, name: str, number: int, uid: str, uuids: list[str], now: float) -> dict[str, Any]:
    """One Ready node. number: in the fleet, from 0. uuids: of its cards."""
    created = now - 40 * DAY - number % 97 * DAY / 3
    metadata: dict[str, Any] = {
        "name": name,
        "uid": uid,
        "creationTimestamp": rfc3339(created),
        "labels": labels.of_node(kind, name),
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


def _annotations(kind: NodeType, uuids: list[str], now: float) -> dict[str, str]:
    annotations = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
    if kind.operator:
        annotations["nvidia.com/gpu-driver-upgrade-enabled"] = "true"
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
    if kind is vendortypes.VOLCANO and kind.model is not None:
        annotations[volcano.REGISTER] = volcano.register(uuids, kind.units, kind.model.name, kind.pods_per_card)
    if "gke" in kind.plugins:
        parts = {"full": DRIVER, **dict(zip(("major", "minor", "revision"), DRIVER.split("."), strict=True))}
        annotations |= {f"cloud.google.com/cuda.driver-version.{name}": value for name, value in parts.items()}
    return annotations


def _capacity(kind: NodeType) -> dict[str, str]:
    cpus, memory = (8, 32) if kind.windows else (128, 1024) if kind.cards == 8 else (32, 128)
    capacity = {
        "cpu": str(cpus),
        "memory": f"{memory * 1024 * 1024 - 98_304}Ki",
        "ephemeral-storage": "514937088Ki",
        "pods": "64" if kind.windows else "250",
    }
    capacity.update({part.system.resource: str(len(part.parents)) for part in kind.slices})
    if kind.system is None or not kind.units:
        return capacity
    if kind.system.resource == GPU_MEM:
        capacity.update({GPU_MEM: str(kind.cards * kind.units), GPU_COUNT: str(kind.cards)})
        if kind is nodetypes.T4_MIB:
            capacity[GPU_CORE] = str(kind.cards * 100)
    elif kind is nodetypes.HAMI:
        capacity[NVIDIA_GPU] = str(kind.cards * kind.pods_per_card)
    elif kind is vendortypes.VOLCANO:
        capacity[volcano.NUMBER] = str(kind.cards * kind.pods_per_card)
        capacity |= {volcano.MEMORY: str(kind.cards * kind.units), volcano.CORES: str(kind.cards * 100)}
    elif kind is vendortypes.KAI:
        capacity[NVIDIA_GPU] = str(kind.cards)
    elif kind is vendortypes.INTEL:
        capacity |= {kind.system.resource: str(kind.cards * kind.units), "gpu.intel.com/monitoring": "1"}
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
    if "gke" in kind.plugins:
        image, kernel = "Container-Optimized OS from Google", "6.12.46+"
    if "ascend" in kind.plugins:
        image, kernel = "openEuler 22.03 (LTS-SP4)", "5.10.0-216.0.0.115.oe2203sp4.x86_64"
    if kind.windows:
        server, revision = _WINDOWS[kind.windows_build]
        image = f"Windows Server {server} Datacenter"
        kernel = f"{kind.windows_build}.{revision}"
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
