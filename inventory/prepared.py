"""What a cluster needs for a stack, as far as its synced nodes decide it: no cluster is called.

The command `cluster prepare` reads the cluster itself, with its objects (`inventory.management.reading`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from inventory.reconcile.software import read_nodes
from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.engine.node_system import kubelet_of, kubernetes_of
from stacks.engine.preparing import Prepared, prepare
from stacks.engine.setup import Found

_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")


class Synced(NamedTuple):
    """version: of Kubernetes, as the kubelet of `node` tells it; "" and "" where no kubelet tells one.

    nodes: how many are synced.
    """

    prepared: Prepared
    version: str
    node: str
    nodes: int


def prepared_of(cluster_id: int, stack: str) -> Synced:
    """One query. Raises UnknownStack."""
    nodes = list(read_nodes(cluster_id))
    version, node = kubernetes_from(nodes)
    found = Found(version=version, nodes=nodes)
    return Synced(prepare(stack, found), version, node, len(nodes))


def kubernetes_from(nodes: Sequence[Node]) -> tuple[str, str]:
    """(version, the node whose kubelet tells it): the newest of the control plane, since no kubelet is newer than its API server,
    else the newest of all; ("", "") where none tells one."""
    told = [(version, node) for node in nodes if (version := kubernetes_of(node)) is not None]
    first = [pair for pair in told if any(label in labels_of(pair[1]) for label in _CONTROL_PLANE)] or told
    if not first:
        return "", ""
    newest = max(version for version, _ in first)
    node = min((node for version, node in first if version == newest), key=lambda node: node.metadata.name)
    return kubelet_of(node)[:64], node.metadata.name
