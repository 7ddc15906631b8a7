"""Tables of a later release: no process starts with them, and /readyz says so. The broker's check publishes and reads."""

from __future__ import annotations

import pytest
from django.db import InternalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from psycopg.errors import ReadOnlySqlTransaction

from gpudash.later_release import refuse_later
from gpudash.middleware.database_away import is_away

pytestmark = pytest.mark.django_db


def test_tables_of_this_release_are_ready() -> None:
    assert Client().get("/readyz").json()["parts"]["migrations"]["ok"]


def test_tables_of_a_later_release_are_named_and_nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    MigrationRecorder(connection).record_applied("inventory", "9999_of_tomorrow")
    part = Client().get("/readyz").json()["parts"]["migrations"]
    assert not part["ok"]
    assert "later release" in part["reason"]
    assert "inventory.9999_of_tomorrow" in part["reason"]
    monkeypatch.setattr(connection, "close", lambda: None)  # the test's own transaction
    with pytest.raises(SystemExit, match=r"later release .*inventory\.9999_of_tomorrow"):
        refuse_later()


def test_what_another_app_that_is_not_installed_left_is_no_matter() -> None:
    MigrationRecorder(connection).record_applied("elsewhere", "0001_initial")
    assert Client().get("/readyz").json()["parts"]["migrations"]["ok"]


def test_a_server_that_takes_no_changes_is_away() -> None:
    refused = ReadOnlySqlTransaction("cannot execute UPDATE in a read-only transaction")
    wrapped = InternalError(str(refused))
    wrapped.__cause__ = refused
    assert is_away(refused)
    assert is_away(wrapped)
    assert not is_away(InternalError("another"))
