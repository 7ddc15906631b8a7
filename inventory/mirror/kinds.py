"""The kinds that are mirrored: the path, the struct and the table of each, and the row of an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from django.conf import settings

from exporters.conditions import speaks_of_cards
from inventory.components import part_of
from inventory.marks.read import marks
from inventory.mirror import claims, config_maps, devices, node_changes, pod_failures, software
from inventory.mirror.mirrored_kind import Dirty, MirroredKind
from inventory.mirror.values import Columns, common_columns, digest, moment, plain
from inventory.models import ConfigMap as ConfigMapRow
from inventory.models import DaemonSet as DaemonSetRow
from inventory.models import Device as DeviceRow
from inventory.models import DeviceTaintRule as TaintRuleRow
from inventory.models import Node as NodeRow
from inventory.models import Pod as PodRow
from inventory.models import ResourceClaim as ClaimRow
from inventory.models import ResourceSlice as SliceRow
from inventory.models import SoftwareObject as SoftwareRow
from inventory.models.cluster import Kind
from inventory.models.software import CLUSTER_SOFTWARE
from inventory.stack_context import stack_context
from kube import listed
from kube.claims import DeviceTaintRule, ResourceClaim, ResourceSlice
from kube.config_maps import ConfigMap
from kube.decoders import decoder
from kube.devices import Device
from kube.objects import DaemonSet, Node, Pod
from kube.quantity import millis, size
from kube.software import ClusterPolicy, Deployment, DeviceConfig, GPUCluster, GpuDevicePlugin, NVIDIADriver, Service
from stacks import readers, relevant_resource
from stacks.engine.base import Context
from stacks.engine.components import component, pending_reason
from stacks.engine.node_facts import node_facts
from stacks.engine.registry import registry
from stacks.engine.requests import host, waits
from stacks.engine.requests import requests as pod_requests
from stacks.engine.trim import trim_pod
from stacks.engine.trim_daemonset import components, trim_daemonset
from stacks.engine.trim_node import trim_node

#: Raise it when the same object would now give another row: watchers then list anew after an upgrade.
ROWS_VERSION = 11


def made_by() -> str:
    """What makes the rows: the version of this code's columns, what stacks read, and the settings that decide what is kept."""
    context = stack_context()
    tolerated = ",".join(settings.TOLERATED_TAINTS)
    kept = (registry.signature(), *(value for _, value in context.settings), *context.pod_labels, tolerated)
    return f"{ROWS_VERSION}/{digest(dict(enumerate(kept)))}"


def _node_row(node: Node, context: Context) -> Columns:
    trimmed = trim_node(node, speaks_of_cards)
    facts = node_facts(node)
    offered = (node.status.allocatable if node.status else None) or {}
    columns = common_columns(node.metadata, trimmed)
    gpu = _offers_gpu(trimmed, context)
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
        "boot_id": plain(facts.boot_id, 64),
        "machine_id": plain(facts.machine_id, 128),
        "policies_off": facts.policies_off,
        "has_gpu": gpu,
        "cpu_millis": millis(offered.get("cpu")),
        "host_memory_bytes": size(offered.get("memory")),
        "marks": _marks(node) if gpu else "",
    }
    return columns


def _marks(node: Node) -> str:
    found = marks(node, settings.TOLERATED_TAINTS)
    return msgspec.json.encode(found).decode() if found else ""


def _offers_gpu(node: Node, context: Context) -> bool:
    offered = {**(node.status.capacity or {}), **(node.status.allocatable or {})} if node.status else {}
    return any("/" in name and relevant_resource(name, context) for name in offered)


def _pod_row(pod: listed.Pod, context: Context) -> Columns | None:
    trimmed = trim_pod(pod, context)
    if trimmed is None:
        return None
    owner = next((owner for owner in pod.metadata.ownerReferences or () if owner.controller), None)
    pending = waits(trimmed)
    reason, message = pending_reason(trimmed) if pending else ("", "")
    own = host(pod.spec)
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
        "cpu_millis": own.cpu_millis,
        "host_memory_bytes": own.memory_bytes,
        "priority": _priority(pod),
        "pending": pending,
        "pending_reason": plain(reason, 128),
        "pending_message": plain(message, 4000),
        "claims": claims.of_pod(trimmed),
    }
    return columns


def _priority(pod: listed.Pod) -> int | None:
    """None too for a number that is no 32-bit integer, as the API has it."""
    found = pod.spec.priority if pod.spec else None
    return found if found is not None and -(2**31) <= found < 2**31 else None


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
    columns = common_columns(daemonset.metadata, trimmed)
    columns |= {"namespace": plain(daemonset.metadata.namespace, 253), "component": plain(part_of(trimmed), 63)}
    return columns


def _dirty_node(node: str) -> set[Dirty]:
    return {(node, "")} if node else set()


def _dirty_pod(node: str, component: str) -> set[Dirty]:
    """Its node; of a scheduler, an operator and the like also what the cluster has once."""
    of_cluster = bool(component) and component not in registry.node_components
    return _dirty_node(node) | ({("", CLUSTER_SOFTWARE)} if of_cluster else set())


def _dirty_stacks(facts: str) -> set[Dirty]:
    """A DaemonSet touches what is known of the cluster's software, and the nodes of stacks that read its settings."""
    try:
        daemonset = decoder(DaemonSet).decode(facts)
    except msgspec.DecodeError:  # somebody wrote into the table: then it may have been anything
        return {("", ""), ("", CLUSTER_SOFTWARE)}
    return {("", CLUSTER_SOFTWARE), *(("", stack) for stack in readers(components(daemonset)))}


_COMMON = ("uid", "name", "created_at", "facts")
_NODE = (
    *("ready", "ready_reason", "unschedulable", "os", "os_image", "kernel", "kubelet", "runtime"),
    *("instance_type", "zone", "address", "driver_version", "driver_source"),
    *("boot_id", "machine_id", "policies_off", "has_gpu"),
    *("cpu_millis", "host_memory_bytes", "marks"),
)
_POD = (
    *("namespace", "node_name", "phase", "terminating_since", "owner_kind", "owner_name", "component", "requests"),
    *("cpu_millis", "host_memory_bytes", "priority", "pending", "pending_reason", "pending_message", "claims"),
)

#: Versions of dynamic resource allocation that `kube.claims` reads.
_CLAIMS = ("v1", "v1beta2", "v1beta1")
_TAINT_RULES = ("v1", "v1beta2", "v1alpha3")


def _software(
    kind: Kind,
    path: str,
    struct: type[Any],
    row: Callable[[Any, Context], Columns | None],
    versions: tuple[str, ...] = (),
    **more: Any,
) -> MirroredKind:
    """An object that sets up GPU software: all go into one table."""
    return MirroredKind(
        kind.value,
        path,
        struct,
        SoftwareRow,
        "uid",
        row,
        ("kind",),
        software.dirty_by_software,
        (*_COMMON, "kind", "namespace", "component"),
        versions=versions,
        shared=("kind", kind.value),
        **more,
    )


def _resource(kind: Kind, group: str, version: str, struct: type[Any]) -> MirroredKind:
    path = f"/apis/{group}/{version}/{kind.value}"
    return _software(kind, path, struct, software.resource_row(kind.value), (version,))


KINDS = {
    Kind.NODES.value: MirroredKind(
        Kind.NODES,
        "/api/v1/nodes",
        Node,
        NodeRow,
        "name",
        _node_row,
        ("name",),
        _dirty_node,
        (*_COMMON, *_NODE),
        note=node_changes.note,
    ),
    Kind.PODS.value: MirroredKind(
        Kind.PODS,
        "/api/v1/pods",
        listed.Pod,
        PodRow,
        "uid",
        _pod_row,
        ("node_name", "component"),
        _dirty_pod,
        (*_COMMON, *_POD),
        note=pod_failures.note,
        noted=pod_failures.NOTED,
    ),
    Kind.DAEMONSETS.value: MirroredKind(
        Kind.DAEMONSETS,
        "/apis/apps/v1/daemonsets",
        DaemonSet,
        DaemonSetRow,
        "uid",
        _daemonset_row,
        ("facts",),
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
        ("facts",),
        config_maps.dirty_by_config_map,
        (*_COMMON, "namespace", "node_name", "place"),
        moves=True,
        places=config_maps.stored_places,
    ),
    Kind.RESOURCESLICES.value: MirroredKind(
        Kind.RESOURCESLICES,
        "/apis/resource.k8s.io/v1/resourceslices",
        ResourceSlice,
        SliceRow,
        "uid",
        claims.slice_row,
        ("node_name",),
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
        ("node_name",),
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
        ("name",),
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
        ("name",),
        devices.dirty_by_device,
        _COMMON,
        versions=("v1alpha1",),
    ),
} | {
    made.kind: made
    for made in (
        _software(Kind.DEPLOYMENTS, "/apis/apps/v1/deployments", Deployment, software.deployment_row),
        _software(
            Kind.SERVICES,
            "/api/v1/services",
            Service,
            software.service_row,
            places=software.service_places,
            needed=software.services_needed,
            nothing=software.NO_SERVICE,
        ),
        _resource(Kind.CLUSTERPOLICIES, "nvidia.com", "v1", ClusterPolicy),
        _resource(Kind.NVIDIADRIVERS, "nvidia.com", "v1alpha1", NVIDIADriver),
        _resource(Kind.GPUCLUSTERS, "nvidia.com", "v1alpha1", GPUCluster),
        _resource(Kind.DEVICECONFIGS, "amd.com", "v1alpha1", DeviceConfig),
        _resource(Kind.GPUDEVICEPLUGINS, "deviceplugin.intel.com", "v1", GpuDevicePlugin),
    )
}
