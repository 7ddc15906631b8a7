"""One watcher per (cluster, kind), and a fencing token against the one before."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.db.models import F
from django.utils import timezone

from inventory.mirror.lease import Lease, LeaseLost, acquire, free
from inventory.models import Cluster, Watch

TakeLease = Callable[[str], Lease]


def row() -> Watch:
    return Watch.objects.get(kind="pods")


def let_it_expire() -> None:
    Watch.objects.filter(kind="pods").update(expires_at=timezone.now() - timedelta(milliseconds=1))


def test_a_lease_that_is_held_is_not_given_again(lease: TakeLease, fresh: Cluster) -> None:
    held = lease("pods")
    assert acquire(fresh.id, "pods") is None
    assert (row().holder, row().token) == (held.holder, held.token)


def test_each_kind_has_a_lease_of_its_own(lease: TakeLease) -> None:
    assert lease("pods").kind == "pods"
    assert lease("nodes").kind == "nodes"


def test_a_lease_lasts_as_long_as_the_setting_says(lease: TakeLease, settings: pytest.FixtureRequest) -> None:
    settings.LEASE_S = 60  # type: ignore[attr-defined]
    lease("pods")
    until = row().expires_at
    assert until is not None
    assert timedelta(seconds=55) < until - timezone.now() < timedelta(seconds=65)


def test_an_update_renews_and_writes(lease: TakeLease) -> None:
    held = lease("pods")
    Watch.objects.filter(kind="pods").update(expires_at=timezone.now() + timedelta(seconds=1))
    held.update(reason="listing")
    until = row().expires_at
    assert until is not None
    assert until - timezone.now() > timedelta(seconds=4)
    assert row().reason == "listing"


def test_a_lease_that_ran_out_is_given_to_another_with_a_higher_token(lease: TakeLease) -> None:
    old = lease("pods")
    let_it_expire()
    new = lease("pods")
    assert new.token == old.token + 1
    with pytest.raises(LeaseLost):
        old.update(reason="mine")
    new.update(reason="ours")
    assert row().reason == "ours"


def test_who_is_late_but_not_replaced_may_go_on(lease: TakeLease) -> None:
    held = lease("pods")
    let_it_expire()
    held.update(reason="still here")
    assert not Watch.objects.filter(free(), kind="pods").exists()


def test_a_lease_given_back_is_free_at_once(lease: TakeLease) -> None:
    lease("pods").release()
    assert (row().holder, row().expires_at, row().state) == ("", None, "waiting")
    assert lease("pods").token == 2


def test_what_a_refusal_said_stays_when_the_lease_is_given_back(lease: TakeLease) -> None:
    held = lease("pods")
    held.update(state="refused", reason="403 Forbidden")
    held.release()
    assert (row().state, row().reason) == ("refused", "403 Forbidden")


def test_the_old_holder_gives_nothing_back(lease: TakeLease) -> None:
    old = lease("pods")
    let_it_expire()
    new = lease("pods")
    new.update(state="watching")
    old.release()
    assert (row().holder, row().state) == (new.holder, "watching")


def test_a_token_alone_or_a_holder_alone_is_not_enough(lease: TakeLease) -> None:
    held = lease("pods")
    Watch.objects.filter(kind="pods").update(token=F("token") + 1)
    with pytest.raises(LeaseLost):
        held.update()
    Watch.objects.filter(kind="pods").update(token=held.token, holder="another")
    with pytest.raises(LeaseLost):
        held.update()


def test_there_is_no_lease_of_a_cluster_that_is_gone(fresh: Cluster) -> None:
    gone = fresh.id
    fresh.delete()
    assert acquire(gone, "pods") is None


@pytest.mark.django_db(transaction=True)  # before the fixture: PostgreSQL's rows must be committed
@pytest.mark.usefixtures("committed_database")
def test_of_many_threads_that_race_one_gets_the_lease() -> None:
    cluster = Cluster.objects.create(name="raced")
    Watch.objects.create(cluster=cluster, kind="pods")
    taken: list[Lease] = []
    ready = threading.Barrier(6)

    def race() -> None:
        ready.wait()
        if (lease := acquire(cluster.id, "pods")) is not None:
            taken.append(lease)
        connections.close_all()

    threads = [threading.Thread(target=race) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(lease.holder, lease.token) for lease in taken] == [(row().holder, 1)]
    assert connection.vendor in ("sqlite", "postgresql")
