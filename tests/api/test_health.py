"""Health: open to probes, honest about each part, silent about hosts and passwords."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

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


def test_missing_migrations_are_counted(monkeypatch: Any) -> None:
    monkeypatch.setattr(health.MigrationExecutor, "migration_plan", lambda self, targets: [1, 2])
    part = ready().json()["parts"]["migrations"]
    assert part == {"ok": False, "reason": "2 migrations are not applied; run manage.py migrate"}


def test_static_files_that_were_not_collected_are_said_in_production_only(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    assert ready().json()["parts"]["static"]["ok"]
    settings.PRODUCTION = True
    assert "run manage.py collectstatic" in ready().json()["parts"]["static"]["reason"]
    (tmp_path / "staticfiles.json").write_text("{}")
    assert ready().json()["parts"]["static"]["ok"]


def test_a_probe_may_not_post() -> None:
    assert Client().post("/healthz").status_code == 405


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as closing:
        return int(closing.getsockname()[1])
