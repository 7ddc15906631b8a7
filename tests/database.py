"""Databases of tests. On SQLite the tables are made once for a whole run, whichever process of it is first; all others copy them."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import django
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.models.signals import post_migrate
from django.dispatch import receiver

from audit.chain import begin
from audit.models import Entry, Head
from tests.processes import Processes

#: A migrated file that is older goes when another is made.
KEPT_S = 86400.0


@pytest.fixture(scope="session")
def migrated_file(pytestconfig: pytest.Config, django_test_environment: None, django_db_blocker: Any) -> Path:
    """A SQLite file with all tables, to copy. It is kept from run to run, until a migration or Django is another."""
    folder = pytestconfig.cache.mkdir("migrated")  # type: ignore[union-attr]
    made = folder / f"{_migrations()}.sqlite3"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            for old in folder.glob("*.sqlite3"):
                if old.stat().st_mtime < time.time() - KEPT_S:
                    old.unlink()
            unfinished = made.with_suffix(".unfinished")
            unfinished.unlink(missing_ok=True)
            _migrate(unfinished, django_db_blocker)
            unfinished.chmod(0o600)
            unfinished.rename(made)
    return made


def _migrations() -> str:
    """A digest of all that a migrated file is made of: Django, and the migrations' text."""
    digest = hashlib.sha256(f"{django.__version__} {sqlite3.sqlite_version}".encode())
    for app in sorted(apps.get_app_configs(), key=lambda one: one.label):
        for file in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(f"{app.label} {file.name} ".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _migrate(file: Path, django_db_blocker: Any) -> None:
    """In this process where it speaks to SQLite anyway; else in one of its own, for the web processes that tests start."""
    if connection.vendor != "sqlite":
        Processes(file.parent, f"sqlite:///{file}").call("migrate", "--verbosity", "0")
        return
    with django_db_blocker.unblock(), connected_to(file):
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


@receiver(post_migrate, dispatch_uid="tests.database")
def _as_migrated(sender: Any, **_: Any) -> None:
    """A test database that was emptied has the rows again that a migration makes: Django says so as after `migrate`."""
    if sender.label == "audit" and not Head.objects.exists() and not Entry.objects.exists():
        begin(Head(pk=1))


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
    with django_db_blocker.unblock(), connected_to(own):
        yield


RowsOfModule = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def rows_of_module(django_db_setup: None, django_db_blocker: Any) -> Iterator[RowsOfModule]:
    """For a fixture of a module that makes rows: `with rows_of_module():`. All tests of the module see them.

    What a test changes is rolled back after it, as ever. Not for a module with tests whose rows are committed.
    """
    whole = transaction.atomic()
    # As in a test's own transaction: what the product declares durable may run inside.
    whole._from_testcase = True  # type: ignore[attr-defined]
    with django_db_blocker.unblock():
        whole.__enter__()
    try:
        yield django_db_blocker.unblock
    finally:
        with django_db_blocker.unblock():
            transaction.set_rollback(True)
            whole.__exit__(None, None, None)


@contextmanager
def connected_to(file: Path) -> Iterator[None]:
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
