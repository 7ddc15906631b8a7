"""Rows of objects that set up GPU software: Deployments of components, the Services that stacks name, custom resources of operators.

Of a custom resource only the fields are kept that `kube.software` reads: its specification may hold what is secret. All are few, and
go into one table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from django.db.models.functions import Now

from inventory.components import part_of
from inventory.mirror.values import Columns, common_columns, plain
from inventory.models import DaemonSet as DaemonSetRow
from inventory.models import DirtyNode, SoftwareObject, Watch
from inventory.models.cluster import JUDGED_BY, OPTIONAL_KINDS, Kind, WatchState
from inventory.models.software import CLUSTER_SOFTWARE
from kube.objects import Condition, Metadata
from kube.software import Deployment, Service
from kube.source import Place
from stacks.engine.base import Context
from stacks.engine.registry import registry
from stacks.engine.trim_daemonset import trim_deployment
from wording.said import sentence

#: Nothing of a stack that has a Service is in the cluster.
NO_SERVICE = sentence("no component of this cluster uses a Service that gpudash checks")
#: Characters of a condition's message that are kept.
_LONGEST = 2000
_LABELS = ("app.kubernetes.io/version", "helm.sh/chart")


def dirty_by_software(kind: str) -> set[tuple[str, str]]:
    """What is true of the cluster's components; which nodes that changes the reconciler finds out."""
    return {("", CLUSTER_SOFTWARE)}


def known_now(cluster_id: int, kind: str) -> None:
    """In the transaction after which it is known what there is of a kind: where that is nothing, no object says so."""
    if kind in JUDGED_BY and kind in OPTIONAL_KINDS:
        DirtyNode.objects.create(cluster_id=cluster_id, stack=CLUSTER_SOFTWARE)


def deployment_row(found: Deployment, context: Context) -> Columns | None:
    trimmed = trim_deployment(found)
    if trimmed is None:
        return None
    return _row(Kind.DEPLOYMENTS.value, found.metadata, trimmed, part_of(trimmed))


def service_row(found: Service, context: Context) -> Columns | None:
    if (found.metadata.namespace, found.metadata.name) not in service_names():
        return None
    return _row(Kind.SERVICES.value, found.metadata, _trimmed(found), "")


def resource_row(kind: str) -> Callable[[Any, Context], Columns]:
    """Of a custom resource."""

    def row(found: Any, context: Context) -> Columns:
        return _row(kind, found.metadata, _trimmed(found), "")

    return row


def _row(kind: str, metadata: Metadata, trimmed: Any, component: str) -> Columns:
    return common_columns(metadata, trimmed) | {
        "kind": kind,
        "namespace": plain(metadata.namespace, 253),
        "component": plain(component, 63),
    }


def _trimmed(found: Any) -> Any:
    metadata: Metadata = found.metadata
    labels = {name: metadata.labels[name] for name in _LABELS if name in metadata.labels} if metadata.labels else None
    changes: dict[str, Any] = {
        "metadata": Metadata(
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            creationTimestamp=metadata.creationTimestamp,
            labels=labels or None,
        )
    }
    status = getattr(found, "status", None)
    if status is not None and getattr(status, "conditions", None):
        changes["status"] = msgspec.structs.replace(status, conditions=[_condition(one) for one in status.conditions])
    return msgspec.structs.replace(found, **changes)


def _condition(one: Condition) -> Condition:
    message = one.message[:_LONGEST] if one.message else one.message
    return Condition(one.type, one.status, one.reason, message, one.lastTransitionTime)


# Services: read where a stack that has one is installed.


def service_names() -> frozenset[tuple[str, str]]:
    """(namespace, name) of those that stacks name."""
    return frozenset(one for declared in registry.software for one in declared.software.services)


def service_places(selection: str) -> tuple[Place, ...]:
    """Each is asked for by its name, which a role can be cut down to, whatever is stored with the watch."""
    return tuple(
        Place(
            f"/api/v1/namespaces/{namespace}/services",
            (("fieldSelector", f"metadata.name={name}"),),
            f"{namespace}/{name}",
        )
        for namespace, name in sorted(service_names())
    )


def services_needed(cluster_id: int) -> bool:
    """Whether a component of a stack with a Service is in the cluster."""
    names = {
        part for declared in registry.software if declared.software.services for part in declared.software.served_by
    }
    of_cluster = {"cluster_id": cluster_id, "component__in": names}
    return SoftwareObject.objects.filter(**of_cluster).exists() or DaemonSetRow.objects.filter(**of_cluster).exists()


def choose_services(cluster_id: int) -> None:
    """In the transaction that wrote Deployments or DaemonSets: begin to read Services where they matter now."""
    resting = Watch.objects.filter(cluster_id=cluster_id, kind=Kind.SERVICES, state=WatchState.NOT_NEEDED)
    if resting.exists() and services_needed(cluster_id):
        resting.update(state=WatchState.WAITING, state_since=Now(), reason="", next_try_at=None, sent_at=None)
