"""Health: open to probes, honest about each part, silent about hosts and passwords."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.test.utils import CaptureQueriesContext

from gpudash import health

pytestmark = pytest.mark.django_db


def ready() -> Any:
    return Client().get("/readyz")


def test_a_process_that_answers_is_healthy() -> None:
    response = Client().get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


def test_ready_lists_every_part() -> None:
    response = ready()
    assert response.status_code == 200
    assert set(response.json()["parts"]) == {
        "database",
        "broker",
        "migrations",
        "static",
        "schedule",
        "tasks",
        "launch",
    }
    assert "no-cache" in response.headers["Cache-Control"]


def test_a_broker_that_is_down_is_named_without_its_password(settings: Any) -> None:
    settings.CELERY_BROKER_URL = f"redis://:secret@127.0.0.1:{_closed_port()}/0"
    response = ready()
    assert response.status_code == 503
    broker = response.json()["parts"]["broker"]
    assert not broker["ok"]
    assert "broker" in broker["reason"]
    assert "secret" not in response.content.decode()
    assert response.json()["parts"]["database"]["ok"]


def test_a_broker_that_accepts_and_says_nothing_is_given_up_soon(settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{mute.getsockname()[1]}/0"
        assert not ready().json()["parts"]["broker"]["ok"]


def test_missing_migrations_are_counted() -> None:
    for app in ("inventory", "validations"):
        MigrationRecorder(connection).record_unapplied(app, "0001_initial")
    part = ready().json()["parts"]["migrations"]
    assert part == {"ok": False, "reason": "2 migrations not applied; run gpudash migrate"}


def test_static_files_that_were_not_collected_are_said_in_production_only(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    assert ready().json()["parts"]["static"]["ok"]
    settings.PRODUCTION = True
    assert "run gpudash collectstatic" in ready().json()["parts"]["static"]["reason"]
    (tmp_path / "staticfiles.json").write_text("{}")
    assert ready().json()["parts"]["static"]["ok"]


@pytest.fixture
def keeps(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in production; other tests look each time."""
    settings.SHARED_LOOK_S = 1.0
    monkeypatch.setattr(health, "_kept", health._Kept())


def test_of_many_that_ask_one_looks(keeps: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "KEPT_S", 60.0)
    settings.SHARED_LOOK_S = 60.0
    first = ready()
    with CaptureQueriesContext(connection) as queries:
        assert {ready().content for _ in range(50)} == {first.content}
    assert len(queries) == 0


def test_an_answer_is_not_given_again_after_a_second(keeps: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ready().status_code == 200
    monkeypatch.setattr(health.time, "monotonic", lambda now=time.monotonic: now() + 1.0)
    MigrationRecorder(connection).record_unapplied("inventory", "0001_initial")
    assert ready().status_code == 503


def test_a_part_that_hangs_holds_up_one_thread(keeps: None, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ready()
    monkeypatch.setattr(health, "KEPT_S", 0.0001)
    looks, go = threading.Event(), threading.Event()

    def hang() -> None:
        looks.set()
        go.wait(60)

    monkeypatch.setitem(health.CHECKS, "static", hang)
    thread = threading.Thread(target=health._kept.get)
    monkeypatch.setattr(health, "check_database", lambda: None)
    monkeypatch.setattr(health, "_background", lambda there: {})
    monkeypatch.setitem(health.CHECKS, "migrations", lambda: None)
    thread.start()
    assert looks.wait(30)
    assert [ready().content for _ in range(20)] == [before.content] * 20
    go.set()
    thread.join(30)


def test_a_probe_may_not_post() -> None:
    assert Client().post("/healthz").status_code == 405


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as closing:
        return int(closing.getsockname()[1])
