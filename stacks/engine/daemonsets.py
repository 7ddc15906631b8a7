"""Which DaemonSets speak for a node: a plugin may have several, with different settings for different nodes.

The one whose pod runs there counts; else those that would run there by their selectors, affinity and tolerations. Where a selector
goes by a label that the mirror does not keep, the DaemonSet may run there. Must not know any stack by name.
"""

from __future__ import annotations

from collections.abc import Iterable

from kube.daemonset_nodes import runs_on
from kube.objects import DaemonSet, Node, Pod
from stacks.engine.components import component
from stacks.engine.requests import holds
from stacks.engine.trim_daemonset import components
from stacks.engine.trim_node import keeps_label


def of_node(node: Node, pods: Iterable[Pod], daemonsets: tuple[DaemonSet, ...]) -> tuple[DaemonSet, ...]:
    """Those of the cluster's DaemonSets that run on the node, or may. pods: those of the node."""
    if not daemonsets:
        return daemonsets
    owners = set(_owners(pods))
    running = [one for one in daemonsets if one.metadata.uid in owners]
    decided = {part for one in running for part in components(one)}
    return tuple(
        one
        for one in daemonsets
        if one in running or (decided.isdisjoint(components(one)) and _runs(one, node) is not False)
    )


def _owners(pods: Iterable[Pod]) -> Iterable[str]:
    """Uids of the DaemonSets that components on the node belong to; a pod that is being replaced does not count."""
    for pod in pods:
        metadata = pod.metadata
        if metadata.ownerReferences and metadata.deletionTimestamp is None and holds(pod) and component(pod):
            yield from (one.uid for one in metadata.ownerReferences if one.kind == "DaemonSet" and one.uid)


def _runs(one: DaemonSet, node: Node) -> bool | None:
    template = one.spec.template if one.spec else None
    return runs_on(template.spec, node, keeps_label) if template is not None and template.spec is not None else None
