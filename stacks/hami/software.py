"""The software of HAMi: device plugin on nodes that people label, scheduler with its extender in the cluster.

Source: Project-HAMi/HAMi 4707fb0 (charts/hami), 2.10.0.
"""

from __future__ import annotations

import msgspec

from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.engine.node_facts import driver_version
from stacks.engine.node_system import kubernetes_of
from stacks.engine.software.absent import DAEMONSETS, unselected
from stacks.engine.software.base import (
    LEFT_OUT,
    READY,
    WANTED,
    Component,
    Expected,
    Here,
    Software,
    SoftwareOf,
    Statement,
)
from stacks.engine.software.deployments import not_found, of_deployment
from stacks.engine.versions import Version, below, image_version, version_of
from stacks.hami.settings import PLUGIN
from stacks.hami.setup import MAKER
from stacks.shared.hand_labelled import without_label
from wording.said import sentence

SCHEDULER = "hami-scheduler"
_DRIVER_FLOOR, _KUBERNETES_FLOOR = "440", Version(1, 18)
LABEL = ("gpu", "on")


def _registered(node: Node) -> bool:
    found = node.metadata.annotations or {}
    return any(name.startswith("hami.io/node-") and "register" in name for name in found)


def concerns(node: Node, software: Software) -> bool:
    """Where HAMi is installed."""
    installed = bool(software.daemonsets.get(PLUGIN) or software.deployments.get(SCHEDULER))
    return installed and labels_of(node).get("kubernetes.io/os") != "windows"


def expected(node: Node, software: Software) -> Expected:
    """On nodes with the label that the DaemonSet selects, gpu=on as published."""
    labels = labels_of(node)
    if labels.get("gpu") == "on":
        return WANTED
    if not software.daemonsets.get(PLUGIN):
        return LEFT_OUT
    if _registered(node):
        return WANTED
    return without_label(node, software, LABEL, MAKER, lambda name: False)


def refine(made: Statement, here: Here) -> Statement:
    """The driver's floor, and NVIDIA's plugin beside it."""
    warnings = list(made.warnings)
    driver = driver_version(here.node)
    if made.state == READY and driver and below(driver, _DRIVER_FLOOR):
        warnings.append(
            sentence("Driver {version} is below {floor}, which HAMi needs.", version=driver, floor=_DRIVER_FLOOR)
        )
    if made.state == READY and _nvidia_runs_here(here):
        warnings.append(
            sentence(
                "The NVIDIA device plugin also runs on this node: both plugins offer nvidia.com/gpu. Set "
                "devicePlugin.enabled=false in the ClusterPolicy, or remove the NVIDIA plugin."
            )
        )
    return msgspec.structs.replace(made, warnings=tuple(warnings)) if warnings else made


def _nvidia_runs_here(here: Here) -> bool:
    return any(
        here.software.owners.get(owner.uid) == "device-plugin"
        for pod in here.pods
        for owner in pod.metadata.ownerReferences or ()
    )


def in_cluster(software: Software) -> dict[str, Statement]:
    """Scheduler, and whether the plugin selects a node at all."""
    scheduler, plugin = (
        of_deployment(SCHEDULER, software, ("vgpu-scheduler-extender",)),
        software.daemonsets.get(PLUGIN),
    )
    if scheduler is None and not plugin:
        return {}
    found: dict[str, Statement] = {}
    if scheduler is not None:
        found[SCHEDULER] = _with_scheduler_of(scheduler, software)
    else:
        found[SCHEDULER] = not_found(software, SCHEDULER, remedy="gpudash cluster prepare NAME --stack hami")
    if plugin:
        missing = unselected(PLUGIN, software)
        if missing is not None:
            command = "kubectl label node NODE gpu=on"
            found[PLUGIN] = msgspec.structs.replace(missing, remedy=command)
    elif DAEMONSETS in software.read:
        found[PLUGIN] = not_found(software, PLUGIN, DAEMONSETS)
    return found


def _with_scheduler_of(made: Statement, software: Software) -> Statement:
    """The chart runs a kube-scheduler of its own, which must be of the cluster's version."""
    tags = [
        image_version(one.image)
        for found in software.deployments.get(SCHEDULER, ())
        for one in (
            found.spec.template.spec.containers
            if found.spec and found.spec.template and found.spec.template.spec
            else None
        )
        or ()
        if one.name == "kube-scheduler"
    ]
    nodes = list(software.nodes())
    newest = max((version for node in nodes if (version := kubernetes_of(node)) is not None), default=None)
    warnings = list(made.warnings)
    if newest is not None and newest < _KUBERNETES_FLOOR:
        warnings.append(
            sentence(
                "Kubernetes {version} is below {floor}, which HAMi needs.",
                version=newest.short,
                floor=_KUBERNETES_FLOOR.short,
            )
        )
    for tag in tags:
        mine = version_of(tag)
        if newest is not None and mine is not None and mine[:2] != newest[:2]:
            warnings.append(
                sentence(
                    "Its kube-scheduler is {version}, the cluster is {cluster}. Set the image tag of the scheduler.",
                    version=tag,
                    cluster=newest.short,
                )
            )
    return msgspec.structs.replace(made, warnings=tuple(warnings)) if warnings else made


SOFTWARE = SoftwareOf(
    node=(
        Component(
            name=PLUGIN,
            expected=expected,
            main=("device-plugin",),
            waits={"toolkit-validation": "container-toolkit"},
            offers=lambda resource: (
                resource == "nvidia.com/gpu" or resource.endswith(("vgpu", "/vcuda-core", "/dcunum"))
            ),
            refine=refine,
        ),
    ),
    concerns=concerns,
    cluster=in_cluster,
    schedulers=(SCHEDULER,),
)
