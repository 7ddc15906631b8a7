"""Nodes of k3s and RKE2, which keep the files of containerd and of the control plane in places of their own."""

from __future__ import annotations

from kube.objects import Node
from stacks.engine.node_system import kubelet_of


def rancher(node: Node) -> str:
    """ "k3s" or "rke2" where the node is of one; else ""."""
    return next((name for name in ("k3s", "rke2") if f"+{name}" in kubelet_of(node)), "")
