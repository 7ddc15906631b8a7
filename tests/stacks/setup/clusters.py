"""Clusters for tests of `prepare`: nodes, and the objects that other systems have made there."""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from kube.objects import Node
from stacks.engine.comparing import key_of
from stacks.engine.preparing import Prepared
from stacks.engine.setup import OBJECTS, Found, Json, Key

MASTER, CONTROL_PLANE = "node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"
BUILD, REGION = "node.kubernetes.io/windows-build", "topology.kubernetes.io/region"


def node(
    name: str,
    version: str = "v1.28.9",
    runtime: str = "containerd://1.7.27",
    system: str = "linux",
    taints: tuple[tuple[str, str, str], ...] = (),
    capacity: dict[str, str] | None = None,
    **labels: str,
) -> Node:
    """taints: (key, value, effect). labels: of names that Python cannot spell, give them as **{...}."""
    info = {"kubeletVersion": version, "containerRuntimeVersion": runtime, "operatingSystem": system}
    return msgspec.convert(
        {
            "metadata": {"name": name, "labels": {"kubernetes.io/os": system, **labels}},
            "spec": {"taints": [{"key": key, "value": value, "effect": effect} for key, value, effect in taints]},
            "status": {"nodeInfo": info, "capacity": capacity or {}},
        },
        Node,
    )


def control_plane(name: str = "cp-1", role: str = CONTROL_PLANE, value: str = "", **fields: Any) -> Node:
    return node(name, taints=((role, "", "NoSchedule"),), **fields, **{role: value})


def card(name: str, *taints: tuple[str, str, str], **fields: Any) -> Node:
    """A node that Node Feature Discovery says has an NVIDIA card."""
    return node(name, taints=taints, **{"feature.node.kubernetes.io/pci-10de.present": "true", **fields})


def windows(name: str, build: str = "10.0.20348", **fields: Any) -> Node:
    return node(name, system="windows", **{BUILD: build, "kubernetes.io/arch": "amd64", **fields})


def cluster(version: str, nodes: list[Node], *objects: Json) -> Found:
    """One whose objects were read."""
    return Found(version=version, nodes=nodes, objects={key_of(thing): thing for thing in objects})


def workload(kind: str, namespace: str, name: str, labels: dict[str, str], **spec: Any) -> Json:
    """A DaemonSet or Deployment as some chart has made it. spec: of its pods."""
    template = {"metadata": {"labels": labels}, "spec": {"containers": [], **spec}}
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def static_plugin() -> Json:
    """NVIDIA's plugin of its static manifest."""
    return workload("DaemonSet", "kube-system", "nvidia-device-plugin-daemonset", {"name": "nvidia-device-plugin-ds"})


def chart_plugin(release: str = "nvdp") -> Json:
    labels = {"app.kubernetes.io/name": "nvidia-device-plugin", "app.kubernetes.io/instance": release}
    return workload("DaemonSet", "nvidia", f"{release}-nvidia-device-plugin", labels)


def operator_plugin() -> Json:
    return workload(
        "DaemonSet", "gpu-operator", "nvidia-device-plugin-daemonset", {"app": "nvidia-device-plugin-daemonset"}
    )


def made(prepared: Prepared) -> list[Json]:
    """The objects of its manifests."""
    texts = [file.text for file in prepared.files if file.kind == OBJECTS]
    return [document for text in texts for document in yaml.safe_load_all(text)]


def file(prepared: Prepared, name: str) -> str:
    (text,) = (file.text for file in prepared.files if file.name == name)
    return text


def keys(found: Found) -> set[Key]:
    return set(found.objects or {})
