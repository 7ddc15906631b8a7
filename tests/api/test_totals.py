"""Sums say what they could not count, and cost the same at any size."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.condition import NEEDED_KINDS, Sync, sync_of
from inventory.models import Card, Cluster, Node, NodeTotals, Watch
from inventory.models.cluster import Kind, WatchState
from inventory.queries import totals
from tests.factories import (
    GIB,
    lose_card,
    make_cluster,
    make_finding,
    make_fleet,
    make_node,
    make_pending_pod,
    make_unreadable,
    not_metered,
)

pytestmark = pytest.mark.django_db


def test_unknown_nodes_stand_beside_the_sum(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.4, 0.0))
    make_node(cluster, "b", "nvidia-count", 1)
    not_metered("b")
    make_node(cluster, "c", "directx", 1)
    found = totals.all_totals()
    assert found.memory_total == totals.Known(30 * GIB + 80 * GIB, 1)
    assert found.memory_allocated == totals.Known(6 * GIB, 2)
    assert found.memory_metered == totals.Known(30 * GIB, 2)
    assert found.memory_free == totals.Known(24 * GIB, 2)
    assert found.largest_gap_bytes == 15 * GIB
    assert found.cards_total == totals.Known(4, 0)
    assert not found.memory_free.complete


def test_a_sum_of_nothing_known_is_none(cluster: Cluster) -> None:
    make_node(cluster, "c", "directx", 1)
    assert totals.all_totals().memory_total == totals.Known(None, 1)


def test_no_node_at_all_is_not_zero_bytes(cluster: Cluster) -> None:
    found = totals.all_totals()
    assert (found.nodes, found.memory_total.value, found.memory_total.unknown_nodes) == (0, None, 0)


def test_free_is_metered_less_allocated_over_the_same_nodes(fleet: Cluster) -> None:
    found = totals.all_totals()
    assert found.memory_metered.value is not None
    assert found.memory_allocated.value is not None
    assert found.memory_free.value == found.memory_metered.value - found.memory_allocated.value


def test_pools_are_nodes_that_are_alike(cluster: Cluster) -> None:
    for name in ("a", "b"):
        make_node(cluster, name, "gpushare", 1)
    make_node(cluster, "c", "nvidia", 1)
    found = [(pool.cluster, pool.pool, pool.totals.nodes) for pool in totals.totals_by_pool()]
    assert found == [("prod", "gpushare · Tesla-T4", 2), ("prod", "nvidia · A100-SXM4-80GB", 1)]


def test_a_summary_counts_everything_that_is_wrong_or_waits(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 3, loads=(0.0, 0.4, 1.0))
    make_node(cluster, "b", "nvidia", 1, ready=False)
    Node.objects.create(cluster=cluster, uid="u", name="plain", facts="{}", digest=0)
    lose_card(Card.objects.get(node_name="b"))
    old = make_pending_pod(cluster, "old", minutes=90)
    make_pending_pod(cluster, "new", minutes=1)
    make_finding(cluster, severity="warning")
    make_unreadable(cluster)
    (found,) = totals.summaries()
    assert (found.nodes_total, found.nodes_gpu, found.nodes_not_ready) == (3, 2, 1)
    assert {state: count for state, count in found.card_states.items() if count} == {"free": 1, "partly": 1, "full": 1}
    assert found.cards_with_free_memory == 2
    assert (found.pods_pending, found.pods_oldest_at) == (2, old.created_at)
    assert (found.findings, found.unreadable) == ({"warning": 1}, 1)


def test_a_node_that_is_not_counted_yet_is_told(cluster: Cluster) -> None:
    make_node(cluster, "a", cards=1)
    make_node(cluster, "b", cards=1)
    NodeTotals.objects.filter(node_name="b").delete()
    assert totals.summaries()[0].nodes_uncounted == 1


def sync(cluster: Cluster) -> Sync:
    return sync_of(Watch.objects.filter(cluster=cluster))


@pytest.mark.parametrize("kind", NEEDED_KINDS)
def test_one_kind_without_its_first_list_leaves_the_cluster_unsynced(cluster: Cluster, kind: Kind) -> None:
    assert sync(cluster).synced
    Watch.objects.filter(kind=kind).update(synced_at=None)
    assert not sync(cluster).synced
    Watch.objects.filter(kind=kind).delete()
    assert not sync(cluster).synced


def test_daemonsets_are_not_needed(cluster: Cluster) -> None:
    Watch.objects.filter(kind=Kind.DAEMONSETS).delete()
    assert sync(cluster).synced


def test_the_age_is_that_of_the_slowest_kind_and_the_state_the_worst(cluster: Cluster) -> None:
    late = timezone.now() - timedelta(minutes=10)
    Watch.objects.filter(kind=Kind.PODS).update(last_event_at=late, state=WatchState.REFUSED, reason="403: forbidden")
    found = sync_of(Watch.objects.all(), late + timedelta(minutes=11))
    assert (found.age_seconds, found.state, found.reason) == (660.0, "refused", "403: forbidden")


def test_a_clock_that_runs_ahead_makes_no_negative_age(cluster: Cluster) -> None:
    Watch.objects.update(last_event_at=timezone.now() + timedelta(hours=1))
    assert sync(cluster).age_seconds == 0


def test_a_cluster_that_nobody_watches_is_waiting(db: None) -> None:
    found = sync_of([])
    assert (found.synced, found.age_seconds, found.state) == (False, None, "waiting")


def test_summaries_cost_as_many_queries_for_many_clusters_as_for_one() -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            totals.summaries()
        return len(queries)

    make_node(make_cluster("a"), "n")
    one = cost()
    for name in ("b", "c", "d"):
        make_fleet(make_cluster(name), nodes=7)
    assert cost() == one <= 10


def test_a_fleet_of_100_nodes_is_made_in_batches() -> None:
    """Ten times the nodes cost a few statements more, not ten times as many."""

    def cost(name: str, nodes: int) -> int:
        with CaptureQueriesContext(connection) as captured:
            make_fleet(make_cluster(name), nodes=nodes)
        return len(captured)

    assert cost("large", 100) <= cost("small", 10) + 10
    assert Card.objects.count() == 880
