"""The Celery tasks, called as functions: idempotent, by ids, and never two on one lease."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from fleetsim import Server
from gpudash.celery import app
from gpudash.middleware.request_log import IdsFilter
from inventory import clusters, tasks
from inventory.mirror.lease import acquire
from inventory.models import Allocation, Card, Cluster, Finding, Watch
from runtime.leases.lease import LeaseLost
from tests.factories import end_allocation, make_cluster, make_finding, make_fleet
from tests.inventory.commands.conftest import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster that nobody watches."""
    return make_cluster("prod", held=False)


@pytest.fixture
def stopping(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    event = threading.Event()
    monkeypatch.setattr(tasks, "stopping", event)
    yield event
    event.set()


def test_a_watcher_whose_lease_is_held_does_nothing(cluster: Cluster, stopping: threading.Event) -> None:
    held = acquire(cluster.id, "pods")
    assert held is not None
    tasks.watch(cluster.id, "pods")
    assert Watch.objects.get(kind="pods").holder == held.holder


def test_what_a_watcher_logs_names_its_cluster(
    cluster: Cluster, stopping: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def logged(_: object) -> None:
        record = logging.makeLogRecord({"msg": "pods are listed"})
        IdsFilter().filter(record)
        seen.append(record.cluster)  # type: ignore[attr-defined]

    monkeypatch.setattr(tasks.NodeReconciler, "run", logged)
    tasks.watch(cluster.id, "cards")
    logged(None)
    assert seen == ["prod", ""]


def test_a_watcher_of_a_cluster_that_is_gone_does_nothing(stopping: threading.Event) -> None:
    tasks.watch(12345, "pods")
    assert Watch.objects.count() == 0


@pytest.mark.parametrize(
    ("removed", "level", "said"),
    [(True, logging.INFO, "the cluster was removed"), (False, logging.WARNING, "another watcher has the lease")],
)
def test_a_watcher_whose_cluster_is_removed_warns_nobody(
    cluster: Cluster, stopping: threading.Event, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    removed: bool, level: int, said: str,
) -> None:  # fmt: skip
    def lost(_: object) -> None:
        if removed:
            clusters.remove(cluster)
        raise LeaseLost

    monkeypatch.setattr(tasks.NodeReconciler, "run", lost)
    with caplog.at_level(logging.INFO):
        tasks.watch(cluster.id, "cards")
    told = {one.getMessage().partition(": ")[2]: one.levelno for one in caplog.records if one.name == tasks.__name__}
    assert told == {said: level}


def test_a_process_that_ends_begins_nothing(cluster: Cluster, stopping: threading.Event) -> None:
    stopping.set()
    tasks.watch(cluster.id, "pods")
    assert Watch.objects.get(kind="pods").token == 0


def test_a_kubeconfig_that_cannot_work_is_shown_and_kept_for_the_time_of_the_lease(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Cluster.objects.update(kubeconfig=str(tmp_path / "none"))
    waited: list[float] = []

    class Watched(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout or 0)
            return False

    event = Watched()
    monkeypatch.setattr(tasks, "stopping", event)
    tasks.watch(cluster.id, "pods")
    row = Watch.objects.get(kind="pods")
    assert (row.state, row.holder, waited) == ("refused", "", [10])
    assert "cannot be read" in row.reason


def test_history_is_kept_for_its_time_and_no_longer(cluster: Cluster) -> None:
    make_fleet(cluster, nodes=1)
    old, young = Allocation.objects.all()[:2]
    end_allocation(old, minutes_ago=91 * 24 * 60)
    end_allocation(young, minutes_ago=89 * 24 * 60)
    gone = Card.objects.filter(allocations=None).first()
    assert gone is not None
    Card.objects.filter(id=gone.id).update(removed_at=timezone.now() - timedelta(days=91))
    still_named = Card.objects.get(allocations=young)
    Card.objects.filter(id=still_named.id).update(removed_at=timezone.now() - timedelta(days=91))
    ended = make_finding(cluster)
    Finding.objects.filter(id=ended.id).update(ended_at=timezone.now() - timedelta(days=91))
    assert tasks.prune_history() == 3
    assert Allocation.objects.filter(id=young.id).exists()
    assert Card.objects.filter(id=still_named.id).exists()
    assert not Card.objects.filter(id=gone.id).exists()


CHECKS = ("inventory.tasks.check_cluster", "inventory.tasks.check_launcher")


def sent_checks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """(task, cluster), as they are sent from now on."""
    sent: list[tuple[str, int]] = []
    monkeypatch.setattr(tasks, "send_once", lambda task, args: sent.append((task, *args)))
    return sent


def test_permissions_of_a_cluster_that_is_not_reached_are_not_asked_for(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = sent_checks(monkeypatch)
    other = make_cluster("other")
    Watch.objects.filter(cluster=cluster, kind="pods").update(state="backing-off")
    tasks.check_clusters()
    both = {one.id for one in (cluster, other)}
    assert sorted(sent) == sorted((task, one) for task in CHECKS for one in both), "one kind alone says little"
    Watch.objects.filter(cluster=cluster, kind="nodes").update(state="backing-off")
    sent.clear()
    tasks.check_clusters()
    assert sent == [(task, other.id) for task in CHECKS]


def test_permissions_of_one_cluster_are_checked_though_another_is_not_reached(
    run: Run, kubeconfig: str, api_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = make_cluster("a-broken-one")
    Cluster.objects.filter(id=broken.id).update(kubeconfig=str(tmp_path / "none"))
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    sent = sent_checks(monkeypatch)
    tasks.check_clusters()
    assert {one for _, one in sent} == set(Cluster.objects.values_list("pk", flat=True)), "messages of its own for each"
    for task, cluster_id in sent:
        app.tasks[task](cluster_id)
    demo, other = Cluster.objects.get(name="demo"), Cluster.objects.get(name="a-broken-one")
    assert demo.permissions_checked_at is not None
    assert demo.launcher_checked_at is not None
    assert other.permissions_checked_at is None
    assert {row["allowed"] for row in other.permissions} == {None}, (
        "that its file cannot be read is an answer to the launcher"
    )
