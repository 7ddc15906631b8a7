"""One statement renews the leases of a process; a watcher that hangs, or whose row is another's, is not renewed."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from inventory.heartbeats import pulses
from inventory.mirror.keeper import UNHEARD_S, Keeper
from inventory.mirror.lease import release
from inventory.models import DirtyNode, Role, Watch, Worker
from leases.lease import Lease, LeaseLost
from leases.renew import renew

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
