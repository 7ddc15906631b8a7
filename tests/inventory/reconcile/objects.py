"""Nodes and pods of whole cards (cards named by their UUIDs) and of gpushare."""

from __future__ import annotations

from typing import Any

from kube.listed import Pod
from kube.objects import Node
from tests.inventory.mirror.objects import decoded, node_json, pod_json

#: What GPU Feature Discovery writes.
LABELS = {
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.product": "NVIDIA-A10",
    "nvidia.com/gpu.memory": "23028",
    "nvidia.com/gpu.count": "2",
    "nvidia.com/gpu.replicas": "1",
}


def whole_node(name: str = "gpu-1", cards: int = 2, **metadata: Any) -> Node:
    labels = LABELS | {"nvidia.com/gpu.count": str(cards)}
    made: Node = decoded(Node, node_json(name, cards, labels=labels, **metadata))
    return made


def whole_pod(name: str, node: str = "gpu-1", uuids: tuple[str, ...] = (), cards: int = 1, **changes: Any) -> Pod:
    """uuids: the cards that the kubelet says the pod has; none: only the count is known."""
    value = pod_json(name, node, cards)
    status: dict[str, Any] = {"name": "main", "state": {"running": {}}}
    if uuids:
        resources = [{"resourceID": uuid, "health": "Healthy"} for uuid in uuids]
        status["allocatedResourcesStatus"] = [{"name": "nvidia.com/gpu", "resources": resources}]
    status |= changes.pop("container", {})
    value["status"] |= {"containerStatuses": [status]} | changes
    made: Pod = decoded(Pod, value)
    return made


def ended_pod(name: str, finished: str, node: str = "gpu-1", uuids: tuple[str, ...] = ()) -> Pod:
    state = {"state": {"terminated": {"exitCode": 0, "finishedAt": finished}}}
    return whole_pod(name, node, uuids, phase="Succeeded", container=state)


def share_node(name: str, units: int, cards: int = 2, memory: str = "15GiB") -> Node:
    """A gpushare node. memory: of a card, as its label says."""
    value = node_json(name, 0, labels={"gpushare": "true", "aliyun.accelerator/nvidia_mem": memory})
    amounts = {"aliyun.com/gpu-mem": str(units), "aliyun.com/gpu-count": str(cards)}
    value["status"] |= {"capacity": amounts, "allocatable": amounts}
    made: Node = decoded(Node, value)
    return made


def share_pod(name: str, node: str, units: int, index: int | None, assigned: bool = True, assumed_ns: int = 0) -> Pod:
    annotations = {"ALIYUN_COM_GPU_MEM_POD": str(units), "ALIYUN_COM_GPU_MEM_ASSIGNED": str(assigned).lower()}
    if index is not None:
        annotations |= {"ALIYUN_COM_GPU_MEM_IDX": str(index)}
    if assumed_ns:
        annotations |= {"ALIYUN_COM_GPU_MEM_ASSUME_TIME": str(assumed_ns)}
    value = pod_json(name, node, annotations=annotations)
    value["spec"]["containers"][0]["resources"]["limits"] = {"aliyun.com/gpu-mem": str(units)}
    made: Pod = decoded(Pod, value)
    return made
