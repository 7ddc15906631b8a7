"""What a page says of a node besides its cards: is it ready, what system, which driver, where.

None and "": the node does not say. Must not know cards or pods.
"""

from __future__ import annotations

import msgspec

from kube.objects import Node, NodeInfo
from stacks.engine.describe import describe
from stacks.engine.names import INSTANCE_TYPE, labels_of
from stacks.engine.node_system import WINDOWS_BUILD, kubelet_of, os_of
from stacks.engine.overrides import overrides, policies_off
from stacks.engine.registry import registry
from stacks.engine.stack import Cuda

_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_REGION = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of one node. ready: None when the node has no Ready condition, or says that it does not know."""

    ready: bool | None = None
    ready_reason: str = ""
    unschedulable: bool = False
    os: str = ""
    instance_type: str = ""
    internal_ip: str = ""
    kubelet_version: str = ""
    os_image: str = ""
    kernel: str = ""
    container_runtime: str = ""
    windows_build: str = ""
    driver_version: str = ""
    driver_source: str = ""
    model: str = ""
    model_source: str = ""
    zone: str = ""
    region: str = ""
    boot_id: str = ""
    machine_id: str = ""
    policies_off: bool = False


def node_facts(node: Node) -> NodeFacts:
    """Read the facts of a node. Never raises."""
    labels = labels_of(node)
    info = node.status.nodeInfo if node.status else None
    ready, reason = _ready(node)
    driver, driver_source = _driver(labels)
    about = describe(node, overrides(node))
    return NodeFacts(
        ready=ready,
        ready_reason=reason,
        unschedulable=bool(node.spec and node.spec.unschedulable),
        os=os_of(node),
        instance_type=_first(labels, INSTANCE_TYPE),
        internal_ip=_internal_ip(node),
        kubelet_version=kubelet_of(node),
        os_image=(info.osImage if info else "") or "",
        kernel=(info.kernelVersion if info else "") or "",
        container_runtime=(info.containerRuntimeVersion if info else "") or "",
        windows_build=labels.get(WINDOWS_BUILD, ""),
        driver_version=driver,
        driver_source=driver_source,
        model=about.model or "",
        model_source=about.model_source,
        zone=_first(labels, _ZONE),
        region=_first(labels, _REGION),
        boot_id=(info.bootID if info else "") or "",
        machine_id=_machine_id(info) if info else "",
        policies_off=policies_off(node),
    )


def _machine_id(info: NodeInfo) -> str:
    """ "machineID/systemUUID": the first is of the operating system's disk, the second of the board; "" when neither is known."""
    both = (info.machineID or "", info.systemUUID or "")
    return "/".join(both) if any(both) else ""


def cuda(node: Node) -> Cuda:
    """What programs that use CUDA find on a node, by its labels: asked for before a launch only. Never raises."""
    labels = labels_of(node)
    return next((found for writer in registry.labels if any(found := writer.cuda(labels))), Cuda())


def driver_version(node: Node) -> str:
    """Of the node's driver, by its labels; "" where they do not say it."""
    return _driver(labels_of(node))[0]


def _first(labels: dict[str, str], names: tuple[str, ...]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def _ready(node: Node) -> tuple[bool | None, str]:
    for condition in (node.status.conditions if node.status else None) or ():
        if condition.type == "Ready":
            why = ": ".join(part for part in (condition.reason, condition.message) if part)
            return {"True": True, "False": False}.get(condition.status), why[:1024]
    return None, ""


def _internal_ip(node: Node) -> str:
    addresses = (node.status.addresses if node.status else None) or ()
    return next((item.address for item in addresses if item.type == "InternalIP"), "")


def _driver(labels: dict[str, str]) -> tuple[str, str]:
    return next((found for writer in registry.labels if (found := writer.driver(labels)) is not None), ("", ""))
