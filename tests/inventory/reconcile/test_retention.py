"""What is older than its time goes, oldest first, in small transactions; a run that ends early is followed by another."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory import retention, tasks
from inventory.models import Allocation
from inventory.retention import prune
from tests.factories import end_allocation, make_cluster, make_fleet

pytestmark = pytest.mark.django_db
DAY = 24 * 60


@pytest.fixture
def ended() -> list[Allocation]:
    """Allocations that ended 100, 101, … days ago."""
    make_fleet(make_cluster("prod"), nodes=2)
    rows = list(Allocation.objects.all()[:7])
    for number, row in enumerate(rows):
        end_allocation(row, minutes_ago=(100 + number) * DAY)
    return rows


def left(rows: list[Allocation]) -> list[int]:
    """Which of them are still there."""
    there = set(Allocation.objects.values_list("pk", flat=True))
    return [number for number, row in enumerate(rows) if row.pk in there]


def test_a_run_ends_when_its_time_is_over_and_the_next_goes_on(ended: list[Allocation]) -> None:
    kept = Allocation.objects.count() - len(ended)
    assert prune(seconds=-1.0, batch=3) == (3, True)
    assert left(ended) == [0, 1, 2, 3], "the oldest go first"
    assert prune(batch=3) == (4, False)
    assert Allocation.objects.count() == kept
    assert prune() == (0, False)


def test_no_statement_deletes_more_than_a_batch(ended: list[Allocation]) -> None:
    with CaptureQueriesContext(connection) as captured:
        prune(batch=2)
    deleted = [query["sql"] for query in captured if query["sql"].startswith("DELETE")]
    # Of the allocations, and as many of what stands beside them.
    assert len([sql for sql in deleted if sql.startswith('DELETE FROM "inventory_allocation"')]) == 4
    assert len(deleted) == 8
    assert all(1 <= sql.partition(" IN (")[2].count(",") + 1 <= 2 for sql in deleted)


def test_the_task_is_sent_again_while_there_is_more(ended: list[Allocation], monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(tasks, "send_once", sent.append)
    runs: list[Callable[[], Any]] = [lambda: prune(-1.0, 4), lambda: prune(30.0, 4)]
    monkeypatch.setattr(retention, "prune", lambda: runs.pop(0)())
    assert (tasks.prune_history(), tasks.prune_history()) == (4, 3)
    assert sent == ["inventory.tasks.prune_history"]


def test_sessions_that_ran_out_go_and_others_stay() -> None:
    for key, days in (("old", -1), ("new", 1)):
        Session.objects.create(session_key=key, session_data="", expire_date=timezone.now() + timedelta(days=days))
    prune()
    assert list(Session.objects.values_list("session_key", flat=True)) == ["new"]


def test_postgresql_is_told_to_clean_what_changes_most() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("a setting of PostgreSQL")
    with connection.cursor() as cursor:
        cursor.execute("SELECT reloptions FROM pg_class WHERE relname = 'inventory_allocation'")
        assert "autovacuum_vacuum_scale_factor=0.01" in cursor.fetchone()[0]
