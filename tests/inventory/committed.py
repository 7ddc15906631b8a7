"""A database whose rows other threads see: committed ones."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the migrated SQLite file lies that tests copy; made by the first that needs it."""
    return tmp_path_factory.mktemp("database") / "migrated.sqlite3"


@pytest.fixture
def committed_database(
    request: pytest.FixtureRequest, tmp_path: Path, migrated_file: Path, django_db_blocker: Any
) -> Iterator[None]:
    """On SQLite a file of its own, since threads cannot share the test database in memory; else the test database, emptied after."""
    if connection.vendor != "sqlite":
        request.getfixturevalue("transactional_db")
        yield
        return
    options, before = connections.settings["default"], connections["default"]
    kept, own = options["NAME"], tmp_path / "own.sqlite3"
    with django_db_blocker.unblock():
        try:
            if not migrated_file.exists():
                _connect_to(migrated_file)
                call_command("migrate", verbosity=0, interactive=False)
                connections["default"].close()
            shutil.copy(migrated_file, own)
            _connect_to(own)
            yield
        finally:
            connections["default"].close()
            options["NAME"] = kept
            connections["default"] = before


def _connect_to(file: Path) -> None:
    connections.settings["default"]["NAME"] = str(file)
    connections["default"] = connections.create_connection("default")
