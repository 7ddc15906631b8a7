"""Rows of the inventory for tests and for a shell, as the watchers and the reconciler would have written them.

    from tests.factories import make_cluster, make_fleet
    make_fleet(make_cluster("prod"), nodes=300)

Every node is made from a *trait*, a short description of one sharing system (`TRAITS`), as the API server would send it with its
pods. A `Batch` of them is mirrored and reconciled by the product's own code, so that rows here cannot differ from its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from inventory.clusters import beginning
from inventory.models import Allocation, Card, Cluster, Finding, Node, NodeTotals, Pod, ResourceClaim, Unreadable, Watch
from inventory.models.cluster import LOOKED_FOR, Kind, WatchState
from tests.factories.batch import Batch, mirror
from tests.factories.objects import Thing, claim_object, claiming_pod, holders, node_object, pending_pod
from tests.factories.traits import DEFAULT_LOADS, FLEET, GIB, MIB, TRAITS, Trait

__all__ = ["FLEET", "GIB", "MIB", "TRAITS", "Batch", "Trait"]


def make_cluster(name: str = "prod", *, synced: bool = True, age_s: float = 2.0, held: bool = True) -> Cluster:
    """A cluster with its watches: in sync, or (synced=False) still at the first list. held: by a watcher that lives."""
    cluster = Cluster.objects.create(name=name, server=f"https://{name}.example:6443")
    now = timezone.now()
    state = WatchState.WATCHING if synced else WatchState.LISTING
    Watch.objects.bulk_create(
        Watch(
            cluster=cluster,
            kind=kind,
            state=state,
            holder="test" if held else "",
            expires_at=now + timedelta(hours=1) if held else None,
            state_since=now - timedelta(hours=1),
            synced_at=now - timedelta(hours=1) if synced else None,
            last_event_at=now - timedelta(seconds=age_s) if synced else None,
            resource_version="1000" if synced else "",
            selection="[]" if kind == Kind.CONFIGMAPS else "",
        )
        for kind in Kind
        if kind not in (*LOOKED_FOR, Kind.SERVICES)
    )
    Watch.objects.bulk_create(
        Watch(cluster=cluster, kind=kind, **beginning(kind)) for kind in (*LOOKED_FOR, Kind.SERVICES)
    )
    return cluster


def make_node(
    cluster: Cluster,
    name: str = "gpu-1",
    stack: str = "gpushare",
    cards: int = 8,
    *,
    loads: Sequence[float] = DEFAULT_LOADS,
    ready: bool | None = True,
    batch: Batch | None = None,
) -> Node | None:
    """One node with cards and holders. stack: a key of TRAITS. loads: held share of each card, repeated.

    Returns its row; None where it is put into a batch, that is not written yet.
    """
    own = Batch(cluster) if batch is None else batch
    trait = TRAITS[stack]
    own.nodes.append(node_object(trait, name, cards, ready, own.now, len(own.nodes)))
    own.seen += [(name, uuid) for uuid in trait.uuids(name, cards)]
    own.pods += holders(trait, name, cards, tuple(loads), own.now)
    if batch is not None:
        return None
    own.write()
    return Node.objects.get(cluster=cluster, name=name)


def make_fleet(
    cluster: Cluster, nodes: int = 3, cards: int = 8, *, stacks: Sequence[str] = FLEET, pending: int = 2
) -> Batch:
    """Nodes of all traits in turn, waiting pods, and a finding on every tenth node."""
    batch = Batch(cluster)
    for number in range(nodes):
        name = f"gpu-{number:05d}"
        make_node(cluster, name, stacks[number % len(stacks)], cards, batch=batch)
        if number % 10 == 0:
            batch.findings.append(_finding(cluster, "card-over-committed", "error", name, "0"))
    for number in range(pending):
        batch.pods.append(pending_pod(f"pending-{number}", "aliyun.com/gpu-mem", 8, number + 1, batch.now))
    batch.write()
    return batch


def make_pending_pod(cluster: Cluster, name: str = "pending", *, minutes: int = 5, quantity: int = 8) -> Pod:
    """A pod that no node takes yet."""
    mirror(cluster, Kind.PODS, [pending_pod(name, "aliyun.com/gpu-mem", quantity, minutes, timezone.now())])
    return Pod.objects.get(cluster=cluster, name=name)


def make_claiming_pod(cluster: Cluster, name: str = "claiming", *, claim: str = "", template: str = "") -> Pod:
    """A pod that waits for the devices of a claim."""
    mirror(cluster, Kind.PODS, [claiming_pod(name, claim, 5, timezone.now(), template)])
    return Pod.objects.get(cluster=cluster, name=name)


def make_claim(cluster: Cluster, name: str, *, request: Thing | None = None, **more: Any) -> ResourceClaim:
    """A claim for one card, or for what the request says."""
    asked = request or {"exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": 1}}
    mirror(cluster, Kind.RESOURCECLAIMS, [claim_object(name, asked, **more)])
    return ResourceClaim.objects.get(cluster=cluster, name=name)


def make_finding(
    cluster: Cluster,
    code: str = "card-over-committed",
    severity: str = "error",
    node_name: str = "",
    card_key: str = "",
) -> Finding:
    """One of another author than the stacks."""
    finding = _finding(cluster, code, severity, node_name, card_key)
    finding.save()
    return finding


def _finding(cluster: Cluster, code: str, severity: str, node_name: str, card_key: str) -> Finding:
    return Finding(
        cluster=cluster,
        code=code,
        severity=severity,
        node_name=node_name,
        card_key=card_key,
        text=f"{code} on {node_name or 'the cluster'}: see the holders and move one of them.",
        first_seen_at=timezone.now() - timedelta(minutes=30),
    )


def make_unreadable(cluster: Cluster, name: str = "strange") -> Unreadable:
    """An object that did not decode."""
    return Unreadable.objects.create(
        cluster=cluster,
        kind=Kind.PODS,
        namespace="default",
        name=name,
        error="spec: expected object",
        seen_at=timezone.now(),
    )


def end_allocation(allocation: Allocation, *, minutes_ago: float = 1.0) -> None:
    """Make it history, as the reconciler does when its pod goes. The sums of the account stay as they were."""
    allocation.ended_at = timezone.now() - timedelta(minutes=minutes_ago)
    allocation.save(update_fields=["ended_at"])


def lose_card(card: Card) -> None:
    """The card is gone from its node; its row and its history stay."""
    card.removed_at = timezone.now()
    card.save(update_fields=["removed_at"])


def not_metered(*names: str) -> None:
    """Nodes some of whose holders do not say how much they take: what is given out is known, what of it is held is not."""
    NodeTotals.objects.filter(node_name__in=names).update(
        memory_allocated_bytes=None, memory_free_bytes=None, largest_gap_bytes=None
    )
