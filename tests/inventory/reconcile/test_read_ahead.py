"""The first time, one chunk of nodes is read while another is written: nothing is lost, and no thread or connection stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from django.db import DatabaseError

from inventory.models import Allocation, Card, DirtyNode, NodeTotals, Watch
from inventory.reconcile import ahead, chunk, dirty, reconciler
from inventory.reconcile.ahead import ReadAhead
from stacks.engine import base
from tests.factories import make_cluster
from tests.inventory.reconcile.conftest import Fleet
from tests.inventory.reconcile.objects import whole_node, whole_pod

NODES, CHUNK = 18, 4

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("committed_database")]


@pytest.fixture
def new_fleet(committed_database: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """Nodes of two cards and a pod each, never reconciled."""
    monkeypatch.setattr(dirty, "CHUNK", CHUNK)
    monkeypatch.setattr(ahead, "helps", lambda: True)  # SQLite goes without
    fleet = Fleet(make_cluster("prod", held=False))
    Watch.objects.filter(kind="cards").update(synced_at=None)
    fleet.put("nodes", *(whole_node(f"n-{number:02d}") for number in range(NODES)))
    fleet.put("pods", *(whole_pod(f"p-{n}", f"n-{n:02d}", (f"GPU-{n}",)) for n in range(NODES)))
    yield fleet
    fleet.reconciler._ahead.close()


def readers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("read-ahead")]


def test_all_nodes_are_in_step_and_the_thread_is_gone(new_fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    read_by: list[str] = []

    def noted(cluster_id: int, names: list[str], context: base.Context) -> chunk.Chunk:
        read_by.append(threading.current_thread().name)
        return chunk.read(cluster_id, names, context)

    monkeypatch.setattr(reconciler, "read", noted)
    new_fleet.reconciler.run(once=True)
    assert (Card.objects.count(), Allocation.objects.count(), NodeTotals.objects.count()) == (2 * NODES, NODES, NODES)
    assert DirtyNode.objects.count() == 0
    assert Watch.objects.get(kind="cards").synced_at is not None
    assert sum(name.startswith("read-ahead") for name in read_by) >= NODES // CHUNK
    assert readers() == []


def test_what_changes_after_it_was_read_ahead_is_looked_at_again(new_fleet: Fleet) -> None:
    while not new_fleet.reconciler._ahead._read:
        new_fleet.reconciler.step()
    read = new_fleet.reconciler._ahead.take()
    assert read is not None
    name = read.names[0]
    new_fleet.put("nodes", whole_node(name, cards=5))
    new_fleet.reconciler._write(read)
    assert NodeTotals.objects.get(node_name=name).cards_total == 2
    assert DirtyNode.objects.filter(node_name=name).exists()
    new_fleet.reconciler.run(once=True)
    assert NodeTotals.objects.get(node_name=name).cards_total == 5


def test_a_read_that_fails_stops_the_reconciler_and_loses_nothing(
    new_fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(cluster_id: int, names: list[str], context: base.Context) -> chunk.Chunk:
        if threading.current_thread().name.startswith("read-ahead"):
            raise DatabaseError("the connection broke")
        return chunk.read(cluster_id, names, context)

    with monkeypatch.context() as patch:
        patch.setattr(reconciler, "read", failing)
        with pytest.raises(DatabaseError):
            new_fleet.reconciler.run(once=True)
    assert readers() == []
    assert DirtyNode.objects.values("node_name").distinct().count() == NODES - CHUNK
    new_fleet.reconciler.run(once=True)
    assert NodeTotals.objects.count() == NODES


def test_nothing_is_read_ahead_that_was_not_begun() -> None:
    nothing: ReadAhead[int] = ReadAhead()
    assert nothing.take() is None
    nothing.close()
    assert readers() == []
