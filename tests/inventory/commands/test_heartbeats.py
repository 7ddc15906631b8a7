"""Who works behind the pages is seen: /readyz, the clusters page, `cluster list` and /metrics name a process that is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.db.models.functions import Now
from django.test import Client

from gpudash import schedule
from gpudash.celery import HEARTBEAT_S, app
from inventory import heartbeats, tasks
from inventory.heartbeats import EVERY_S, LATE_S, beat, pulses
from inventory.models import Cluster, Heartbeat, Role, Watch
from tests.inventory.commands.conftest import Run

pytestmark = pytest.mark.django_db


def aged(role: Role, seconds: float) -> None:
    beat(role)
    Heartbeat.objects.filter(role=role).update(beat_at=Now() - timedelta(seconds=seconds))


def late() -> set[str]:
    return {one.role.value for one in pulses() if not one.ok}


def parts() -> dict[str, Any]:
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["ready"] is True
    found: dict[str, Any] = answer.json()["parts"]
    return found


def test_a_process_that_was_never_seen_is_said_to_be_that(db: None) -> None:
    assert parts()["schedule"]["reason"].startswith("the schedule (beat) has not been seen yet")
    assert "watch" not in parts()


def test_a_heartbeat_is_good_for_its_time_and_no_longer(db: None) -> None:
    for role in (Role.SCHEDULE, Role.TASKS):
        aged(role, LATE_S - 5)
    assert late() == set()
    aged(Role.TASKS, LATE_S + 1)
    assert late() == {"tasks"}
    part = parts()["tasks"]
    assert not part["ok"]
    assert "has not been seen for 21 s" in part["reason"]
    assert "worker -Q default" in part["reason"]


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


def test_the_clusters_page_and_the_command_name_who_is_missing(
    cluster: Cluster, viewer: Client, run: Callable[..., str]
) -> None:
    Watch.objects.update(expires_at=Now() + timedelta(seconds=5))
    beat(Role.SCHEDULE)
    aged(Role.TASKS, 60)
    for path in ("/clusters", f"/clusters/{cluster.name}"):
        text = viewer.get(path).content.decode()
        assert "The tasks worker is not seen." in text
        assert "The schedule (beat) is not seen." not in text
    assert re.search(
        r"ATTENTION: the tasks worker \(queue default\) has not been seen for 6\d s", run("cluster", "list")
    )
    tasks.heartbeat()
    assert "is not seen" not in viewer.get("/clusters").content.decode()
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
    assert "not known" in parts()["schedule"]["reason"]


def test_one_statement_writes_a_heartbeat(db: None, django_assert_num_queries: Any) -> None:
    beat(Role.TASKS)
    with django_assert_num_queries(1):
        beat(Role.TASKS)
    with django_assert_num_queries(2):
        heartbeats.pulses()


def test_a_worker_that_starts_looks_at_once(run: Run) -> None:
    assert app.conf.beat_scheduler == "gpudash.schedule:Schedule"
