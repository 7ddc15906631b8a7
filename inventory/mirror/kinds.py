"""What is mirrored of each kind: its path, its struct, its table, and the row of an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from django.db import models

from inventory.mirror import claims, config_maps, devices
from inventory.mirror.values import Columns, common_columns, digest, moment, plain
from inventory.models import ConfigMap as ConfigMapRow
from inventory.models import DaemonSet as DaemonSetRow
from inventory.models import Device as DeviceRow
from inventory.models import DeviceTaintRule as TaintRuleRow
from inventory.models import Node as NodeRow
from inventory.models import Pod as PodRow
from inventory.models import ResourceClaim as ClaimRow
from inventory.models import ResourceSlice as SliceRow
from inventory.models.cluster import Kind
from inventory.stack_context import stack_context
from inventory.stacks import readers, relevant_resource
from inventory.stacks.engine.base import Context
from inventory.stacks.engine.components import component, component_of, waiting_reason
from inventory.stacks.engine.node_facts import node_facts
from inventory.stacks.engine.registry import registry
from inventory.stacks.engine.requests import requests as pod_requests
from inventory.stacks.engine.requests import waits
from inventory.stacks.engine.trim import trim_pod
from inventory.stacks.engine.trim_daemonset import components, trim_daemonset
from inventory.stacks.engine.trim_node import trim_node
from inventory.usage.conditions import speaks_of_cards
from kube import listed
from kube.claims import DeviceTaintRule, ResourceClaim, ResourceSlice
from kube.config_maps import ConfigMap
from kube.devices import Device
from kube.objects import DaemonSet, Metadata, Node, Pod
from kube.source import Source

#: Raise it when the same object would now give another row: watchers then list anew after an upgrade.
ROWS_VERSION = 7


#: (node, "") or ("", stack): what becomes dirty, one node or the nodes that a stack has to do with.
Dirty = tuple[str, str]


class MirroredKind(msgspec.Struct, frozen=True):
    """One watched kind. key: what tells two objects apart (a node's name, else the uid). row: None when it is not kept.

    dirty: what an object makes dirty, from its row's column `dirty_by`. columns: of a row, in the order of its digest.
    moves: an object may come to touch something else than before; then both become dirty. alike: columns; an object makes dirty what
    others with the same values make dirty, since they are read together. versions: of the API's group that can be read, best first,
    where the API server is asked which it has; the path is that of the first.
    """

    kind: str
    path: str
    struct: type[Any]
    model: type[models.Model]
    key: str
    row: Callable[[Any, Context], Columns | None]
    dirty_by: str
    dirty: Callable[[str], set[Dirty]]
    columns: tuple[str, ...]
    moves: bool = False
    alike: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()

    def source(self, selection: str = "") -> Source:
        """Where it is read. selection: as it is stored with the watch, of a kind that is read in part."""
        if self.kind == Kind.CONFIGMAPS:
            return Source(self.path, places=config_maps.places(config_maps.chosen(selection)))
        return Source(self.path, self.versions)


def made_by() -> str:
    """What makes the rows: the version of this code's columns, what stacks read, and the settings that decide what is kept."""
    context = stack_context()
    kept = (registry.signature(), *(value for _, value in context.settings), *context.pod_labels)
    return f"{ROWS_VERSION}/{digest(dict(enumerate(kept)))}"


def _node_row(node: Node, context: Context) -> Columns:
    trimmed = trim_node(node, speaks_of_cards)
    facts = node_facts(node)
    columns = common_columns(node.metadata, trimmed)
    columns |= {
        "ready": facts.ready,
        "ready_reason": plain(facts.ready_reason, 1000),
        "unschedulable": facts.unschedulable,
        "os": plain(facts.os, 32),
        "os_image": plain(facts.os_image, 256),
        "kernel": plain(facts.kernel, 128),
        "kubelet": plain(facts.kubelet_version, 64),
        "runtime": plain(facts.container_runtime, 128),
        "instance_type": plain(facts.instance_type, 128),
        "zone": plain(facts.zone, 128),
        "address": plain(facts.internal_ip, 64),
        "driver_version": plain(facts.driver_version, 64),
        "driver_source": plain(facts.driver_source, 128),
        "has_gpu": _offers_gpu(trimmed, context),
    }
    return columns


def _offers_gpu(node: Node, context: Context) -> bool:
    offered = {**(node.status.capacity or {}), **(node.status.allocatable or {})} if node.status else {}
    return any("/" in name and relevant_resource(name, context) for name in offered)


def _pod_row(pod: listed.Pod, context: Context) -> Columns | None:
    trimmed = trim_pod(pod, context)
    if trimmed is None:
        return None
    owner = next((owner for owner in pod.metadata.ownerReferences or () if owner.controller), None)
    waiting = waits(trimmed)
    reason, message = waiting_reason(trimmed) if waiting else ("", "")
    columns = common_columns(pod.metadata, trimmed)
    columns |= {
        "namespace": plain(pod.metadata.namespace, 253),
        "node_name": plain(pod.spec.nodeName if pod.spec else "", 253),
        "phase": plain(trimmed.status.phase if trimmed.status else "", 32),
        "terminating_since": moment(pod.metadata.deletionTimestamp),
        "owner_kind": plain(owner.kind if owner else "", 63),
        "owner_name": plain(owner.name if owner else "", 253),
        "component": component(trimmed),
        "requests": _asked(trimmed),
        "waiting": waiting,
        "waiting_reason": plain(reason, 128),
        "waiting_message": plain(message, 4000),
        "claims": claims.of_pod(trimmed),
    }
    return columns


def _every(resource: str) -> bool:
    return True


def _asked(pod: Pod) -> dict[str, int]:
    """Resource → quantity of a trimmed pod, which has no other resources.

    In the order of their names: databases give JSON objects back in an order of their own.
    """
    found: dict[str, int] = {}
    for need in pod_requests(pod, _every):
        resource = plain(need.resource, 253)
        found[resource] = found.get(resource, 0) + need.quantity
    return dict(sorted(found.items())) if len(found) > 1 else found


def _daemonset_row(daemonset: DaemonSet, context: Context) -> Columns | None:
    trimmed = trim_daemonset(daemonset)
    if trimmed is None:
        return None
    template = trimmed.spec.template if trimmed.spec else None
    name = component_of(template.metadata.labels if template else None)
    columns = common_columns(daemonset.metadata, trimmed)
    columns |= {"namespace": plain(daemonset.metadata.namespace, 253), "component": plain(name, 63)}
    return columns


def _dirty_node(node: str) -> set[Dirty]:
    return {(node, "")} if node else set()


def _dirty_stacks(facts: str) -> set[Dirty]:
    """A DaemonSet touches the nodes of the stacks that read it, whose arguments say the memory unit; most are read by none."""
    try:
        daemonset = msgspec.json.decode(facts, type=DaemonSet)
    except msgspec.DecodeError:  # somebody wrote into the table: then it may have been anything
        return {("", "")}
    return {("", stack) for stack in readers(components(daemonset))}


_COMMON = ("uid", "name", "created_at", "facts")
_NODE = (
    *("ready", "ready_reason", "unschedulable", "os", "os_image", "kernel", "kubelet", "runtime"),
    *("instance_type", "zone", "address", "driver_version", "driver_source", "has_gpu"),
)
_POD = (
    *("namespace", "node_name", "phase", "terminating_since", "owner_kind", "owner_name", "component", "requests"),
    *("waiting", "waiting_reason", "waiting_message", "claims"),
)

#: Versions of dynamic resource allocation that `kube.claims` reads.
_CLAIMS = ("v1", "v1beta2", "v1beta1")
_TAINT_RULES = ("v1", "v1beta2", "v1alpha3")

KINDS = {
    Kind.NODES.value: MirroredKind(
        Kind.NODES, "/api/v1/nodes", Node, NodeRow, "name", _node_row, "name", _dirty_node, (*_COMMON, *_NODE)
    ),
    Kind.PODS.value: MirroredKind(
        Kind.PODS, "/api/v1/pods", listed.Pod, PodRow, "uid", _pod_row, "node_name", _dirty_node, (*_COMMON, *_POD)
    ),
    Kind.DAEMONSETS.value: MirroredKind(
        Kind.DAEMONSETS,
        "/apis/apps/v1/daemonsets",
        DaemonSet,
        DaemonSetRow,
        "uid",
        _daemonset_row,
        "facts",
        _dirty_stacks,
        (*_COMMON, "namespace", "component"),
        moves=True,
    ),
    Kind.CONFIGMAPS.value: MirroredKind(
        Kind.CONFIGMAPS,
        "/api/v1/configmaps",
        ConfigMap,
        ConfigMapRow,
        "uid",
        config_maps.config_map_row,
        "facts",
        config_maps.dirty_by_config_map,
        (*_COMMON, "namespace", "node_name", "place"),
        moves=True,
    ),
    Kind.RESOURCESLICES.value: MirroredKind(
        Kind.RESOURCESLICES,
        "/apis/resource.k8s.io/v1/resourceslices",
        ResourceSlice,
        SliceRow,
        "uid",
        claims.slice_row,
        "node_name",
        claims.dirty_by_slice,
        (*_COMMON, "node_name", "driver", "pool"),
        moves=True,
        alike=("driver", "pool"),
        versions=_CLAIMS,
    ),
    Kind.RESOURCECLAIMS.value: MirroredKind(
        Kind.RESOURCECLAIMS,
        "/apis/resource.k8s.io/v1/resourceclaims",
        ResourceClaim,
        ClaimRow,
        "uid",
        claims.claim_row,
        "node_name",
        claims.dirty_by_claim,
        (*_COMMON, "namespace", "node_name", "allocated", "deleting", "asks"),
        moves=True,
        versions=_CLAIMS,
    ),
    Kind.DEVICETAINTRULES.value: MirroredKind(
        Kind.DEVICETAINTRULES,
        "/apis/resource.k8s.io/v1/devicetaintrules",
        DeviceTaintRule,
        TaintRuleRow,
        "uid",
        claims.taint_rule_row,
        "name",
        claims.dirty_by_taint_rule,
        _COMMON,
        versions=_TAINT_RULES,
    ),
    Kind.DEVICES.value: MirroredKind(
        Kind.DEVICES,
        "/apis/scheduling.koordinator.sh/v1alpha1/devices",
        Device,
        DeviceRow,
        "name",
        devices.device_row,
        "name",
        devices.dirty_by_device,
        _COMMON,
        versions=("v1alpha1",),
    ),
}


class Thing(Protocol):
    """An object of a watched kind."""

    @property
    def metadata(self) -> Metadata: ...


def object_key(kind: MirroredKind, thing: Thing) -> str:
    return plain(thing.metadata.name, 253) if kind.key == "name" else plain(thing.metadata.uid, 128)
