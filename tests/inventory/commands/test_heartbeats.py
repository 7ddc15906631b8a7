"""Who works behind the pages is seen: /readyz, the clusters page, `cluster list` and /metrics name a process that is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client

from gpudash.celery import HEARTBEAT_S, app
from gpudash.workers import schedule
from inventory import processes as heartbeats
from inventory import tasks
from inventory.collect.sources import set_prometheus
from inventory.models import Card, Cluster, UsageSource, Watch
from inventory.processes import LATE_S, USAGE_LATE_S, pulses
from runtime.heartbeats import EVERY_S, beat
from runtime.models import Heartbeat, Message, Role
from tests.factories import make_node
from tests.factories.usage import source_of
from tests.inventory.commands.conftest import Run

pytestmark = pytest.mark.django_db


def aged(role: Role, seconds: float) -> None:
    beat(role)
    Heartbeat.objects.filter(role=role).update(beat_at=Now() - timedelta(seconds=seconds))


@pytest.fixture
def card_of(cluster: Cluster) -> Callable[[], int]:
    make_node(cluster, "gpu-1", "nvidia", 1)
    return lambda: Card.objects.get().pk


def late() -> set[str]:
    return {one.role.value for one in pulses() if not one.ok}


def parts() -> dict[str, Any]:
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["ready"] is True
    found: dict[str, Any] = answer.json()["parts"]
    return found


def test_a_process_that_was_never_seen_is_said_to_be_that(db: None) -> None:
    assert parts()["schedule"]["reason"].startswith("schedule (beat) not seen yet")
    assert "watch" not in parts()


def test_a_heartbeat_is_good_for_its_time_and_no_longer(db: None) -> None:
    for role in (Role.SCHEDULE, Role.TASKS, Role.LAUNCH):
        aged(role, LATE_S - 5)
    assert late() == set()
    aged(Role.TASKS, LATE_S + 1)
    assert late() == {"tasks"}
    part = parts()["tasks"]
    assert not part["ok"]
    assert "not seen for 21 s" in part["reason"]
    assert "worker tasks" in part["reason"]


def test_a_launch_worker_that_is_not_there_is_named_with_what_it_means(db: None) -> None:
    for role in (Role.SCHEDULE, Role.TASKS):
        beat(role)
    reason = parts()["launch"]["reason"]
    assert reason.startswith("launch worker (queue launch) not seen yet")
    assert "runs stay queued" in reason
    assert "worker launch" in reason
    tasks.launch_heartbeat()
    assert late() == set()


def test_it_is_told_within_thirty_seconds() -> None:
    assert LATE_S + 2 * EVERY_S <= 30
    assert HEARTBEAT_S == EVERY_S == app.conf.beat_schedule["heartbeat"]["schedule"]


def test_watchers_are_seen_by_their_leases_and_by_what_they_begin(cluster: Cluster) -> None:
    Watch.objects.update(expires_at=None)
    assert "watch" in late()
    Watch.objects.filter(kind="pods").update(expires_at=Now() + timedelta(seconds=5))
    assert "watch" not in late()
    Watch.objects.update(expires_at=Now() - timedelta(seconds=LATE_S))
    assert "watch" in late()
    Watch.objects.update(expires_at=None)
    beat(Role.WATCH)
    assert "watch" not in late()


def test_the_usage_worker_is_wanted_where_there_is_something_to_measure(cluster: Cluster) -> None:
    assert Role.USAGE not in {one.role for one in pulses()}
    source = source_of(cluster)
    assert "usage" in late()
    aged(Role.USAGE, USAGE_LATE_S - 5)
    assert "usage" not in late()
    aged(Role.USAGE, USAGE_LATE_S + 1)
    assert "usage" in late()
    # A round that goes on renews its lease: all threads of the worker may be at it.
    UsageSource.objects.filter(pk=source.pk).update(expires_at=Now() + timedelta(seconds=30))
    assert "usage" not in late()
    UsageSource.objects.filter(pk=source.pk).update(expires_at=Now() - timedelta(seconds=5))
    assert "usage" in late()


def test_a_source_that_is_overdue_says_since_when(
    cluster: Cluster, viewer: Client, run: Callable[..., str], card_of: Callable[[], int]
) -> None:
    source = source_of(cluster, timedelta(minutes=6))
    UsageSource.objects.update(due_at=Now() - timedelta(minutes=5))
    source.refresh_from_db()
    words = f"overdue since {source.due_at:%Y-%m-%d %H:%M:%S} UTC"
    assert words in parts()["usage"]["reason"]
    assert "worker usage" in parts()["usage"]["reason"]
    assert f"ATTENTION: not being read, {words}" in run("cluster", "list")
    page = viewer.get("/clusters").content.decode()
    assert "No heartbeat from the usage worker." in page
    assert "A read was due" in page
    assert words in viewer.get(f"/cards/{card_of()}").content.decode()
    # The worker is there, and does not get to it.
    beat(Role.USAGE)
    assert "exporters of 1 of 1 clusters not read in time" in parts()["usage"]["reason"]
    assert "The usage worker is behind schedule." in viewer.get("/clusters").content.decode()
    UsageSource.objects.update(due_at=Now() - timedelta(seconds=90))
    assert "usage" not in late()
    assert words not in run("cluster", "list")


def test_a_source_that_was_set_and_is_never_read_is_overdue(cluster: Cluster) -> None:
    set_prometheus(cluster, "http://prometheus:9090")
    assert {one.role: one.overdue_since for one in pulses()}[Role.USAGE] is None
    UsageSource.objects.update(due_at=F("due_at") - timedelta(minutes=3))
    assert {one.role: one.overdue_since for one in pulses()}[Role.USAGE] is not None


def test_its_message_is_sent_while_there_is_something_to_measure(cluster: Cluster) -> None:
    tasks.dispatch_collectors()
    assert not Message.objects.filter(key=tasks.usage_heartbeat.name).exists()
    source_of(cluster)
    UsageSource.objects.update(due_at=Now() + timedelta(minutes=1))
    tasks.dispatch_collectors()
    assert Message.objects.filter(key=tasks.usage_heartbeat.name).exists()
    assert app.conf.task_routes[tasks.usage_heartbeat.name] == {"queue": "usage"}
    tasks.usage_heartbeat()
    assert "usage" not in late()


def test_the_clusters_page_and_the_command_name_who_is_missing(
    cluster: Cluster, viewer: Client, run: Callable[..., str]
) -> None:
    Watch.objects.update(expires_at=Now() + timedelta(seconds=5))
    beat(Role.SCHEDULE)
    aged(Role.TASKS, 60)
    beat(Role.LAUNCH)
    for path in ("/clusters", f"/clusters/{cluster.name}"):
        text = viewer.get(path).content.decode()
        assert "No heartbeat from the tasks worker." in text
        assert "No heartbeat from the schedule (beat)." not in text
    assert re.search(r"ATTENTION: tasks worker \(queue default\) not seen for 6\d s", run("cluster", "list"))
    aged(Role.LAUNCH, 60)
    text = viewer.get("/clusters").content.decode()
    assert "No heartbeat from the launch worker." in text
    assert "gpudash worker launch" in text
    tasks.launch_heartbeat()
    tasks.heartbeat()
    assert "No heartbeat" not in viewer.get("/clusters").content.decode()
    assert "ATTENTION" not in run("cluster", "list")


def test_the_scrape_has_the_time_of_each_that_was_seen(cluster: Cluster, api: Client) -> None:
    beat(Role.TASKS)
    text = api.get("/metrics").content.decode()
    assert 'gpudash_heartbeat_timestamp_seconds{role="tasks"}' in text
    assert 'role="schedule"' not in text


def test_the_schedule_beats_with_its_ticks_and_survives_a_database_that_is_away(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = schedule.Schedule(app)
    assert made.tick() <= EVERY_S
    assert "schedule" not in late()

    def away(_role: Role) -> None:
        raise DatabaseError("away")

    monkeypatch.setattr(schedule, "beat", away)
    made._beaten = float("-inf")
    assert made.tick() <= EVERY_S


def test_a_database_that_is_away_says_so_and_nothing_else(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise DatabaseError("away")

    monkeypatch.setattr("gpudash.health.pulses", away)
    assert "unknown" in parts()["schedule"]["reason"]


def test_one_statement_writes_a_heartbeat(db: None, django_assert_num_queries: Any) -> None:
    beat(Role.TASKS)
    with django_assert_num_queries(1):
        beat(Role.TASKS)
    with django_assert_num_queries(3):
        heartbeats.pulses()


def test_a_worker_that_starts_looks_at_once(run: Run) -> None:
    assert app.conf.beat_scheduler == "gpudash.workers.schedule:Schedule"
