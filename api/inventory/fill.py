"""Rows of the tables into the shapes of REST. "" in the tables (not known) becomes null."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from api.inventory import shapes
from inventory import models
from inventory.condition import Condition
from inventory.querysets import NodeRow
from inventory.totals import ClusterSummary, Known, PoolTotals, Totals

#: Cluster id → name.
Names = Mapping[int, str]


def allocation(row: models.Allocation, names: Names) -> shapes.Allocation:
    return shapes.Allocation(
        id=row.pk,
        cluster=names[row.cluster_id],
        node=row.node_name,
        card_id=row.card_id,
        card=row.card_key or None,
        namespace=row.namespace,
        pod=row.pod,
        container=row.container,
        owner_kind=row.owner_kind or None,
        owner_name=row.owner_name or None,
        resource=row.resource,
        stack=row.stack,
        mode=row.mode,
        quantity=row.quantity,
        memory_bytes=row.memory_bytes,
        core_percent=row.core_percent,
        evidence=row.evidence,
        terminating=row.terminating,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )


def card(row: models.Card, names: Names) -> shapes.Card:
    """`row.holders`: from `querysets.with_holders`."""
    holders: list[models.Allocation] = getattr(row, "holders")  # noqa: B009 - set by the prefetch
    return shapes.Card(
        id=row.pk,
        cluster=names[row.cluster_id],
        node=row.node_name,
        key=row.key,
        index=row.index,
        uuid=row.uuid or None,
        model=row.model or None,
        model_source=row.model_source or None,
        stack=row.stack,
        mode=row.mode,
        health=row.health,
        state=row.state,
        memory_total_bytes=row.memory_total_bytes,
        memory_physical_bytes=row.memory_physical_bytes,
        memory_source=row.memory_source or None,
        memory_allocated_bytes=row.memory_allocated_bytes,
        memory_free_bytes=row.memory_free_bytes,
        shares=row.shares,
        holders_count=row.holders_count,
        worst_severity=row.worst_severity or None,
        first_seen_at=row.first_seen_at,
        changed_at=row.changed_at,
        gone_at=row.gone_at,
        allocations=[allocation(one, names) for one in holders],
    )


_ACCOUNT_FIELDS = (
    "cards_total",
    "cards_allocated",
    "cards_free",
    "memory_total_bytes",
    "memory_allocated_bytes",
    "memory_free_bytes",
    "largest_gap_bytes",
    "memory_unplaced_bytes",
    "unplaced_count",
    "holders_count",
    "findings_count",
    "changed_at",
)
_ACCOUNT_WORDS = ("pool", "model", "unit", "unit_source", "worst_severity")
_NODE_WORDS = (
    "ready_reason",
    "os",
    "os_image",
    "kernel",
    "kubelet",
    "runtime",
    "instance_type",
    "zone",
    "address",
    "driver_version",
    "driver_source",
)


def node_fields(row: NodeRow, names: Names) -> dict[str, Any]:
    """What list and detail have in common. Without the node's own row, what only it knows is null."""
    account, own = row.account, row.node
    made: dict[str, Any] = {name: getattr(account, name) for name in _ACCOUNT_FIELDS}
    made |= {name: getattr(account, name) or None for name in _ACCOUNT_WORDS}
    made |= {name: (getattr(own, name) or None) if own else None for name in _NODE_WORDS}
    return made | {
        "cluster": names[account.cluster_id],
        "name": account.node_name,
        "ready": own.ready if own else None,
        "unschedulable": own.unschedulable if own else None,
        "stacks": list(account.stacks),
    }


def node(row: NodeRow, names: Names) -> shapes.Node:
    return shapes.Node(**node_fields(row, names))


def finding(row: models.Finding, names: Names) -> shapes.Finding:
    return shapes.Finding(
        id=row.pk,
        cluster=names[row.cluster_id],
        code=row.code,
        severity=row.severity,
        node=row.node_name or None,
        card=row.card_key or None,
        pod=row.pod or None,
        text=row.text,
        first_seen_at=row.first_seen_at,
        ended_at=row.ended_at,
    )


def pod(row: models.Pod, names: Names) -> shapes.Pod:
    return shapes.Pod(
        id=row.pk,
        cluster=names[row.cluster_id],
        uid=row.uid,
        namespace=row.namespace,
        name=row.name,
        node=row.node_name or None,
        phase=row.phase or None,
        owner_kind=row.owner_kind or None,
        owner_name=row.owner_name or None,
        component=row.component or None,
        requests=dict(row.requests),
        waiting=row.waiting,
        waiting_reason=row.waiting_reason or None,
        waiting_message=row.waiting_message or None,
        created_at=row.created_at,
        terminating_since=row.terminating_since,
    )


def watch(row: models.Watch, now: Condition) -> shapes.Watch:
    return shapes.Watch(
        kind=row.kind,
        state=now.state.value,
        reason=now.reason or None,
        state_since=now.since,
        age_seconds=now.age_s,
        relist_reason=row.relist_reason or None,
        relist_asked_at=row.relist_asked_at,
        next_try_at=row.next_try_at,
        synced_at=row.synced_at,
        last_event_at=row.last_event_at,
        objects_seen=row.objects_seen,
        objects_kept=row.objects_kept,
        relists=row.relists,
        audited_at=row.audited_at,
        audit_seconds=row.audit_seconds,
        audit_differences=row.audit_differences,
        audit_note=row.audit_note or None,
        audit_differences_total=row.audit_differences_total,
    )


def known(value: Known) -> shapes.Sum:
    return shapes.Sum(value=value.value, unknown_nodes=value.unknown_nodes)


def totals(value: Totals) -> shapes.Totals:
    return shapes.Totals(
        nodes=value.nodes,
        memory_total_bytes=known(value.memory_total),
        memory_metered_bytes=known(value.memory_metered),
        memory_allocated_bytes=known(value.memory_allocated),
        memory_free_bytes=known(value.memory_free),
        memory_unplaced_bytes=known(value.memory_unplaced),
        cards_total=known(value.cards_total),
        cards_allocated=known(value.cards_allocated),
        cards_free=known(value.cards_free),
        largest_gap_bytes=value.largest_gap_bytes,
        holders_count=value.holders,
        unplaced_count=value.unplaced,
    )


def cluster(value: ClusterSummary) -> shapes.Cluster:
    own, sync = value.cluster, value.sync
    return shapes.Cluster(
        name=own.name,
        server=own.server or None,
        context=own.context or None,
        created_at=own.created_at,
        permissions=permissions(own.permissions),
        permissions_checked_at=own.permissions_checked_at,
        synced_at=sync.synced_at,
        last_event_at=sync.last_event_at,
        age_seconds=sync.age_seconds,
        state=sync.state.value,
        since=sync.since,
        reason=sync.reason or None,
        uid=own.uid or None,
        uid_note=own.uid_note or None,
        recreated_at=own.recreated_at,
        watches=[watch(one, sync.conditions[one.kind]) for one in sync.watches],
        nodes_total=value.nodes_total,
        nodes_gpu=value.nodes_gpu,
        nodes_not_ready=value.nodes_not_ready,
        nodes_uncounted=value.nodes_uncounted,
        totals=totals(value.totals),
        card_states=dict(value.card_states),
        cards_free_unnamed=value.free.unnamed,
        cards_with_room=value.cards_with_room,
        pods_waiting=value.pods_waiting,
        pods_oldest_at=value.pods_oldest_at,
        findings=dict(value.findings),
        unreadable=value.unreadable,
    )


def permissions(rows: Iterable[Any]) -> list[shapes.Permission]:
    """`Cluster.permissions` is JSON that a check wrote; what is missing in it is unknown."""
    return [
        shapes.Permission(
            verb=str(row.get("verb", "")),
            resource=str(row.get("resource", "")),
            allowed=row["allowed"] if isinstance(row.get("allowed"), bool) else None,
            needed_for=str(row.get("needed_for", "")),
        )
        for row in rows
        if isinstance(row, Mapping)
    ]


def pool(value: PoolTotals) -> shapes.Pool:
    return shapes.Pool(cluster=value.cluster, pool=value.pool, totals=totals(value.totals))
