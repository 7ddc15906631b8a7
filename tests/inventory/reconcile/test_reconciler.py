"""When the reconciler works, what it writes, and what it does when something fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.mirror.keeper import Bell
from inventory.models import Allocation, Card, DirtyNode, Finding, NodeTotals, Watch
from inventory.reconcile import difference, reconciler
from inventory.reconcile.chunk import Chunk
from kube.objects import Node, Pod
from runtime.leases.lease import LeaseLost
from stacks.engine import base
from stacks.engine.node_report import node_report
from tests.inventory.reconcile.conftest import Fleet
from tests.inventory.reconcile.objects import share_node, share_pod, whole_node, whole_pod

FleetOf = Callable[[str], Fleet]


def fill(fleet: Fleet, nodes: int) -> None:
    """Half whole cards, half gpushare, each node with a pod."""
    for number in range(nodes):
        name = f"n-{number:03d}"
        if number % 2:
            fleet.put("nodes", share_node(name, 30))
            fleet.put("pods", share_pod(f"p-{number}", name, 4, 0))
        else:
            fleet.put("nodes", whole_node(name))
            fleet.put("pods", whole_pod(f"p-{number}", name, (f"GPU-{number}",)))


def test_nothing_is_written_when_nothing_changed(fleet: Fleet) -> None:
    fill(fleet, 6)
    assert fleet.reconcile() > 0
    DirtyNode.objects.create(cluster=fleet.cluster)
    before = list(Card.objects.values()) + list(Allocation.objects.values()) + list(NodeTotals.objects.values())
    assert fleet.reconcile() == 0
    after = list(Card.objects.values()) + list(Allocation.objects.values()) + list(NodeTotals.objects.values())
    assert after == before


def test_where_no_node_is_dirty_it_only_looks(fleet: Fleet) -> None:
    fill(fleet, 2)
    fleet.reconcile()
    with CaptureQueriesContext(connection) as queries:
        assert fleet.reconciler.step() == 0
    assert [query["sql"].split()[0] for query in queries] == ["SELECT"]


def test_the_sums_of_a_node_are_those_of_its_cards(fleet: Fleet) -> None:
    fleet.put("nodes", share_node("s1", 30))
    fleet.put("pods", share_pod("a", "s1", 4, 0), share_pod("b", "s1", 15, 1))
    fleet.reconcile()
    totals = NodeTotals.objects.get()
    gib = 2**30
    assert (totals.memory_total_bytes, totals.memory_allocated_bytes, totals.memory_free_bytes) == (
        30 * gib,
        19 * gib,
        11 * gib,
    )
    assert (totals.cards_total, totals.cards_allocated, totals.cards_free, totals.largest_gap_bytes) == (
        2,
        2,
        0,
        11 * gib,
    )
    states = dict(Card.objects.values_list("key", "state"))
    assert states == {"0": "partly", "1": "full"}
    ids = dict(Card.objects.values_list("key", "id"))
    assert totals.tiles == [[ids["0"], "0", 26, "partly", ""], [ids["1"], "1", 100, "full", ""]]


@pytest.mark.parametrize("missing", ["nodes", "pods", "daemonsets"])
def test_before_the_mirror_is_complete_nothing_is_accounted(fleet: Fleet, missing: str) -> None:
    Watch.objects.filter(kind=missing).update(synced_at=None, state="listing")
    fill(fleet, 1)
    assert fleet.reconcile() == 0
    assert NodeTotals.objects.count() == 0
    Watch.objects.filter(kind=missing).update(synced_at=timezone.now())
    assert fleet.reconcile() > 0


def test_daemonsets_that_may_not_be_read_do_not_hold_it_up(fleet: Fleet) -> None:
    Watch.objects.filter(kind="daemonsets").update(synced_at=None, state="refused")
    fill(fleet, 1)
    assert fleet.reconcile() > 0


def test_the_cards_are_in_step_only_when_no_node_is_dirty(fleet: Fleet) -> None:
    cards = Watch.objects.filter(kind="cards")
    cards.update(synced_at=None, state="waiting")
    fill(fleet, 1)
    fleet.reconciler.step()  # a row for all nodes becomes one for each
    assert cards.get().synced_at is None
    fleet.reconcile()
    assert cards.get().synced_at is not None


def test_a_cluster_without_nodes_is_in_step_too(fleet: Fleet) -> None:
    cards = Watch.objects.filter(kind="cards")
    cards.update(synced_at=None)
    fleet.reconcile()
    assert cards.get().synced_at is not None


def test_a_chunk_that_fails_is_repeated_and_nothing_of_it_is_half_written(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(fleet, 2)
    fleet.reconciler.step()
    fleet.reconciler.step()  # the cluster's software
    rows = DirtyNode.objects.count()

    def failing(chunk: Chunk, first: bool) -> int:
        difference.write(chunk)
        raise DatabaseError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(reconciler, "write", failing)
        with pytest.raises(DatabaseError):
            fleet.reconcile()
    assert (Card.objects.count(), Allocation.objects.count(), DirtyNode.objects.count()) == (0, 0, rows)
    fleet.reconcile()
    assert (Card.objects.count(), NodeTotals.objects.count(), DirtyNode.objects.count()) == (4, 2, 0)


def test_who_lost_the_lease_writes_nothing(fleet: Fleet) -> None:
    fill(fleet, 1)
    Watch.objects.filter(kind="cards").update(holder="another")
    with pytest.raises(LeaseLost):
        fleet.reconcile()
    assert Card.objects.count() == 0


def test_a_node_that_gets_dirty_during_the_work_stays_dirty(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(fleet, 1)
    fleet.reconcile()
    fleet.put("nodes", whole_node("n-000", cards=3))

    def late(chunk: Chunk, first: bool) -> int:
        DirtyNode.objects.create(cluster=fleet.cluster, node_name="n-000")
        return difference.write(chunk)

    with monkeypatch.context() as patch:
        patch.setattr(reconciler, "write", late)
        fleet.reconciler.step()
    assert list(DirtyNode.objects.values_list("node_name", flat=True)) == ["n-000"]


def test_two_clusters_of_the_same_names_do_not_touch_each_other(fleet_of: FleetOf) -> None:
    one, two = fleet_of("one"), fleet_of("two")
    fill(one, 2)
    fill(two, 2)
    one.reconcile()
    two.reconcile()
    one.drop("nodes", whole_node("n-000"))
    one.reconcile()
    assert Card.objects.filter(cluster=one.cluster, removed_at=None).count() == 2
    assert Card.objects.filter(cluster=two.cluster, removed_at=None).count() == 4
    assert Allocation.objects.filter(cluster=two.cluster, ended_at=None).count() == 2


# Findings.


def test_a_finding_begins_changes_and_ends(fleet: Fleet) -> None:
    fleet.put("nodes", share_node("s1", 30))
    fleet.put("pods", share_pod("a", "s1", 9, 0), share_pod("b", "s1", 9, 0))
    fleet.reconcile()
    begun = Finding.objects.get(code="card-over-committed")
    fleet.put("pods", share_pod("b", "s1", 12, 0))
    fleet.reconcile()
    changed = Finding.objects.get(code="card-over-committed")
    assert (changed.id, changed.first_seen_at) == (begun.id, begun.first_seen_at)
    assert changed.text != begun.text
    assert Card.objects.get(key="0").state == "over"
    fleet.drop("pods", share_pod("b", "s1", 12, 0))
    fleet.reconcile()
    ended = Finding.objects.get(code="card-over-committed")
    assert (ended.id, ended.ended_at is not None) == (begun.id, True)


def test_a_finding_that_comes_again_is_a_new_one(fleet: Fleet) -> None:
    fleet.put("nodes", share_node("s1", 30))
    for _ in range(2):
        fleet.put("pods", share_pod("a", "s1", 4, 7))
        fleet.reconcile()
        fleet.drop("pods", share_pod("a", "s1", 4, 7))
        fleet.reconcile()
    rows_of = Finding.objects.filter(code="index-out-of-range")
    assert (rows_of.count(), rows_of.filter(ended_at=None).count()) == (2, 0)


def test_units_that_are_mixed_in_a_cluster_are_found_once(fleet: Fleet) -> None:
    fleet.put("nodes", share_node("s1", 30), share_node("s2", 30000, memory="15000MiB"))
    fleet.reconcile()
    mixed = Finding.objects.get(code="units-mixed")
    assert (mixed.node_name, mixed.ended_at) == ("", None)
    fleet.put("nodes", share_node("s3", 30))
    fleet.reconcile()
    assert Finding.objects.filter(code="units-mixed").count() == 1
    fleet.drop("nodes", share_node("s2", 30000, memory="15000MiB"))
    fleet.reconcile()
    assert Finding.objects.get(code="units-mixed").ended_at is not None


def test_an_answer_that_changes_with_time_alone_is_made_again(fleet: Fleet) -> None:
    assumed = int((timezone.now() - timedelta(seconds=100)).timestamp() * 1e9)
    fleet.put("nodes", share_node("s1", 30))
    fleet.put("pods", share_pod("a", "s1", 4, 0, assigned=False, assumed_ns=assumed))
    fleet.reconcile()
    due = NodeTotals.objects.get().recheck_at
    assert due is not None
    assert timedelta(seconds=150) < due - timezone.now() < timedelta(seconds=250)
    NodeTotals.objects.update(recheck_at=timezone.now() - timedelta(seconds=1))
    fleet.reconciler._rechecked = 0.0
    assert fleet.reconcile() == 1
    assert NodeTotals.objects.get().recheck_at == due


def test_a_node_that_no_stack_can_read_keeps_its_figures_and_hides_nobody(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(fleet, 2)
    fleet.reconcile()
    before = NodeTotals.objects.values().get(node_name="n-000")

    def strange(node: Node, pods: list[Pod], context: base.Context) -> base.NodeReport:
        if node.metadata.name == "n-000":
            raise ZeroDivisionError("strange")
        return node_report(node, pods, context)

    fleet.put("nodes", whole_node("n-000", cards=5), share_node("n-001", 45, cards=3))
    with monkeypatch.context() as patch:
        patch.setattr("inventory.reconcile.chunk.node_report", strange)
        fleet.reconcile()
        DirtyNode.objects.create(cluster=fleet.cluster)
        fleet.reconcile()
    assert NodeTotals.objects.values().get(node_name="n-000") == before
    assert NodeTotals.objects.get(node_name="n-001").cards_total == 3
    assert Finding.objects.get(code="not-accounted").ended_at is None
    DirtyNode.objects.create(cluster=fleet.cluster, node_name="n-000")
    fleet.reconcile()
    assert NodeTotals.objects.get(node_name="n-000").cards_total == 5
    assert Finding.objects.get(code="not-accounted").ended_at is not None


# Cost.


def statements(fleet: Fleet) -> dict[str, int]:
    """How many statements of each verb the accounting took."""
    counts: dict[str, int] = {}
    with CaptureQueriesContext(connection) as queries:
        fleet.reconcile()
    for query in queries:
        # Django logs one statement for many rows as "100 times: INSERT …".
        verb = query["sql"].split(" times: ")[-1].split()[0]
        counts[verb] = counts.get(verb, 0) + 1
    return counts


def touch(fleet: Fleet, nodes: int) -> None:
    """Every node changes: one pod goes, another comes, the same cards."""
    for number in range(nodes):
        name = f"n-{number:03d}"
        if number % 2:
            fleet.drop("pods", share_pod(f"p-{number}", name, 4, 0))
            fleet.put("pods", share_pod(f"q-{number}", name, 20, 1))
        else:
            fleet.put("pods", whole_pod(f"p-{number}", name, (f"GPU-{number}",), phase="Failed"))
            fleet.put("pods", whole_pod(f"q-{number}", name, (f"GPU-{number}",)))


def test_the_number_of_statements_of_a_chunk_does_not_grow_with_its_nodes(fleet_of: FleetOf) -> None:
    small, large = fleet_of("small"), fleet_of("large")
    fill(small, 4)
    fill(large, 100)
    assert statements(large) == statements(small)
    touch(small, 4)
    touch(large, 100)
    assert statements(large) == statements(small)
    DirtyNode.objects.create(cluster=small.cluster)
    DirtyNode.objects.create(cluster=large.cluster)
    assert statements(large) == statements(small)


class Quiet(Bell):
    """Never rings; ends the reconciler when it has waited this many times."""

    def __init__(self, stopped: threading.Event, times: int) -> None:
        super().__init__()
        self.waits: list[float] = []
        self.queries: list[int] = []
        self._stopped, self._times = stopped, times

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        self.queries.append(len(connection.queries_log))
        if len(self.waits) == self._times:
            self._stopped.set()
        return False


@pytest.mark.parametrize(("kept", "seconds"), [(False, 0.25), (True, 5.0)])
@pytest.mark.parametrize("synced", [False, True])
def test_with_a_keeper_it_asks_nothing_while_it_waits(
    fleet: Fleet, kept: bool, synced: bool, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first lists are complete too: of 100 clusters, looks of each left no time for the lists."""
    monkeypatch.setattr(reconciler, "LOOK_S", 0.0)
    if synced:
        fleet.reconcile()
    else:
        fleet.cluster.watches.update(synced_at=None)
    fleet.reconciler.lease.kept = kept
    quiet = fleet.reconciler.woken = Quiet(fleet.reconciler.stopped, 4)
    with CaptureQueriesContext(connection):
        fleet.reconciler.run()
    assert quiet.waits == [seconds] * 4
    assert quiet.incomplete is not synced
    assert (quiet.queries[0] == quiet.queries[-1]) is kept


def test_a_report_that_time_changes_is_made_anew_when_the_keeper_says_so(fleet: Fleet) -> None:
    fleet.put("nodes", share_node("s1", 30))
    fleet.reconcile()
    NodeTotals.objects.update(recheck_at=timezone.now() - timedelta(seconds=1))
    fleet.reconciler.lease.kept = True
    assert fleet.reconciler.step() == 0
    fleet.reconciler.woken.due = True
    assert fleet.reconciler.step() == 1
    assert not fleet.reconciler.woken.due
