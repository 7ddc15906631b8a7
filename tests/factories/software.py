"""Components of nodes and clusters, written as the reconciler writes what it has found."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec
from django.utils import timezone

from inventory.components import first_cause
from inventory.models import Cluster, Component, SoftwareObject
from inventory.reconcile.software import Components, StoredComponent, columns_of
from kube.software import ClusterPolicy
from stacks.engine.registry import registry
from stacks.engine.software.base import Statement

_STACKS = {component.name: declared.name for declared in registry.software for component in declared.software.node}


def make_software(
    cluster: Cluster,
    node: str,
    found: Mapping[str, Statement],
    *,
    minutes_ago: float = 12.0,
    keep_changes: bool = False,
) -> None:
    """What is true of the components of a node, "" of the cluster, and of no others. keep_changes: that they changed is noted."""
    write([(node, found)], cluster, timezone.now() - timedelta(minutes=minutes_ago), keep_changes)


def write(
    nodes: list[tuple[str, Mapping[str, Statement]]], cluster: Cluster, now: datetime, keep_changes: bool = False
) -> None:
    difference = Components(cluster.pk, now)
    for node, found in nodes:
        rows = Component.objects.filter(cluster=cluster, node_name=node)
        there = [StoredComponent(*values) for values in rows.values_list(*StoredComponent.__struct_fields__)]
        cause = first_cause(dict(found)) if node else ""
        wanted = {
            name: columns_of(name, _STACKS.get(name, "nvidia"), one, position, name == cause)
            for position, (name, one) in enumerate(found.items())
        }
        difference.compare(node, wanted, there)
    difference.write(first=not keep_changes)


def make_policy(cluster: Cluster, policy: ClusterPolicy) -> SoftwareObject:
    """A ClusterPolicy as the mirror keeps it."""
    return SoftwareObject.objects.create(
        cluster=cluster,
        kind="clusterpolicies",
        uid="policy",
        name="cluster-policy",
        facts=msgspec.json.encode(policy).decode(),
        digest=0,
    )
