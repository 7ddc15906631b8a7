"""Objects of the Kubernetes API as a fleet of GPU nodes has them: nodes, workload pods, plugin pods, DaemonSets.

Plain JSON values, written from the description of each sharing system; nothing here imports the product. A `Kind` is one way of
giving out cards; `KINDS` lists them. Numbers are in the unit of the resource: GiB or MiB for gpushare, devices for the rest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

GIB, MIB = 2**30, 2**20
GPU_MEM, GPU_COUNT = "aliyun.com/gpu-mem", "aliyun.com/gpu-count"
NVIDIA, DIRECTX = "nvidia.com/gpu", "windows.alibabacloud.com/directx"


@dataclass(frozen=True)
class Kind:
    """One way of giving out cards. each: units of `resource` that one card has; unit: bytes of one unit, None when not metered.

    evidence: how a pod's card is told: annotation v1 or v2, the pod's device status, or not at all (""). memory: bytes of a card
    that a holder of the whole card holds; None when the system does not give out memory.
    """

    name: str
    resource: str
    each: int
    unit: int | None = None
    memory: int | None = None
    evidence: str = ""
    labels: Json = field(default_factory=dict)
    system: str = "linux"


_GFD = {"nvidia.com/gpu.product": "NVIDIA-A10", "nvidia.com/gpu.memory": "23028", "nvidia.com/gpu.count": "8"}
_WHOLE = {**_GFD, "nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.sharing-strategy": "none"}
_SLICED = {**_GFD, "nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing"}
_T4 = {"gpushare": "true", "aliyun.accelerator/nvidia_name": "Tesla-T4", "aliyun.accelerator/nvidia_mem": "16276MiB"}
_P4 = {"gpushare": "true", "aliyun.accelerator/nvidia_name": "Tesla-P4", "aliyun.accelerator/nvidia_mem": "7611MiB"}

KINDS = {
    kind.name: kind
    for kind in (
        Kind("gib", GPU_MEM, 15, unit=GIB, evidence="v1", labels=_T4),
        Kind("mib", GPU_MEM, 7611, unit=MIB, evidence="v2", labels=_P4),
        Kind("count", NVIDIA, 1, memory=23028 * MIB, labels=_WHOLE),
        Kind("status", NVIDIA, 1, memory=23028 * MIB, evidence="status", labels=_WHOLE),
        Kind("sliced", NVIDIA, 4, labels=_SLICED | {"nvidia.com/gpu.product": "NVIDIA-A10-SHARED"}),
        Kind("directx", DIRECTX, 1, system="windows"),
    )
}


def uuid_of(node: str, card: int) -> str:
    """The UUID of a card, as NVIDIA's plugin names it."""
    return f"GPU-{node}-{card:04d}"


def node(name: str, kind: Kind, cards: int = 8) -> Json:
    """A node of a kind, ready, with its status (a create through the API drops the status: patch it after)."""
    capacity = {"cpu": "96", "memory": "768Gi", "pods": "110", kind.resource: str(kind.each * cards)}
    if kind.resource == GPU_MEM:
        capacity[GPU_COUNT] = str(cards)
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": kind.system, **kind.labels}
    labels["node.kubernetes.io/instance-type"] = "ecs.gn6v-c8g1.16xlarge"
    if "nvidia.com/gpu.count" in labels:
        labels["nvidia.com/gpu.count"] = str(cards)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"providerID": f"test://{name}"},
        "status": {
            "capacity": capacity,
            "allocatable": dict(capacity),
            "conditions": [condition("Ready", "True", "KubeletReady")],
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}],
            "nodeInfo": _node_info(kind.system),
        },
    }


def condition(kind: str, status: str, reason: str) -> Json:
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": "2026-01-01T00:00:00Z"}


def _node_info(system: str) -> Json:
    versions = {
        "kubeletVersion": "v1.36.3",
        "kubeProxyVersion": "v1.36.3",
        "containerRuntimeVersion": "containerd://2.1.4",
    }
    ids = {"machineID": "m", "systemUUID": "s", "bootID": "b", "architecture": "amd64"}
    image = "Windows Server 2022 Datacenter" if system == "windows" else "Ubuntu 24.04.2 LTS"
    return {**versions, **ids, "operatingSystem": system, "osImage": image, "kernelVersion": "6.8.0-60-generic"}


def pod(name: str, kind: Kind, quantity: int, node_name: str = "", namespace: str = "default") -> Json:
    """A pod that asks for `quantity` of the kind's resource; bound when a node is named. Its card is told by `placed`."""
    amounts = {kind.resource: str(quantity)}
    container = {
        "name": "main",
        "image": "registry.local/train:1",
        "resources": {"limits": amounts, "requests": amounts},
    }
    made: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "train"}, "annotations": {}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 30},
    }
    if node_name:
        made["spec"]["nodeName"] = node_name
    return made


def placed(kind: Kind, node_name: str, shares: dict[int, int]) -> tuple[Json, Json]:
    """(annotations, status) that tell a pod's cards. shares: card index → quantity on it. Empty where the kind cannot tell."""
    annotations: Json = {}
    status = running(kind)
    if kind.evidence == "v1":
        (card,) = shares
        annotations = {
            "ALIYUN_COM_GPU_MEM_IDX": str(card),
            "ALIYUN_COM_GPU_MEM_POD": str(shares[card]),
            "ALIYUN_COM_GPU_MEM_DEV": str(kind.each),
            "ALIYUN_COM_GPU_MEM_ASSIGNED": "true",
            "ALIYUN_COM_GPU_MEM_ASSUME_TIME": "1767225600000000000",
        }
    elif kind.evidence == "v2":
        cards = {str(card): quantity for card, quantity in shares.items()}
        annotations = {
            "scheduler.framework.gpushare.allocation": json.dumps({"0": cards}),
            "scheduler.framework.gpushare.assigned": "true",
            "scheduler.framework.gpushare.assume-time": "1767225600000000000",
        }
    elif kind.evidence == "status":
        devices = [{"resourceID": uuid_of(node_name, card), "health": "Healthy"} for card in shares]
        status["containerStatuses"][0]["allocatedResourcesStatus"] = [{"name": kind.resource, "resources": devices}]
    return annotations, status


def running(kind: Kind) -> Json:
    """The status of a pod that runs."""
    return {
        "phase": "Running",
        "startTime": "2026-01-01T00:00:10Z",
        "conditions": [condition("PodScheduled", "True", ""), condition("Ready", "True", "")],
        "containerStatuses": [
            {
                "name": "main",
                "ready": True,
                "restartCount": 0,
                "image": "registry.local/train:1",
                "imageID": "registry.local/train@sha256:" + "a" * 64,
                "state": {"running": {"startedAt": "2026-01-01T00:00:12Z"}},
            }
        ],
    }


def plugin_labels() -> Json:
    return {"app": "gpushare", "component": "gpushare-device-plugin", "name": "gpushare-device-plugin-ds"}


def plugin_spec(unit: str) -> Json:
    """The pod spec of gpushare's device plugin, which says its memory unit."""
    command = ["gpushare-device-plugin-v2", "-logtostderr", "--v=5", f"--memory-unit={unit}"]
    return {"containers": [{"name": "gpushare", "image": "registry.local/gpushare-plugin:1", "command": command}]}


def daemonset(unit: str) -> Json:
    """The DaemonSet of gpushare's device plugin for the nodes that count in `unit` (GiB or MiB)."""
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": f"gpushare-device-plugin-{unit.lower()}",
            "namespace": "kube-system",
            "labels": plugin_labels(),
        },
        "spec": {
            "selector": {"matchLabels": plugin_labels()},
            "template": {"metadata": {"labels": plugin_labels()}, "spec": plugin_spec(unit)},
        },
    }


def plugin_pod(node_name: str, unit: str) -> Json:
    """The plugin's pod on a node."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"gpushare-plugin-{node_name}", "namespace": "kube-system", "labels": plugin_labels()},
        "spec": {**plugin_spec(unit), "nodeName": node_name},
    }
