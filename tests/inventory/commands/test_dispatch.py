"""Watchers are sent where there is room, once, and by the database's clock."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from inventory import tasks
from inventory.capacity import capacity
from inventory.mirror import dispatch
from inventory.mirror.keeper import Keeper
from inventory.mirror.lease import acquire
from inventory.models import Cluster, Watch, Worker
from inventory.models.cluster import LOOKED_FOR
from runtime.leases.lease import PROCESS
from tests.factories import make_cluster

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Which watchers were sent to workers."""
    messages: list[tuple[int, str]] = []

    class Sender:
        def send_task(self, task: str, args: tuple[int, str], **options: Any) -> None:
            assert options == {"queue": "watch"}
            messages.append(args)

    monkeypatch.setattr(dispatch, "current_app", Sender())
    return messages


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many messages wait in the queue of watchers."""
    length = [0]
    monkeypatch.setattr(dispatch, "queue_length", lambda name: length[0])
    return length


def worker(name: str, threads: int, holds: int = 0, seconds_ago: float = 0.0) -> None:
    seen = Now() - timedelta(seconds=seconds_ago)
    Worker.objects.create(name=name, threads=threads, holds=holds, beat_at=seen)


@pytest.fixture
def clusters(db: None) -> list[Cluster]:
    return [make_cluster(name, held=False) for name in ("a", "b", "c")]


def later(seconds: float) -> None:
    for row in Watch.objects.exclude(sent_at=None):
        assert row.sent_at is not None
        Watch.objects.filter(pk=row.pk).update(sent_at=row.sent_at - timedelta(seconds=seconds))


def test_nothing_is_sent_while_there_is_no_worker(clusters: list[Cluster], sent: list[Any]) -> None:
    worker("dead", 100, seconds_ago=60)
    assert tasks.dispatch_watchers() == 0
    assert "no watch worker" in capacity().lack


def test_no_more_are_sent_than_there_are_threads_for_and_the_lack_is_said(
    clusters: list[Cluster], sent: list[Any]
) -> None:
    worker("one", 10)
    assert tasks.dispatch_watchers() == 10
    assert tasks.dispatch_watchers() == 0
    assert [cluster_id for cluster_id, _ in sent] == [clusters[0].id] * 10
    assert "watchers without a thread: 30; free threads: 10 of 10 in all watch workers (1)" in capacity().lack


def test_a_watcher_is_sent_once_until_it_is_taken(clusters: list[Cluster], sent: list[Any], queue: list[int]) -> None:
    worker("one", 100)
    assert tasks.dispatch_watchers() == 30
    assert tasks.dispatch_watchers() == 0
    queue[0] = 30
    later(30)
    assert tasks.dispatch_watchers() == 0  # they still lie there
    queue[0] = 0
    assert tasks.dispatch_watchers() == 30  # the broker has lost them
    assert capacity().lack == ""


def test_one_that_was_taken_and_lost_is_sent_at_once(clusters: list[Cluster], sent: list[Any]) -> None:
    worker("one", 100)
    tasks.dispatch_watchers()
    lease = acquire(clusters[0].id, "pods")
    assert lease is not None
    sent.clear()
    Watch.objects.filter(pk=lease.pk).update(expires_at=Now() - timedelta(seconds=1))
    tasks.dispatch_watchers()
    assert sent == [(clusters[0].id, "pods")]


def test_a_lease_whose_end_was_written_by_a_clock_that_was_set_back_is_free(clusters: list[Cluster]) -> None:
    """A process that died before an hour was taken off the clock."""
    Watch.objects.filter(cluster=clusters[0]).update(holder="dead", expires_at=timezone.now() + timedelta(hours=1))
    assert acquire(clusters[0].id, "pods") is not None


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process holds all that it can."""

    class Full(Keeper):
        running = True
        holds = 20

    monkeypatch.setattr(dispatch, "keeper", Full())


@pytest.mark.usefixtures("full")
def test_who_has_more_than_its_share_leaves_the_first_message_to_another(
    clusters: list[Cluster], sent: list[Any], queue: list[int]
) -> None:
    worker(PROCESS, 100, 20)
    worker("other", 100, 0)
    tasks.dispatch_watchers()
    assert dispatch.give_way(clusters[0].id, "pods")
    tasks.dispatch_watchers()  # sent again at once
    assert sent.count((clusters[0].id, "pods")) == 2
    assert not dispatch.give_way(clusters[0].id, "pods")


@pytest.mark.usefixtures("full")
def test_nobody_gives_way_to_a_worker_without_room(clusters: list[Cluster], sent: list[Any]) -> None:
    worker(PROCESS, 100, 20)
    worker("other", 4, 4)
    tasks.dispatch_watchers()
    assert not dispatch.give_way(clusters[0].id, "pods")


def test_a_worker_reads_few_first_lists_at_once(
    clusters: list[Cluster], sent: list[Any], queue: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With hundreds at once each waits for all others. Reconcilers read no list, and one that is slow keeps no other back."""
    monkeypatch.setattr(dispatch, "FIRST_LISTS", 4)
    asked = Watch.objects.exclude(kind__in=(*LOOKED_FOR, "services"))
    asked.update(synced_at=None, state="waiting", state_since=None)
    worker("one", 100)
    tasks.dispatch_watchers()
    assert len([kind for _, kind in sent if kind != "cards"]) == 4
    assert len([kind for _, kind in sent if kind == "cards"]) == 3
    assert tasks.dispatch_watchers() == 0
    taken = [acquire(cluster_id, kind) for cluster_id, kind in sent if kind != "cards"]
    assert all(taken)
    assert tasks.dispatch_watchers() == 0  # they are being read
    Watch.objects.filter(pk__in=[lease.pk for lease in taken[:2] if lease]).update(synced_at=Now())
    assert tasks.dispatch_watchers() == 2
    Watch.objects.filter(pk__in=[lease.pk for lease in taken if lease]).update(state_since=Now() - timedelta(minutes=1))
    assert tasks.dispatch_watchers() == 2


def test_all_that_were_in_sync_are_taken_over_at_once(
    clusters: list[Cluster], sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "FIRST_LISTS", 4)
    Watch.objects.exclude(kind__in=(*LOOKED_FOR, "services")).update(synced_at=Now())
    worker("one", 100)
    assert tasks.dispatch_watchers() == 30
