"""The software of dynamic resource allocation by NVIDIA's driver: kubelet plugin on nodes, controller in the cluster.

A slice with devices proves that the plugin works; a plugin that started before the driver has slices without any.
Sources: kubernetes-sigs/dra-driver-nvidia-gpu 22407113 (deployments/helm), NVIDIA/gpu-operator v26.7.0 (state-dra-driver).
"""

from __future__ import annotations

import msgspec

from kube.daemonset_nodes import runs_on
from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.engine.node_system import kubernetes_of
from stacks.engine.shell import delete_pod
from stacks.engine.software.base import (
    LEFT_OUT,
    NOT_NEEDED,
    NOT_READY,
    OFFERS_NOTHING,
    OUTDATED,
    READY,
    WANTED,
    Component,
    Expected,
    Here,
    Software,
    Statement,
)
from stacks.engine.software.deployments import of_deployment
from wording.said import sentence

PLUGIN, CONTROLLER, VALIDATOR = "dra-kubelet-plugin", "dra-controller", "dra-validator"
DRIVER = "gpu.nvidia.com"
_LABEL = "nvidia.com/gpu.deploy.dra-driver"
_KUBERNETES_FLOOR = (1, 32)

BY_LABEL = {
    "app.kubernetes.io/component": {"nvidia-dra-validator": VALIDATOR},
    "nvidia-dra-driver-gpu-component": {"kubelet-plugin": PLUGIN, "controller": CONTROLLER},
    "dra-driver-nvidia-gpu-component": {"kubelet-plugin": PLUGIN, "controller": CONTROLLER},
    "app": {"nvidia-dra-driver-kubelet-plugin": PLUGIN, "nvidia-dra-driver-controller": CONTROLLER},
}


def expected(node: Node, software: Software) -> Expected:
    """On nodes that its DaemonSet selects, and where the operator's label says so."""
    if labels_of(node).get(_LABEL) == "true":
        return WANTED
    specs = [
        template.spec
        for one in software.daemonsets.get(PLUGIN, ())
        if (template := one.spec.template if one.spec else None) is not None and template.spec is not None
    ]
    if any(runs_on(spec, node) is not False for spec in specs):
        return WANTED
    return Statement(state=NOT_NEEDED, why=sentence("Its DaemonSet does not select this node.")) if specs else LEFT_OUT


def refine(made: Statement, here: Here) -> Statement:
    """Slices with devices are the proof; two that give out the same cards are a conflict."""
    if made.state not in (READY, OUTDATED):
        return made
    if "resourceslices" in here.software.read and not here.published.get(DRIVER) and _gives_out_cards(here):
        restart = delete_pod(here.pod) if here.pod is not None else ""
        return msgspec.structs.replace(
            made,
            state=NOT_READY,
            reason=OFFERS_NOTHING,
            why=sentence(
                "It runs, but offers nothing: {driver} has no ResourceSlice with devices on this node.", driver=DRIVER
            ),
            remedy=sentence(
                "If the driver was installed after the plugin, restart the plugin: {command}", command=restart
            ),
        )
    warnings = list(made.warnings)
    version = kubernetes_of(here.node)
    if version is not None and version < _KUBERNETES_FLOOR:
        warnings.append(sentence("Kubernetes {version} is below 1.32, which the driver needs.", version=version.short))
    stated = (here.node.status.allocatable if here.node.status else None) or {}
    if here.published.get(DRIVER) and stated.get("nvidia.com/gpu") not in (None, "0", 0):
        warnings.append(sentence("The device plugin also offers cards of this node. A card may be allocated twice."))
    return msgspec.structs.replace(made, warnings=tuple(warnings)) if warnings else made


def _gives_out_cards(here: Here) -> bool:
    """Whether the plugin has its part for cards, and not only the one for compute domains."""
    containers = (here.pod.spec.containers if here.pod is not None and here.pod.spec else None) or ()
    return any(one.name == "gpus" for one in containers)


def in_cluster(software: Software) -> dict[str, Statement]:
    """The controller, which only compute domains need."""
    controller = of_deployment(CONTROLLER, software)
    return {CONTROLLER: controller} if controller is not None else {}


COMPONENT = Component(
    name=PLUGIN,
    expected=expected,
    main=("gpus", "compute-domains"),
    waits={"init-container": "driver", "driver-validation": "driver"},
    refine=refine,
)
