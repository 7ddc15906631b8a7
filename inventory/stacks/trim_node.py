"""What the mirror keeps of a node: only what the stacks and the pages read.

Values that change with every heartbeat are left out, so a node on which nothing happens stays equal to itself.
"""

from __future__ import annotations

from inventory.stacks.names import HAMI_REGISTER_PREFIX, OVERRIDE_PREFIX
from inventory.stacks.trim import kept
from kube.objects import Metadata, Node, NodeStatus, Quantities

_LABEL_PREFIXES = (
    "nvidia.com/",
    "amd.com/",
    "beta.amd.com/",
    "gpu.intel.com/",
    "aliyun.accelerator/",
    "ack.node.gpu.",
    "windows.alibabacloud.com/",
    "kubernetes.io/",
    "beta.kubernetes.io/",
    "node.kubernetes.io/",
    "node-role.kubernetes.io/",
    "topology.kubernetes.io/",
    "failure-domain.beta.kubernetes.io/",
    "kubernetes.azure.com/",
    "karpenter.k8s.aws/",
    "cloud.google.com/gke-accelerator",
    "alpha.kubernetes.io/",
    "feature.node.kubernetes.io/pci-",
    "feature.node.kubernetes.io/amd-gpu",
)
_LABELS = frozenset(("gpushare", "cgpu", "cgpu.disable.isolation", "gpu", "accelerator"))
_ANNOTATIONS = (OVERRIDE_PREFIX, HAMI_REGISTER_PREFIX, "hami.io/device-cordon", "nvidia.com/gpu-driver-upgrade-enabled")
#: Change with every registration, or are large, and are not read.
_NEVER = ("hami.io/node-handshake", "hami.io/node-nvidia-score")
_CHANGING_LABELS = frozenset(("nvidia.com/gfd.timestamp",))


def trim_node(node: Node) -> Node:
    """A copy with only what is read: labels and annotations of interest, extended resources, Ready, addresses, versions."""
    return Node(
        metadata=_metadata(node.metadata),
        spec=node.spec,
        status=_status(node.status) if node.status is not None else None,
    )


def _metadata(metadata: Metadata) -> Metadata:
    labels, annotations = metadata.labels, metadata.annotations
    mine = kept(annotations, _ANNOTATIONS) if annotations else None
    return Metadata(
        name=metadata.name,
        uid=metadata.uid,
        resourceVersion=metadata.resourceVersion,
        creationTimestamp=metadata.creationTimestamp,
        deletionTimestamp=metadata.deletionTimestamp,
        labels={name: value for name, value in labels.items() if _label(name)} if labels else None,
        annotations={name: value for name, value in mine.items() if not name.startswith(_NEVER)} if mine else None,
    )


def _label(name: str) -> bool:
    return (name.startswith(_LABEL_PREFIXES) or name in _LABELS) and name not in _CHANGING_LABELS


def _status(status: NodeStatus) -> NodeStatus:
    conditions = status.conditions
    return NodeStatus(
        capacity=_extended(status.capacity),
        allocatable=_extended(status.allocatable),
        conditions=[item for item in conditions if item.type == "Ready"] if conditions else None,
        addresses=status.addresses,
        nodeInfo=status.nodeInfo,
    )


def _extended(quantities: Quantities | None) -> Quantities | None:
    """Extended resources only (their names have a slash): which of them are GPUs is a matter of settings, not of trimming."""
    return {name: value for name, value in quantities.items() if "/" in name} if quantities else quantities
