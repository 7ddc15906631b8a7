"""The schedule names tasks that exist, and the embedded service says when its port is taken."""

from __future__ import annotations

import socket

import pytest
from django.conf import settings
from django.core.management import CommandError

from gpudash.celery import app
from gpudash.web import bound_server


def test_each_task_of_the_schedule_exists() -> None:
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)


def test_watchers_have_a_queue_of_their_own_and_the_dispatcher_has_not() -> None:
    assert app.amqp.router.route({}, "inventory.tasks.watch")["queue"].name == "watch"
    assert app.amqp.router.route({}, "inventory.tasks.dispatch_watchers")["queue"].name == "default"


def test_a_killed_watcher_is_replaced_within_fifteen_seconds() -> None:
    looked_at = app.conf.beat_schedule["dispatch-watchers"]["schedule"]
    assert settings.LEASE_S + looked_at <= 15


def test_what_was_scheduled_while_nobody_worked_does_not_pile_up() -> None:
    for entry in app.conf.beat_schedule.values():
        assert entry["options"]["expires"] <= entry["schedule"]


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"port {port} on 127.0.0.1 cannot be used"):
            bound_server(f"127.0.0.1:{port}")
