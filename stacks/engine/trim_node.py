"""What the mirror keeps of a node: only what the stacks and the pages read.

Values that change with every heartbeat are left out, so a node on which nothing happens stays equal to itself.
"""

from __future__ import annotations

from collections.abc import Callable

from kube.objects import Condition, Metadata, Node, NodeMetadata, NodeStatus, Quantities
from stacks.engine.registry import registry
from stacks.engine.trim import kept

#: Dozens on each node that tell of its processor and kernel. Any other label may be one that a plugin's DaemonSet selects by.
_NEVER = ("feature.node.kubernetes.io/cpu-cpuid.", "feature.node.kubernetes.io/kernel-config.")

#: Longest text of a condition that is kept; what is longer ends with "...", as its writers cut it themselves.
LONGEST_TEXT = 4096


def _none(kind: str) -> bool:
    return False


def trim_node(node: Node, speaks: Callable[[str], bool] = _none) -> Node:
    """A copy with only what is read: labels, annotations of interest, extended resources, conditions, addresses, versions.

    speaks: whether a condition of this type speaks of cards; of the others Ready is kept.
    """
    return Node(
        metadata=_metadata(node.metadata),
        spec=node.spec,
        status=_status(node.status, speaks) if node.status is not None else None,
    )


def _metadata(metadata: Metadata) -> NodeMetadata:
    labels, annotations, never = metadata.labels, metadata.annotations, registry.node_annotations_dropped
    mine = kept(annotations, registry.node_annotations) if annotations else None
    return NodeMetadata(
        name=metadata.name,
        uid=metadata.uid,
        resourceVersion=metadata.resourceVersion,
        creationTimestamp=metadata.creationTimestamp,
        deletionTimestamp=metadata.deletionTimestamp,
        labels={name: value for name, value in labels.items() if keeps_label(name)} if labels else None,
        annotations={name: value for name, value in mine.items() if not name.startswith(never)} if mine else None,
    )


def keeps_label(name: str) -> bool:
    """Whether the mirror has this label of every node that carries it."""
    return not name.startswith(_NEVER) and name not in registry.labels_dropped


def _status(status: NodeStatus, speaks: Callable[[str], bool]) -> NodeStatus:
    conditions = status.conditions
    return NodeStatus(
        capacity=_extended(status.capacity),
        allocatable=_extended(status.allocatable),
        conditions=[_condition(item) for item in conditions if item.type == "Ready" or speaks(item.type)]
        if conditions
        else None,
        addresses=status.addresses,
        nodeInfo=status.nodeInfo,
    )


def _condition(found: Condition) -> Condition:
    """With texts of a bounded length."""
    return Condition(found.type, found.status, _cut(found.reason), _cut(found.message), found.lastTransitionTime)


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 3]}..."


def _extended(quantities: Quantities | None) -> Quantities | None:
    """Extended resources only (their names have a slash): which of them are GPUs is a matter of settings, not of trimming."""
    return {name: value for name, value in quantities.items() if "/" in name} if quantities else quantities
