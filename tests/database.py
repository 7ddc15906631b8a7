"""Databases of tests. On SQLite the tables are made once for a whole run, whichever process of it is first; all others copy them."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections

from tests.processes import Processes


@pytest.fixture(scope="session")
def folder_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for all processes that share the tests."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def migrated_file(folder_of_the_run: Path, django_test_environment: None, django_db_blocker: Any) -> Path:
    """A SQLite file with all tables, to copy."""
    made = folder_of_the_run / "migrated.sqlite3"
    with (folder_of_the_run / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            unfinished = made.with_suffix(".unfinished")
            _migrate(unfinished, django_db_blocker)
            unfinished.chmod(0o600)
            unfinished.rename(made)
    return made


def _migrate(file: Path, django_db_blocker: Any) -> None:
    """In this process where it speaks to SQLite anyway; else in one of its own, for the web processes that tests start."""
    if connection.vendor != "sqlite":
        Processes(file.parent, f"sqlite:///{file}").call("migrate", "--verbosity", "0")
        return
    with django_db_blocker.unblock(), _connected_to(file):
        call_command("migrate", verbosity=0, interactive=False)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, request: pytest.FixtureRequest
) -> Iterator[None]:
    """pytest-django's, called before the test database is made. The one in memory then has all tables already."""
    creation = connection.creation
    if connection.vendor != "sqlite" or not creation.is_in_memory_db(creation._get_test_db_name()):
        yield
        return
    migrated = request.getfixturevalue("migrated_file")
    # It lives for as long as somebody is connected.
    keeper = sqlite3.connect(creation._get_test_db_name(), uri=True)
    source = sqlite3.connect(migrated)
    source.backup(keeper)
    source.close()
    yield
    keeper.close()


@pytest.fixture
def committed_database(request: pytest.FixtureRequest, tmp_path: Path, django_db_blocker: Any) -> Iterator[None]:
    """A database whose rows other threads see: committed ones.

    On SQLite a file of its own, since threads cannot share the test database in memory; else the test database, emptied after.
    """
    if connection.vendor != "sqlite":
        request.getfixturevalue("transactional_db")
        yield
        return
    own = tmp_path / "own.sqlite3"
    shutil.copy(request.getfixturevalue("migrated_file"), own)
    with django_db_blocker.unblock(), _connected_to(own):
        yield


@contextmanager
def _connected_to(file: Path) -> Iterator[None]:
    """The default connection is one to this SQLite file."""
    options, before = connections.settings["default"], connections["default"]
    kept = options["NAME"]
    options["NAME"] = str(file)
    connections["default"] = connections.create_connection("default")
    try:
        yield
    finally:
        connections["default"].close()
        options["NAME"] = kept
        connections["default"] = before
