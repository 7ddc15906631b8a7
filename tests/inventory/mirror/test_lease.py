"""One watcher per (cluster, kind), and a fencing token against the one before."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection, connections
from django.db.models import F
from django.utils import timezone

from inventory.mirror.anew import PUT_BACK
from inventory.mirror.lease import acquire, release
from inventory.models import Cluster, Watch
from runtime.leases.lease import Lease, LeaseLost
from runtime.leases.row import free

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
    release(lease("pods"))
    assert (row().holder, row().state) == ("", "waiting")
    assert Watch.objects.filter(free(), kind="pods").exists()
    assert lease("pods").token == 2


def test_what_a_refusal_said_stays_when_the_lease_is_given_back(lease: TakeLease) -> None:
    held = lease("pods")
    held.update(state="refused", reason="403 Forbidden")
    release(held)
    assert (row().state, row().reason) == ("refused", "403 Forbidden")


def test_the_old_holder_gives_nothing_back(lease: TakeLease) -> None:
    old = lease("pods")
    let_it_expire()
    new = lease("pods")
    new.update(state="watching")
    release(old)
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


def put_back(epoch: int) -> None:
    """As a restore of a backup does under a watcher that runs: the row says again what it said when it held this epoch."""
    Watch.objects.filter(kind="pods").update(epoch=epoch, resource_version="10", synced_at=timezone.now())


def test_each_write_moves_the_epoch(lease: TakeLease) -> None:
    held = lease("pods")
    before = row().epoch
    held.update()
    held.update()
    assert (row().epoch, held.epoch) == (before + 2, before + 2)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("committed_database")
def test_who_knows_of_a_later_row_than_the_one_that_is_there_cannot_write() -> None:
    cluster = Cluster.objects.create(name="restored")
    Watch.objects.create(cluster=cluster, kind="pods")
    held = acquire(cluster.id, "pods")
    assert held is not None
    before = row().epoch
    held.update()
    put_back(before)
    with pytest.raises(LeaseLost):
        held.update(reason="mine")
    assert row().reason == ""


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("committed_database")
def test_a_row_that_was_put_back_is_listed_anew_by_whoever_comes_next() -> None:
    cluster = Cluster.objects.create(name="restored")
    Watch.objects.create(cluster=cluster, kind="pods")
    held = acquire(cluster.id, "pods")
    assert held is not None
    before = row().epoch
    held.update()
    put_back(before)
    release(held)
    assert (row().resource_version, row().relist_reason) == ("", PUT_BACK)
    assert row().epoch > held.epoch


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("committed_database")
def test_a_lease_that_was_only_lost_is_not_listed_anew() -> None:
    cluster = Cluster.objects.create(name="taken")
    Watch.objects.create(cluster=cluster, kind="pods", resource_version="10")
    old = acquire(cluster.id, "pods")
    let_it_expire()
    new = acquire(cluster.id, "pods")
    assert old is not None
    assert new is not None
    release(old)
    assert (row().resource_version, row().holder) == ("10", new.holder)


def test_a_row_of_another_making_of_the_table_is_listed_anew(lease: TakeLease) -> None:
    put_back(5)
    Watch.objects.filter(kind="pods").update(incarnation="of a backup")
    lease("pods")
    assert (row().resource_version, row().relist_reason) == ("", PUT_BACK)
    assert row().incarnation != "of a backup"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("committed_database")
def test_a_file_that_is_put_back_while_it_is_open_ends_the_lease(tmp_path: Path) -> None:
    """SQLite: the open connection goes on with the file that was there before, which nobody reads any more."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no such file")
    cluster = Cluster.objects.create(name="filed")
    Watch.objects.create(cluster=cluster, kind="pods")
    backup = tmp_path / "backup.sqlite3"
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(backup)])
    held = acquire(cluster.id, "pods")
    assert held is not None
    held.update(resource_version="20")
    file = Path(str(connection.settings_dict["NAME"]))
    for beside in ("-wal", "-shm"):
        # A log of the other file would be read into this one.
        file.with_name(f"{file.name}{beside}").unlink(missing_ok=True)
    backup.rename(file)
    with pytest.raises(LeaseLost):
        held.update()
    release(held)
    assert row().relist_reason == PUT_BACK
    assert acquire(cluster.id, "pods") is not None
