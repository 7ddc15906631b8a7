"""A lease and its fence are the same whatever row they are in: a watcher's, a node reconciler's, a launcher's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeAlias

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from inventory.models import Watch
from runtime.leases.lease import Lease, LeaseLost, acquire
from runtime.leases.renew import find_lost, renew
from runtime.leases.row import LONGEST, free
from tests.factories import make_cluster
from validations.models import Launcher

Rows: TypeAlias = QuerySet[Any]

pytestmark = pytest.mark.django_db


def watch() -> Rows:
    return Watch.objects.filter(cluster=make_cluster("prod", held=False), kind="pods")


def launcher() -> Rows:
    row = Launcher.objects.create(cluster=make_cluster("prod", held=False))
    return Launcher.objects.filter(pk=row.pk)


@pytest.fixture(params=[watch, launcher])
def rows(request: pytest.FixtureRequest) -> Rows:
    """The one row that the lease is in."""
    make: Callable[[], Rows] = request.param
    return make()


def take(rows: Rows, **columns: Any) -> Lease | None:
    return acquire(rows, 1, "thing", 10.0, **columns)


def taken(rows: Rows) -> Lease:
    lease = take(rows)
    assert lease is not None
    return lease


def run_out(rows: Rows) -> None:
    rows.update(expires_at=timezone.now() - timedelta(seconds=1))


def test_one_has_it_until_it_runs_out(rows: Rows) -> None:
    old = taken(rows)
    assert take(rows) is None
    run_out(rows)
    new = taken(rows)
    assert new.token == old.token + 1
    with pytest.raises(LeaseLost, match="thing of cluster 1"):
        old.update()
    new.update()


def test_what_is_given_back_is_free_at_once_and_only_its_holder_gives_it_back(rows: Rows) -> None:
    old = taken(rows)
    run_out(rows)
    new = taken(rows)
    old.release()
    assert not rows.filter(free()).exists()
    new.release()
    assert rows.filter(free()).exists()


def test_a_row_that_was_put_back_is_lost_and_its_holder_is_told(rows: Rows) -> None:
    held = taken(rows)
    before = rows.get().epoch
    held.update()
    held.committed = held.epoch  # as its commit says
    rows.update(epoch=before)
    with pytest.raises(LeaseLost):
        held.update()
    assert held.release() is True


def test_a_row_that_came_out_of_a_backup_gets_what_is_due_to_it_with_its_lease(rows: Rows) -> None:
    assert take(rows, restored={"token": 70}) is not None
    assert rows.get().token == 1  # it was never held: nothing was restored
    rows.update(incarnation="of a backup", holder="", expires_at=None)
    assert take(rows, restored={"token": 70}) is not None
    assert (rows.get().token, rows.get().incarnation != "of a backup") == (70, True)


def test_an_end_that_lies_too_far_ahead_holds_nobody_up(rows: Rows) -> None:
    taken(rows)
    rows.update(expires_at=timezone.now() + LONGEST + timedelta(hours=1))
    assert take(rows) is not None


def test_it_is_renewed_on_the_way_and_not_at_every_step(rows: Rows, django_assert_num_queries: Any) -> None:
    held = taken(rows)
    with django_assert_num_queries(0):
        held.tick()
    held.renewed_at -= 4.0
    with django_assert_num_queries(1):
        held.tick()


def test_one_that_another_took_is_not_renewed_and_is_known_to_be_lost(rows: Rows) -> None:
    held = taken(rows)
    assert renew(rows.model, {held.pk: held}, 10.0) == {held.pk}
    run_out(rows)
    taken(rows)
    assert renew(rows.model, {held.pk: held}, 10.0) == set()
    find_lost(rows.model, {held.pk: held}, {held.pk: held.committed})
    with pytest.raises(LeaseLost):
        held.tick()


def test_one_whose_row_is_gone_is_lost(rows: Rows) -> None:
    held = taken(rows)
    rows.delete()
    find_lost(rows.model, {held.pk: held}, {held.pk: held.committed})
    assert held.lost
