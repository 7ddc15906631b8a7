"""The schedule names tasks that exist, and the embedded service says when its port is taken."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.core.management import CommandError
from django.db import DatabaseError
from django.utils import timezone

from gpudash.celery import app
from gpudash.web import bound_server
from gpudash.workers import schedule
from gpudash.workers.schedule import Schedule
from runtime.messages import OnceTask
from runtime.models import Message, ScheduleLease


def test_each_task_of_the_schedule_exists() -> None:
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)


def test_watchers_have_a_queue_of_their_own_and_the_dispatcher_has_not() -> None:
    assert app.amqp.router.route({}, "inventory.tasks.watch")["queue"].name == "watch"
    assert app.amqp.router.route({}, "inventory.tasks.dispatch_watchers")["queue"].name == "default"


def test_a_killed_watcher_is_replaced_within_fifteen_seconds() -> None:
    looked_at = app.conf.beat_schedule["dispatch-watchers"]["schedule"]
    assert settings.LEASE_S + looked_at <= 15


def test_each_task_of_the_schedule_takes_its_message() -> None:
    """One that does not would be sent once, and never again."""
    app.loader.import_default_modules()
    assert all(isinstance(app.tasks[entry["task"]], OnceTask) for entry in app.conf.beat_schedule.values())


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the schedule sends."""
    names: list[str] = []
    monkeypatch.setattr(Schedule, "send_task", lambda self, name, **options: names.append(name))
    return names


class Monotonic:
    """The clock of `gpudash.workers.schedule`, moved by hand."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


def ticks(made: Schedule, clock: Monotonic, seconds: int) -> None:
    for _ in range(seconds):
        clock.now += 1.0
        while made.tick() == 0:
            pass


@pytest.mark.parametrize("step_s", [0, -3600, 86400])
def test_a_clock_that_is_set_stops_no_entry_and_hurries_none(
    db: None, sent: list[str], monkeypatch: pytest.MonkeyPatch, step_s: int
) -> None:
    clock = Monotonic()
    monkeypatch.setattr(schedule, "time", clock)
    made = Schedule(app)
    ticks(made, clock, 10)
    Message.objects.update(taken=True)
    before = set(sent)
    sent.clear()
    moved = datetime.now(UTC) + timedelta(seconds=step_s)
    monkeypatch.setattr("celery.schedules.BaseSchedule.now", lambda self: moved)
    for _ in range(12):
        ticks(made, clock, 1)
        Message.objects.update(taken=True)
    assert len(before) == len(app.conf.beat_schedule)
    assert sent.count("inventory.tasks.dispatch_watchers") == 6
    assert "inventory.tasks.prune_history" not in sent


def test_while_nobody_takes_them_one_message_of_each_entry_is_sent(
    db: None, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Monotonic()
    monkeypatch.setattr(schedule, "time", clock)
    made = Schedule(app)
    ticks(made, clock, 600)
    assert sorted(sent) == sorted(entry["task"] for entry in app.conf.beat_schedule.values())


def test_of_two_schedules_one_sends_until_its_lease_runs_out(
    db: None, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Monotonic()
    monkeypatch.setattr(schedule, "time", clock)
    first, second = Schedule(app), Schedule(app)
    ticks(first, clock, 1)
    once = sorted(entry["task"] for entry in app.conf.beat_schedule.values())
    assert sorted(sent) == once
    Message.objects.update(taken=True)
    ticks(second, clock, 60)
    assert sorted(sent) == once, "who has no lease sends nothing, though all is due"
    ScheduleLease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    sent.clear()
    ticks(second, clock, 1)
    assert sorted(sent) == once, "who takes over sends what is due"
    Message.objects.update(taken=True)
    sent.clear()
    first_lease = first._lease
    assert first_lease is not None
    first_lease.renewed_at = float("-inf")
    ticks(first, clock, 60)
    assert sent == [], "who comes back from a pause sends nothing"


def test_a_database_that_is_away_takes_no_lease_and_sends_nothing(
    db: None, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise DatabaseError("away")

    made = Schedule(app)
    monkeypatch.setattr(schedule, "acquire", away)
    assert made.tick() == schedule.LOOK_S
    assert sent == []


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"cannot use port {port} on 127.0.0.1"):
            bound_server(f"127.0.0.1:{port}")
