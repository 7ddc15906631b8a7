"""Whether another stack gives out the cards of a node, so that this one is not needed there."""

from __future__ import annotations

from collections.abc import Callable

from kube.daemonset_nodes import runs_on
from kube.objects import Node, TemplateSpec
from kube.quantity import size
from stacks.engine.names import labels_of
from stacks.engine.registry import looks_like_gpu, registry
from stacks.engine.software.absent import spec_of
from stacks.engine.software.base import Software


def by_another(node: Node, mine: Callable[[str], bool]) -> str:
    """The resource, or the label of dynamic resource allocation, by which it does; "" where none does. mine: own resources."""
    stated = (node.status.allocatable if node.status else None) or {}
    for name, value in stated.items():
        if looks_like_gpu(name) and not mine(name) and (size(value) or 0) > 0:
            return name
    labels = labels_of(node)
    return next(
        (name for writer in registry.labels for name in writer.by_claims if labels.get(name) == "true"),
        "",
    )


def labelled_for_another(node: Node, software: Software) -> bool:
    """Whether a label leaves the cards to another stack's plugin that is installed, though it may be paused or offer nothing yet."""
    labels = labels_of(node)
    return any(
        labels.get(name, "") not in ("", "false") and bool(software.daemonsets.get(component))
        for writer in registry.labels
        for name, component in writer.given_by.items()
    )


def selected_by_another(node: Node, software: Software, mine: str) -> bool:
    """Whether a node selector gives the node to another stack's device plugin. mine: the component that asks."""
    for name in registry.device_plugins - {mine}:
        for one in software.daemonsets.get(name, ()):
            spec = spec_of(one)
            if spec is not None and spec.nodeSelector and runs_on(spec, node) is True and not _by_system(spec):
                return True
    return False


def _by_system(spec: TemplateSpec) -> bool:
    """Whether it selects all nodes of an operating system or architecture."""
    return all(key.partition("/")[0].endswith("kubernetes.io") for key in spec.nodeSelector or ())
