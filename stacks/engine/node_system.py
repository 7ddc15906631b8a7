"""The system of a node, as its labels and its kubelet say it: operating system, Windows build, kubelet, container runtime."""

from __future__ import annotations

from kube.objects import Node, NodeInfo
from stacks.engine.names import labels_of
from stacks.engine.versions import Version, version_of

#: The label with the build of a Windows node: "10.0.20348".
WINDOWS_BUILD = "node.kubernetes.io/windows-build"
_OS = ("kubernetes.io/os", "beta.kubernetes.io/os")


def os_of(node: Node) -> str:
    """ "linux" or "windows"; "" when the node does not say."""
    labels, info = labels_of(node), _info(node)
    return next((labels[name] for name in _OS if labels.get(name)), "") or (info.operatingSystem if info else "") or ""


def is_windows(node: Node) -> bool:
    return os_of(node) == "windows"


def kubelet_of(node: Node) -> str:
    """The kubelet's version as it tells it ("v1.31.1+k3s1"); "" when it does not."""
    info = _info(node)
    return (info.kubeletVersion if info else "") or ""


def kubernetes_of(node: Node) -> Version | None:
    """The same as a version; None when it says none."""
    return version_of(kubelet_of(node))


def runtime_of(node: Node) -> tuple[str, Version | None]:
    """("containerd", its version); ("", None) when the node does not say."""
    info = _info(node)
    name, _, version = ((info.containerRuntimeVersion if info else "") or "").partition("://")
    return name, version_of(version)


def _info(node: Node) -> NodeInfo | None:
    return node.status.nodeInfo if node.status else None
