"""Rows of the tables into the shapes of REST. "" in the tables (not known) becomes null."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from api.inventory import shapes
from inventory import models
from inventory.condition import Condition
from inventory.idle.sums import IdleSum
from inventory.queries.totals import ClusterSummary, Known, PoolTotals, Totals
from resources import cluster as resources


def watch(row: models.Watch, now: Condition) -> resources.Watch:
    return resources.Watch(
        kind=row.kind,
        state=now.state.value,
        reason=str(now.reason) or None,
        state_since=now.since,
        age_seconds=now.age_s,
        relist_reason=row.relist_reason or None,
        relist_requested_at=row.relist_requested_at,
        next_try_at=row.next_try_at,
        synced_at=row.synced_at,
        last_event_at=row.last_event_at,
        objects_seen=row.objects_seen,
        objects_stored=row.objects_stored,
        relists=row.relists,
        audited_at=row.audited_at,
        audit_seconds=row.audit_seconds,
        audit_differences=row.audit_differences,
        audit_note=row.audit_note or None,
        audit_differences_total=row.audit_differences_total,
    )


def known(value: Known) -> resources.Sum:
    return resources.Sum(value=value.value, unknown_nodes=value.unknown_nodes)


def totals(value: Totals) -> resources.Totals:
    return resources.Totals(
        nodes=value.nodes,
        memory_total_bytes=known(value.memory_total),
        memory_metered_bytes=known(value.memory_metered),
        memory_allocated_bytes=known(value.memory_allocated),
        memory_free_bytes=known(value.memory_free),
        memory_unplaced_bytes=known(value.memory_unplaced),
        cards_total=known(value.cards_total),
        cards_allocated=known(value.cards_allocated),
        cards_free=known(value.cards_free),
        cards_unavailable=value.cards_unavailable,
        memory_unavailable_bytes=value.memory_unavailable,
        largest_gap_bytes=value.largest_gap_bytes,
        allocations_count=value.holders,
        unplaced_count=value.unplaced,
    )


def cluster(value: ClusterSummary) -> resources.Cluster:
    own, sync = value.cluster, value.sync
    return resources.Cluster(
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
        reason=str(sync.reason) or None,
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
        cards_free_unidentified=value.free.unidentified,
        cards_unavailable=dict(value.free.unavailable),
        cards_unavailable_unidentified=value.free.unavailable_unidentified,
        cards_with_free_memory=value.cards_with_free_memory,
        pods_pending=value.pods_pending,
        pods_oldest_at=value.pods_oldest_at,
        findings=dict(value.findings),
        unreadable=value.unreadable,
    )


def permissions(rows: Iterable[Any]) -> list[resources.Permission]:
    """`Cluster.permissions` is JSON that a check wrote; what is missing in it is unknown."""
    return [
        resources.Permission(
            verb=str(row.get("verb", "")),
            resource=str(row.get("resource", "")),
            allowed=row["allowed"] if isinstance(row.get("allowed"), bool) else None,
            needed_for=str(row.get("needed_for", "")),
            optional=bool(row.get("optional", False)),
            served=row.get("served") is not False,
            rule=str(row.get("rule") or "") or None,
        )
        for row in rows
        if isinstance(row, Mapping)
    ]


def pool(value: PoolTotals) -> shapes.Pool:
    return shapes.Pool(cluster=value.cluster, pool=value.pool, totals=totals(value.totals))


def idle_sum(value: IdleSum) -> shapes.IdleSum:
    return shapes.IdleSum(
        cluster=value.cluster,
        namespace=value.namespace or None,
        name=value.name,
        allocations=value.allocations,
        certain=value.certain,
        cards=value.cards,
        memory_bytes=value.memory_bytes,
        unmetered=value.unmetered,
        byte_seconds=value.byte_seconds,
        card_seconds=value.card_seconds,
    )
