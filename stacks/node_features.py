"""Node Feature Discovery: its workers find the cards by which the software of their vendors selects nodes.

Labels stay when the worker is gone, so a label proves no running worker. Source: kubernetes-sigs/node-feature-discovery 76e6cc8.
"""

from __future__ import annotations

import msgspec

from kube.daemonset_nodes import obstacles
from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.engine.node_system import is_windows
from stacks.engine.registry import looks_like_gpu, registry
from stacks.engine.software.absent import DAEMONSETS, said
from stacks.engine.software.base import (
    LEFT_OUT,
    MISSING,
    NOT_NEEDED,
    WANTED,
    Component,
    Expected,
    Here,
    Software,
    SoftwareOf,
    Statement,
)
from stacks.engine.software.deployments import not_found, of_deployment
from stacks.engine.software.pods import of_pod
from stacks.engine.stack import Components, Recognised
from stacks.shared import instances
from wording.said import sentence

_MAIN = ("worker", "nfd-worker")
WORKER, MASTER, GC = "nfd-worker", "nfd-master", "nfd-gc"
_FEATURES = "feature.node.kubernetes.io/"
_NOT_INSTALLED = sentence("The GPU Operator needs the labels of Node Feature Discovery, which is not installed.")


def concerns(node: Node, software: Software) -> bool:
    """Where a worker is installed, or the GPU Operator waits for its labels."""
    return WORKER in software.daemonsets or (bool(software.policies) and not _labelled(node) and _has_card(node))


def _labelled(node: Node) -> bool:
    return any(name.startswith(_FEATURES) for name in labels_of(node))


def _has_card(node: Node) -> bool:
    """By labels of any writer, resources, a taint of a vendor, or the instance type."""
    labels = labels_of(node)
    stated = (node.status.capacity if node.status else None) or {}
    taints = (node.spec.taints if node.spec else None) or ()
    return (
        any(labels.get(name) == "true" for writer in registry.labels for name in writer.present)
        or any(labels.get(name) for writer in registry.labels for name in writer.naming)
        or any(looks_like_gpu(name) for name in stated)
        or any(_of_vendor(one.key) for one in taints)
        or instances.instance_of(labels) is not None
    )


def _of_vendor(key: str) -> bool:
    """Whether a taint keeps a node for cards: its key begins as a vendor's resources do."""
    return key.startswith(registry.prefixes)


def expected(node: Node, software: Software) -> Expected:
    """On each node that it selects, and on each that has a card; it is made for Linux."""
    if is_windows(node):
        return LEFT_OUT
    if not software.daemonsets.get(WORKER):
        return (
            Statement(state=MISSING, why=_NOT_INSTALLED, source=DAEMONSETS) if DAEMONSETS in software.read else LEFT_OUT
        )
    if _has_card(node):
        return WANTED
    kept = [
        obstacles(template.spec, node)
        for one in software.daemonsets.get(WORKER, ())
        if (template := one.spec.template if one.spec else None) is not None and template.spec is not None
    ]
    if kept and all(kept):
        return Statement(state=NOT_NEEDED, why=said(kept[0][0]))
    return WANTED


def refine(made: Statement, here: Here) -> Statement:
    """A taint that the worker does not tolerate: the value of the chart that mends it."""
    if made.state == NOT_NEEDED and here.pod is not None:
        made = of_pod(here.pod, here.template, _MAIN, {}, False)
    if made.state == MISSING and here.node.spec is not None:
        for taint in here.node.spec.taints or ():
            if not _of_vendor(taint.key):
                continue
            value = f'[{{"key":"{taint.key}","operator":"Exists","effect":"{taint.effect}"}}]'
            return msgspec.structs.replace(made, remedy=f"helm upgrade … --set-json 'nfd.worker.tolerations={value}'")
    live = here.software.daemonsets.get(WORKER, ())
    if len(live) > 1:
        text = sentence("The cluster has {number} DaemonSets of Node Feature Discovery.", number=len(live))
        return msgspec.structs.replace(made, warnings=(*made.warnings, text))
    return made


def in_cluster(software: Software) -> dict[str, Statement]:
    """The master, which turns what workers find into labels, and the collector of what is left over."""
    found: dict[str, Statement] = {}
    installed = bool(software.daemonsets.get(WORKER)) or DAEMONSETS not in software.read
    if software.policies and not installed and not any(_labelled(node) for node in software.nodes()):
        found[WORKER] = Statement(
            state=MISSING,
            why=_NOT_INSTALLED,
            remedy="helm upgrade gpu-operator nvidia/gpu-operator -n gpu-operator --reuse-values --set nfd.enabled=true",
            source=DAEMONSETS,
        )
    if software.daemonsets.get(WORKER) and not of_deployment(MASTER, software):
        found[MASTER] = not_found(software, MASTER)
    for name in (MASTER, GC):
        made = of_deployment(name, software, (name.removeprefix("nfd-"), name))
        if made is not None:
            found[name] = made
    return found


RECOGNISED = Recognised(
    name="node-feature-discovery",
    components=Components(
        by_label={
            "app": {"nfd-worker": WORKER, "nfd-master": MASTER, "nfd-gc": GC},
            "app.kubernetes.io/name": {"node-feature-discovery": "nfd"},
        },
        divided={"nfd": ("role", {"worker": WORKER, "master": MASTER, "gc": GC})},
    ),
    software=SoftwareOf(
        node=(Component(name=WORKER, expected=expected, main=_MAIN, refine=refine),),
        concerns=concerns,
        cluster=in_cluster,
    ),
)
