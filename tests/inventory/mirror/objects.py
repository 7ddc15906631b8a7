"""Objects as the API server sends them, decoded."""

from __future__ import annotations

import json
from typing import Any

from kube.decode import Decoder, Unread
from kube.listed import Pod
from kube.objects import DaemonSet, Node


def pod_json(name: str, /, node: str = "gpu-1", cards: int = 1, version: int = 1, **metadata: Any) -> dict[str, Any]:
    """A pod with a GPU; cards 0: without."""
    limits = {"nvidia.com/gpu": str(cards)} if cards else {"cpu": "1"}
    return {
        "metadata": {"name": name, "namespace": "team-a", "uid": f"uid-{name}", "resourceVersion": str(version)}
        | metadata,
        "spec": {"nodeName": node, "containers": [{"name": "main", "resources": {"limits": limits}}]},
        "status": {"phase": "Running", "startTime": "2026-03-02T08:00:00Z"},
    }


def node_json(name: str, /, cards: int = 2, version: int = 1, **metadata: Any) -> dict[str, Any]:
    amounts = {"nvidia.com/gpu": str(cards)} if cards else {"cpu": "8"}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)} | metadata,
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def decoded(kind: type[Any], value: Any) -> Any:
    """As the watchers do it."""
    thing = Decoder(kind).object(json.dumps(value).encode())
    assert not isinstance(thing, Unread), thing
    return thing


def pod(name: str, /, node: str = "gpu-1", cards: int = 1, **metadata: Any) -> Pod:
    made: Pod = decoded(Pod, pod_json(name, node, cards, **metadata))
    return made


def node(name: str, /, cards: int = 2, **metadata: Any) -> Node:
    made: Node = decoded(Node, node_json(name, cards, **metadata))
    return made


def plugin(unit: str = "GiB") -> DaemonSet:
    """The DaemonSet of the gpushare device plugin."""
    container = {
        "name": "gpushare",
        "image": "gpushare-plugin:v2",
        "command": ["gpushare-device-plugin-v2", f"--memory-unit={unit}"],
    }
    labels = {"app": "gpushare", "component": "gpushare-device-plugin", "name": "gpushare-device-plugin-ds"}
    made: DaemonSet = decoded(
        DaemonSet,
        {
            "metadata": {
                "name": "gpushare-device-plugin-ds",
                "namespace": "kube-system",
                "uid": "uid-ds",
                "labels": labels,
            },
            "spec": {"template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}},
        },
    )
    return made


def unread(name: str, uid: str = "", namespace: str = "team-a") -> Unread:
    return Unread(namespace, name, uid, "spec: expected object")
