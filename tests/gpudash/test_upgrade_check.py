"""`gpudash upgrade-check` says before an upgrade what will change, and changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from gpudash import __version__, upgrade
from gpudash.config import env
from gpudash.management.commands.upgrade_check import CHANGES, IMPOSSIBLE, UNCHANGED
from tests.docs.test_tables import settings_read
from tests.processes import ROOT


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the machine that the tests run on."""
    for name in [name for name in os.environ if name.startswith("GPUDASH_")]:
        monkeypatch.delenv(name)


def said(*words: str) -> tuple[int, str]:
    """Exit code and text."""
    out = StringIO()
    try:
        call_command("upgrade_check", *words, stdout=out)
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue()
    return UNCHANGED, out.getvalue()


def as_json() -> tuple[int, dict[str, Any]]:
    code, text = said("-o", "json")
    return code, json.loads(text)


@pytest.mark.django_db
def test_an_installation_of_this_release_changes_nothing() -> None:
    code, text = said()
    assert code == UNCHANGED
    assert text.splitlines()[1:] == ["database: up to date; no migrations", "settings: all known"]
    assert as_json() == (
        UNCHANGED,
        {
            "version": __version__,
            "database": "current",
            "reason": "",
            "migrations": [],
            "later_migrations": [],
            "settings": [],
        },
    )


@pytest.mark.django_db
def test_migrations_that_would_run_are_named_and_do_not_run() -> None:
    MigrationRecorder(connection).record_unapplied("validations", "0001_initial")
    code, text = said()
    assert code == CHANGES
    assert "database: of an earlier release; `gpudash migrate` runs 1 migration\n  validations.0001_initial\n" in text
    code, found = as_json()
    assert (code, found["database"], found["migrations"]) == (CHANGES, "earlier", ["validations.0001_initial"])


@pytest.mark.django_db
def test_a_database_of_a_later_release_is_refused() -> None:
    MigrationRecorder(connection).record_applied("inventory", "9999_of_tomorrow")
    code, text = said()
    assert code == IMPOSSIBLE
    assert "database: the database belongs to a later release" in text
    code, found = as_json()
    assert (code, found["database"], found["later_migrations"]) == (IMPOSSIBLE, "later", ["inventory.9999_of_tomorrow"])


def test_a_database_that_does_not_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: object) -> None:
        raise OperationalError("password of the database: hunter2")

    monkeypatch.setattr(upgrade, "MigrationExecutor", away)
    code, text = said()
    assert code == IMPOSSIBLE
    assert "cannot reach the database (OperationalError); see GPUDASH_DATABASE_URL" in text
    assert "hunter2" not in text


@pytest.mark.django_db
def test_settings_that_are_unknown_or_renamed_are_named_without_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "RENAMED", {"GPUDASH_OLD": "GPUDASH_IDLE_MINUTES"})
    for name in ("GPUDASH_OLD", "GPUDASH_DATABASE_PASSWROD", "GPUDASH_XYZZY"):
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("GPUDASH_EMPTY", " ")
    code, text = said()
    assert code == CHANGES
    assert text.splitlines()[2:] == [
        "setting GPUDASH_DATABASE_PASSWROD: unknown; it has no effect. Did you mean GPUDASH_DATABASE_PASSWORD?",
        "setting GPUDASH_OLD: renamed; set GPUDASH_IDLE_MINUTES instead",
        "setting GPUDASH_XYZZY: unknown; it has no effect",
    ]
    assert as_json()[1]["settings"][1] == {"name": "GPUDASH_OLD", "state": "renamed", "use": "GPUDASH_IDLE_MINUTES"}


def test_every_setting_is_known_whatever_the_others_say() -> None:
    assert set(settings_read()) <= env.asked


def test_an_empty_database_stays_empty(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GPUDASH_")}
    command = [sys.executable, "manage.py", "upgrade-check", "-o", "json"]
    for _ in range(2):
        environment = clean | {"GPUDASH_DATA_DIR": str(tmp_path), "GPUDASH_ENV_FILE": ""}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == CHANGES, done.stderr
        assert json.loads(done.stdout)["database"] == "empty"
