"""Sums over the mirror, in a constant number of queries. A sum always says how many nodes it could not count.

Memory in bytes. A node whose figure is unknown or not metered is never added as 0: it is counted in `unknown_nodes`.
Knows nothing of requests, pages or validations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import BigIntegerField, Case, Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Coalesce

from inventory.condition import Sync, sync_of
from inventory.models import Cluster, Finding, Node, NodeTotals, Pod, Unreadable, Watch
from inventory.queries.availability import unbelieved, watches_of_clusters
from inventory.queries.free import (
    CardCounts,
    FreeCards,
    Ids,
    added_cards,
    cards_by_cluster,
    ids_of,
    of_clusters,
    unidentified,
)
from runtime.cached import asking_once, shared


@dataclass(frozen=True)
class Known:
    """A sum over nodes. value: None when no node is known. unknown_nodes: how many nodes are not in it."""

    value: int | None
    unknown_nodes: int

    @property
    def complete(self) -> bool:
        return self.unknown_nodes == 0


@dataclass(frozen=True)
class Totals:
    """What a set of nodes has. memory_free + memory_unavailable = memory_metered − memory_allocated, over the nodes that know both.

    memory_metered: total of those nodes whose allocation is known: the one to draw `memory_allocated` against.
    memory_unavailable, cards_unavailable: not allocated and cannot be (`inventory.queries.availability`); not part of what is free.
    cards_free: cards that can be given, of the nodes that know how many; for what can be pointed at see `FreeCards`.
    largest_gap_bytes: the largest free piece on one card.
    """

    nodes: int = 0
    memory_total: Known = Known(None, 0)
    memory_metered: Known = Known(None, 0)
    memory_allocated: Known = Known(None, 0)
    memory_free: Known = Known(None, 0)
    memory_unplaced: Known = Known(None, 0)
    cards_total: Known = Known(None, 0)
    cards_allocated: Known = Known(None, 0)
    cards_free: Known = Known(None, 0)
    largest_gap_bytes: int | None = None
    holders: int = 0
    unplaced: int = 0
    memory_unavailable: int = 0
    cards_unavailable: int = 0


#: (cluster id, pool).
PoolKey = tuple[int, str]


@dataclass(frozen=True)
class PoolTotals:
    """Totals of the nodes of one cluster that are alike. model: of their cards, "" for unknown."""

    cluster_id: int
    cluster: str
    pool: str
    model: str
    totals: Totals


@dataclass(frozen=True)
class ClusterSummary:
    """One cluster at a glance. card_states: cards present by state. pods_oldest_at: creation of the longest waiting pod.

    A GPU node is a node that has an account: what the list of nodes shows, with `ready=` for those that are not ready.
    """

    cluster: Cluster
    sync: Sync
    totals: Totals
    nodes_total: int
    nodes_gpu: int
    nodes_not_ready: int
    #: Nodes that offer a GPU and have no account yet: neither among `nodes_gpu` nor in `totals`.
    nodes_uncounted: int
    card_states: Mapping[str, int]
    free: FreeCards
    #: Cards of which some memory is known to be free.
    cards_with_free_memory: int
    #: Cards with a holder and with room, that nothing keeps pods off.
    cards_partly: int
    pods_pending: int
    pods_oldest_at: datetime | None
    findings: Mapping[str, int]
    unreadable: int


_SUMS = (
    "memory_total_bytes",
    "memory_allocated_bytes",
    "memory_free_bytes",
    "memory_unplaced_bytes",
    "cards_total",
    "cards_allocated",
    "cards_free",
)


#: What is apart instead in a cluster that is not believed: column → that of what is apart anyway.
_APART = {"memory_free_bytes": "memory_unavailable_bytes", "cards_free": "cards_unavailable"}


def _aggregates() -> dict[str, Any]:
    made: dict[str, Any] = {f"sum_{name}": Sum(name) for name in _SUMS}
    made |= {f"known_{name}": Count(name) for name in _SUMS}
    metered = Case(When(memory_allocated_bytes__isnull=False, then=F("memory_total_bytes")))
    made |= {"rows": Count("id"), "sum_metered": Sum(metered), "known_metered": Count(metered)}
    made |= {f"sum_{unavailable}": Sum(unavailable) for unavailable in _APART.values()} | {
        "gap": Max("largest_gap_bytes")
    }
    if unbelieved():
        made |= _of_believed(Q(cluster_id__in=unbelieved()))
    return made | {"sum_holders": Sum("allocations_count"), "sum_unplaced": Sum("unplaced_count")}


def _of_believed(away: Q) -> dict[str, Any]:
    """The same figures where nothing is free of some clusters. Over-committed memory is less than nothing, believed or not."""
    bytes_: BigIntegerField[int, int] = BigIntegerField()
    zero = Value(0)
    made: dict[str, Any] = {}
    for name, unavailable in _APART.items():
        moved = away & Q(**{f"{name}__gt": 0})
        made[f"sum_{name}"] = Sum(Case(When(moved, then=zero), default=F(name), output_field=bytes_))
        made[f"sum_{unavailable}"] = Sum(
            Coalesce(F(unavailable), zero, output_field=bytes_)
            + Case(When(moved, then=F(name)), default=zero, output_field=bytes_),
            output_field=bytes_,
        )
    gone = away & Q(largest_gap_bytes__gt=0)
    return made | {"gap": Max(Case(When(gone, then=zero), default=F("largest_gap_bytes"), output_field=bytes_))}


def _totals(row: Mapping[str, Any]) -> Totals:
    rows = row["rows"] or 0

    def known(name: str) -> Known:
        return Known(row[f"sum_{name}"], rows - (row[f"known_{name}"] or 0))

    return Totals(
        nodes=rows,
        memory_total=known("memory_total_bytes"),
        memory_metered=known("metered"),
        memory_allocated=known("memory_allocated_bytes"),
        memory_free=known("memory_free_bytes"),
        memory_unplaced=known("memory_unplaced_bytes"),
        cards_total=known("cards_total"),
        cards_allocated=known("cards_allocated"),
        cards_free=known("cards_free"),
        largest_gap_bytes=row["gap"],
        holders=row["sum_holders"] or 0,
        unplaced=row["sum_unplaced"] or 0,
        memory_unavailable=row["sum_memory_unavailable_bytes"] or 0,
        cards_unavailable=row["sum_cards_unavailable"] or 0,
    )


def totals_of(rows: QuerySet[NodeTotals]) -> Totals:
    """Totals of a (filtered) list of accounts: one query."""
    return _totals(rows.order_by().aggregate(**_aggregates()))


def totals_of_groups(groups: Any, columns: Sequence[str]) -> dict[tuple[Any, ...], Totals]:
    """groups: accounts by the values of these columns, as `values` puts them together. One query."""
    return {tuple(row[column] for column in columns): _totals(row) for row in groups.annotate(**_aggregates())}


def all_totals(clusters: Iterable[Cluster] | None = None) -> Totals:
    """Totals of all clusters, or of these: one query."""
    ids = ids_of(clusters)
    return shared("totals", ids, lambda: totals_of(of_clusters(NodeTotals.objects.all(), ids)))


def added(parts: Iterable[Totals]) -> Totals:
    """Totals of several sets of nodes together."""
    every = list(parts)
    gaps = [part.largest_gap_bytes for part in every if part.largest_gap_bytes is not None]

    def known(pick: Callable[[Totals], Known]) -> Known:
        values = [pick(part).value for part in every]
        counted = [value for value in values if value is not None]
        return Known(sum(counted) if counted else None, sum(pick(part).unknown_nodes for part in every))

    return Totals(
        nodes=sum(part.nodes for part in every),
        memory_total=known(lambda part: part.memory_total),
        memory_metered=known(lambda part: part.memory_metered),
        memory_allocated=known(lambda part: part.memory_allocated),
        memory_free=known(lambda part: part.memory_free),
        memory_unplaced=known(lambda part: part.memory_unplaced),
        cards_total=known(lambda part: part.cards_total),
        cards_allocated=known(lambda part: part.cards_allocated),
        cards_free=known(lambda part: part.cards_free),
        largest_gap_bytes=max(gaps, default=None),
        holders=sum(part.holders for part in every),
        unplaced=sum(part.unplaced for part in every),
        memory_unavailable=sum(part.memory_unavailable for part in every),
        cards_unavailable=sum(part.cards_unavailable for part in every),
    )


def by_cluster(pools: Iterable[PoolTotals]) -> dict[int, Totals]:
    """Cluster id → totals, from pools that are at hand. Clusters without nodes are absent."""
    parts: dict[int, list[Totals]] = {}
    for pool in pools:
        parts.setdefault(pool.cluster_id, []).append(pool.totals)
    return {cluster_id: added(own) for cluster_id, own in parts.items()}


def totals_by_pool(clusters: Iterable[Cluster] | None = None) -> list[PoolTotals]:
    """One query; sorted by cluster and pool."""
    ids = ids_of(clusters)
    return list(shared("pools", ids, lambda: _totals_by_pool(ids)))


def _totals_by_pool(ids: Ids) -> list[PoolTotals]:
    rows = of_clusters(NodeTotals.objects.all(), ids).order_by().values("cluster_id", "cluster__name", "pool")
    made = [
        PoolTotals(row["cluster_id"], row["cluster__name"], row["pool"], row["of_model"], _totals(row))
        for row in rows.annotate(of_model=Max("model"), **_aggregates())
    ]
    return sorted(made, key=lambda pool: (pool.cluster, pool.pool))


@dataclass
class _Counts:
    """Small counts of all clusters, by cluster id. nodes: all, with an account and not ready, with a GPU and no account."""

    nodes: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    cards: dict[int, CardCounts] = field(default_factory=dict)
    pending: dict[int, tuple[int, datetime | None]] = field(default_factory=dict)
    findings: dict[int, dict[str, int]] = field(default_factory=dict)
    unreadable: dict[int, int] = field(default_factory=dict)
    unidentified: dict[int, FreeCards] = field(default_factory=dict)


def _counts(ids: Ids) -> _Counts:
    return shared("counts", ids, lambda: _count_all(ids))


def _count_all(ids: Ids) -> _Counts:
    made = _Counts(cards=cards_by_cluster(ids), unidentified=unidentified(ids))
    nodes = of_clusters(Node.objects.all(), ids).order_by().values_list("cluster_id")
    counted = Exists(NodeTotals.objects.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef("name")))
    not_ready = (Q(ready=False) | Q(ready=None)) & Q(counted)
    uncounted = Q(has_gpu=True) & ~Q(counted)
    for cluster_id, *figures in nodes.annotate(
        Count("id"), bad=Count("id", filter=not_ready), more=Count("id", filter=uncounted)
    ):
        made.nodes[cluster_id] = (figures[0], figures[1], figures[2])
    pods = of_clusters(Pod.objects.filter(pending=True), ids).order_by().values_list("cluster_id")
    for cluster_id, count, oldest in pods.annotate(Count("id"), Min("created_at")):
        made.pending[cluster_id] = (count, oldest)
    findings = of_clusters(Finding.objects.filter(ended_at=None), ids).order_by().values_list("cluster_id", "severity")
    for cluster_id, severity, count in findings.annotate(Count("id")):
        made.findings.setdefault(cluster_id, {})[severity] = count
    made.unreadable = dict(
        of_clusters(Unreadable.objects.all(), ids).order_by().values_list("cluster_id").annotate(Count("id"))
    )
    return made


def summaries(
    clusters: Iterable[Cluster] | None = None,
    now: datetime | None = None,
    pools: Iterable[PoolTotals] | None = None,
) -> list[ClusterSummary]:
    """Every cluster (or these) at a glance: ten queries, whatever their size and number. pools: if they are at hand."""
    chosen = list(Cluster.objects.all() if clusters is None else clusters)
    with asking_once():
        watches = watches_of_clusters()
        totals = by_cluster(totals_by_pool(chosen) if pools is None else pools)
        counts = _counts(ids_of(chosen))
    return [_summary(cluster, totals, counts, watches, now) for cluster in sorted(chosen, key=lambda one: one.name)]


def _summary(
    cluster: Cluster,
    totals: dict[int, Totals],
    counts: _Counts,
    watches: Mapping[int, list[Watch]],
    now: datetime | None,
) -> ClusterSummary:
    own = totals.get(cluster.pk, Totals())
    every, not_ready, uncounted = counts.nodes.get(cluster.pk, (0, 0, 0))
    cards = counts.cards.get(cluster.pk, CardCounts())
    pending, oldest = counts.pending.get(cluster.pk, (0, None))
    return ClusterSummary(
        cluster=cluster,
        sync=sync_of(watches.get(cluster.pk, []), now),
        totals=own,
        nodes_total=every,
        nodes_gpu=own.nodes,
        nodes_not_ready=not_ready,
        nodes_uncounted=uncounted,
        card_states=cards.states,
        free=added_cards([cards.free, counts.unidentified.get(cluster.pk, FreeCards())]),
        cards_with_free_memory=cards.room,
        cards_partly=cards.partly,
        pods_pending=pending,
        pods_oldest_at=oldest,
        findings=counts.findings.get(cluster.pk, {}),
        unreadable=counts.unreadable.get(cluster.pk, 0),
    )
