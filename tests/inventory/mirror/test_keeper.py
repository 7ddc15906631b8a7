"""One statement renews the leases of a process; a watcher that hangs, or whose row is another's, is not renewed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from inventory.mirror.keeper import UNHEARD_S, Keeper
from inventory.mirror.lease import acquire, release
from inventory.models import Cluster, DirtyNode, Finding, NodeTotals, Watch, Worker
from inventory.processes import pulses
from runtime.leases.lease import Lease, LeaseLost
from runtime.leases.renew import renew
from runtime.models import Role
from tests.factories import make_cluster, make_node

TakeLease = Callable[[str], Lease]


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Keeper:
    """One whose thread does not run: the test renews."""
    made = Keeper()
    monkeypatch.setattr(Keeper, "running", True)
    return made


def run_out() -> None:
    Watch.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def held_until(lease: Lease) -> float:
    until = Watch.objects.get(pk=lease.pk).expires_at
    assert until is not None
    return (until - timezone.now()).total_seconds()


def test_all_are_renewed_by_two_statements(lease: TakeLease, keeper: Keeper, django_assert_num_queries: Any) -> None:
    leases = [lease(kind) for kind in ("nodes", "pods", "daemonsets", "cards")]
    run_out()
    with django_assert_num_queries(4):  # with the savepoint's
        assert renew(Watch, {one.pk: one for one in leases}, 10.0) == {one.pk for one in leases}
    assert all(held_until(one) > 5 for one in leases)


def test_a_watcher_leaves_its_renewals_to_the_keeper(
    lease: TakeLease, keeper: Keeper, django_assert_num_queries: Any
) -> None:
    held = lease("pods")
    keeper.hold(held)
    held.renewed_at = float("-inf")
    with django_assert_num_queries(0):
        held.tick()
    keeper.drop(held)
    with django_assert_num_queries(1):
        held.tick()


def test_a_watcher_that_hangs_is_not_renewed(lease: TakeLease, keeper: Keeper) -> None:
    held = lease("pods")
    keeper.hold(held)
    run_out()
    held.ticked_at = time.monotonic() - UNHEARD_S - 1
    keeper._renew()
    assert held_until(held) < 0


def test_one_that_another_has_taken_is_lost(lease: TakeLease, keeper: Keeper) -> None:
    held = lease("pods")
    keeper.hold(held)
    run_out()
    other = lease("pods")
    keeper._renew()
    with pytest.raises(LeaseLost):
        held.tick()
    other.tick()


def test_one_whose_row_was_put_back_is_lost(lease: TakeLease, keeper: Keeper) -> None:
    held = lease("pods")
    held.update()
    held.committed = held.epoch
    keeper.hold(held)
    Watch.objects.filter(pk=held.pk).update(epoch=F("epoch") - 1)
    keeper._renew()
    with pytest.raises(LeaseLost):
        held.tick()


def test_one_whose_cluster_is_gone_is_lost(lease: TakeLease, keeper: Keeper) -> None:
    held = lease("pods")
    keeper.hold(held)
    Watch.objects.all().delete()
    keeper._renew()
    with pytest.raises(LeaseLost):
        held.tick()


def test_it_says_how_much_room_there_is_and_takes_it_back(lease: TakeLease, keeper: Keeper) -> None:
    keeper._threads = 8
    keeper.hold(lease("pods"))
    keeper._renew()
    assert list(Worker.objects.values_list("threads", "holds")) == [(8, 1)]
    keeper.retire()
    keeper._renew()
    assert not Worker.objects.exists()


def test_it_wakes_the_reconciler_whose_nodes_wait(lease: TakeLease, keeper: Keeper) -> None:
    held = lease("cards")
    keeper.hold(held)
    keeper._wake()
    assert not keeper.woken(held.cluster_id).is_set()
    DirtyNode.objects.create(cluster_id=held.cluster_id, node_name="n")
    keeper._wake()
    assert keeper.woken(held.cluster_id).is_set()


@pytest.fixture
def many(keeper: Keeper, db: None) -> Callable[[int], list[int]]:
    """Hold the cards of so many clusters; → their numbers."""

    def hold(count: int) -> list[int]:
        for number in range(count):
            held = acquire(make_cluster(f"c-{number:03d}", synced=False).pk, "cards")
            assert held is not None
            keeper.hold(held)
        return sorted(lease.cluster_id for lease in keeper._leases.values())

    return hold


def rung(keeper: Keeper, clusters: list[int]) -> list[int]:
    """The clusters whose reconcilers were woken since the last time."""
    found = [one for one in clusters if keeper.woken(one).is_set()]
    for one in found:
        keeper.woken(one).clear()
    return found


@pytest.mark.parametrize("count", [3, 30])
def test_it_looks_at_all_clusters_with_the_same_number_of_queries(
    keeper: Keeper, many: Callable[[int], list[int]], count: int, django_assert_num_queries: Any
) -> None:
    for one in many(count):
        keeper.woken(one).incomplete = True
    with django_assert_num_queries(3):  # dirty nodes, first lists, rechecks
        keeper._wake()
    with django_assert_num_queries(1):
        keeper._wake()


def test_it_wakes_those_alone_that_have_something_to_do(keeper: Keeper, many: Callable[[int], list[int]]) -> None:
    one, two, three = many(3)
    for cluster_id in (one, two):
        keeper.woken(cluster_id).incomplete = True
    keeper._wake()
    assert rung(keeper, [one, two, three]) == []
    Watch.objects.filter(cluster_id__in=(two, three)).update(synced_at=timezone.now())
    make_totals(three)
    keeper._looked = keeper._listed = float("-inf")
    keeper._wake()
    assert rung(keeper, [one, two, three]) == [two, three]
    assert [keeper.woken(cluster_id).due for cluster_id in (one, two, three)] == [False, False, True]
    assert rung(keeper, [one, two, three]) == []


def make_totals(cluster_id: int) -> None:
    due = timezone.now() - timedelta(seconds=1)
    make_node(Cluster.objects.get(pk=cluster_id), "a", "nvidia-count", 1)
    NodeTotals.objects.filter(cluster_id=cluster_id).update(recheck_at=due)


@pytest.mark.parametrize("scheduled", [False, True])
def test_it_tells_of_clusters_that_do_not_answer_where_no_schedule_does(
    keeper: Keeper, many: Callable[[int], list[int]], scheduled: bool
) -> None:
    keeper._sent = scheduled
    one, _ = many(2)
    late = timezone.now() - timedelta(minutes=2)
    others = Watch.objects.filter(cluster_id=one).exclude(kind="cards")
    others.update(state="backing-off", reason="refused", trouble_since=late)
    keeper._wake()
    told = Finding.objects.filter(ended_at=None, code="never-reached").values_list("cluster", flat=True)
    assert list(told) == ([] if scheduled else [one])


def test_a_mistake_in_a_look_ends_no_renewal(keeper: Keeper, lease: TakeLease, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []

    def broken(clusters: object) -> None:
        looks.append(time.monotonic())
        if len(looks) == 2:
            keeper._stopped.set()
        raise ValueError("what somebody wrote into a row")

    keeper.hold(lease("cards"))
    keeper._sent = False
    monkeypatch.setattr("inventory.mirror.keeper.find_outages", broken)
    monkeypatch.setattr("inventory.mirror.keeper.REST_S", 0.0)
    monkeypatch.setattr("inventory.mirror.keeper.close_old_connections", lambda: None)  # it is the test's own
    keeper._stopped = Once()
    keeper._run()
    assert len(looks) == 2


class Once(threading.Event):
    """Set by hand; waits for nothing."""

    def wait(self, timeout: float | None = None) -> bool:
        return self.is_set()


def test_a_worker_that_holds_nothing_yet_is_seen(lease: TakeLease, keeper: Keeper) -> None:
    release(lease("pods"))
    keeper._threads = 8
    keeper._renew()
    assert next(one for one in pulses() if one.role is Role.WATCH).seen


@pytest.mark.django_db
def test_a_worker_begins_as_many_as_it_has_places_for_and_none_once_it_retires(keeper: Keeper) -> None:
    keeper.start(2)
    assert [keeper.begin() for _ in range(3)] == [True, True, False]
    keeper.end()
    keeper.retire()
    assert not keeper.begin()


@pytest.mark.django_db
def test_who_is_sent_none_begins_those_that_it_names_itself(keeper: Keeper) -> None:
    keeper.start(0, sent=False)
    assert all(keeper.begin() for _ in range(20))
