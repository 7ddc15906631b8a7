"""Reads one golden case of components: objects of a cluster in one file, and what is true of each component.

Objects go through the product's decoders and through what the mirror keeps of them. What is not in a case does not exist.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from inventory.components import NodeComponents, completed, of_cluster, of_node, software_of
from kube import listed, software
from kube.objects import DaemonSet, Node, Pod
from stacks.engine.base import Context
from stacks.engine.components import component
from stacks.engine.software.base import Software, Statement
from stacks.engine.software.pods import seconds
from stacks.engine.trim import trim_pod
from stacks.engine.trim_daemonset import trim_daemonset
from stacks.engine.trim_node import trim_node

GOLDEN = Path(__file__).parent / "golden"
KINDS = {
    "Deployment": software.Deployment,
    "Service": software.Service,
    "ClusterPolicy": software.ClusterPolicy,
    "NVIDIADriver": software.NVIDIADriver,
    "GPUCluster": software.GPUCluster,
    "DeviceConfig": software.DeviceConfig,
    "GpuDevicePlugin": software.GpuDevicePlugin,
}
READ = frozenset(("nodes", "pods", "daemonsets", "deployments", "services", "resourceslices"))


class Case(NamedTuple):
    """expect: as the file states it."""

    nodes: dict[str, Node]
    pods: dict[str, list[Pod]]
    software: Software
    expect: dict[str, Any]

    def of_node(self, name: str) -> NodeComponents:
        return of_node(self.nodes[name], tuple(self.pods.get(name, ())), self.software)

    def all_of_node(self, name: str) -> dict[str, Statement]:
        """With what is not needed there."""
        return completed(self.of_node(name).statements, self.software.daemonsets)

    def of_cluster(self) -> dict[str, Statement]:
        return {name: statement for name, (_, statement) in of_cluster(self.software).items()}


def names(folder: Path = GOLDEN) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.yaml"))


@cache
def load(path: Path) -> Case:
    found = yaml.load(path.read_text(), yaml.CSafeLoader)
    return made(found["objects"], str(found["now"]), found.get("expect", {}))


def made(objects: list[dict[str, Any]], now: str, expect: dict[str, Any]) -> Case:
    """A case from objects as the API has them."""
    context = Context(now=0.0)
    nodes: dict[str, Node] = {}
    bound: dict[str, list[Pod]] = {}
    parts: list[Pod] = []
    sets: list[DaemonSet] = []
    others: list[Any] = []
    for one in objects:
        raw, kind = json.dumps(one).encode(), one["kind"]
        if kind == "Node":
            node = trim_node(msgspec.json.decode(raw, type=Node))
            nodes[node.metadata.name] = node
        elif kind == "Pod":
            pod = trim_pod(msgspec.json.decode(raw, type=listed.Pod), context)
            if pod is not None:
                if pod.spec is not None and pod.spec.nodeName:
                    bound.setdefault(pod.spec.nodeName, []).append(pod)
                parts += [pod] if component(pod) else []
        elif kind == "DaemonSet":
            trimmed = trim_daemonset(msgspec.json.decode(raw, type=DaemonSet))
            sets += [trimmed] if trimmed is not None else []
        elif kind in KINDS:
            others.append(msgspec.json.decode(raw, type=KINDS[kind]))
    owned = {one.metadata.uid for one in sets}
    loose = [pod for pod in parts if owned.isdisjoint(owner.uid for owner in pod.metadata.ownerReferences or ())]
    known = software_of(
        now=seconds(now) or 0.0,
        daemonsets=sets,
        objects=others,
        pods=loose,
        read=READ,
        nodes=lambda: nodes.values(),
    )
    return Case(nodes, bound, known, expect)
