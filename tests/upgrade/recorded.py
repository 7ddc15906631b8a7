"""Databases that earlier releases wrote, made anew on PostgreSQL and SQLite, and what of them must read the same afterwards."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from tests import services
from tests.processes import Processes
from tests.services import Postgres
from tests.upgrade.record import RECORDED, USER

#: The release before, and the state of the tables that installations of the unreleased version had longest.
RELEASES = ("0.1.0", "before-0.2")
DATABASES = ("postgresql", "sqlite")
#: What a row of a list is known by.
KEYS = {
    "clusters": ("name",),
    "nodes": ("cluster", "name"),
    "cards": ("id",),
    "allocations": ("id",),
    "pods": ("cluster", "namespace", "name"),
    "findings": ("id",),
    "runs": ("id",),
    "campaigns": ("id",),
    "tokens": ("id",),
}


@cache
def shown(release: str, database: str) -> dict[str, Any]:
    """What that release showed of it (`visits`), and `commit`, the code that wrote it."""
    found: dict[str, Any] = json.loads(gzip.decompress((RECORDED / f"{release}.{database}.json.gz").read_bytes()))
    return found


@cache
def sql(release: str, database: str) -> str:
    """Its tables and rows."""
    return gzip.decompress((RECORDED / f"{release}.{database}.sql.gz").read_bytes()).decode()


class Restored:
    """A database with a recorded content, and the processes of this release that use it."""

    def __init__(self, processes: Processes, url: str) -> None:
        self.processes, self.url = processes, url

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """With the marks of psycopg (%s) for values."""
        if self.url.startswith("sqlite:"):
            with sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=30) as own:
                rows = own.execute(statement.replace("%s", "?"), values).fetchall()
            own.close()
            return rows
        with psycopg.connect(self.url) as connection:
            cursor = connection.execute(statement, values)  # type: ignore[call-overload]
            return list(cursor.fetchall()) if cursor.description else []

    def run_all(self, statements: list[str]) -> None:
        """On one connection, in one transaction; none has values."""
        if self.url.startswith("sqlite:"):
            with sqlite3.connect(self.url.removeprefix("sqlite:///"), isolation_level=None) as own:
                for statement in statements:
                    own.execute(statement)
            own.close()
            return
        with psycopg.connect(self.url) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def visit(self) -> dict[str, Any]:
        """What this release shows of it."""
        out = self.processes.folder / "visits.json"
        with out.open("wb") as file:
            self.processes.python(str(Path(__file__).with_name("visits.py")), USER, stdout=file)
        found: dict[str, Any] = json.loads(out.read_text())
        return found


@contextmanager
def restored(release: str, database: str, folder: Path) -> Iterator[Restored]:
    """As it was recorded: nothing has been migrated yet. Raises Missing where PostgreSQL is not installed."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if database == "sqlite":
        file = folder / "gpudash.sqlite3"
        with sqlite3.connect(file) as connection:
            connection.executescript(f"PRAGMA foreign_keys=OFF;\nBEGIN;\n{sql(release, database)}\nCOMMIT;")
        connection.close()
        yield from _with_processes(folder, f"sqlite:///{file}")
        return
    with services.postgres() as server:
        yield from _with_processes(folder, fill(server, sql(release, database), folder))


def fill(server: Postgres, text: str, folder: Path, name: str = "upgraded") -> str:
    """A new database of the server with these statements; its URL."""
    file = folder / f"{name}.sql"
    file.write_text(text)
    url = server.create(name)
    server.run_sql(name, file)
    return url


def _with_processes(folder: Path, url: str) -> Iterator[Restored]:
    processes = Processes(folder, url, GPUDASH_ENV="local", GPUDASH_ENV_FILE="")
    try:
        yield Restored(processes, url)
    finally:
        processes.stop()


#: Rows that `migrate` writes by itself.
_OF_MIGRATE = ("django_migrations", "django_content_type", "auth_permission")
_INTO = re.compile(r'INSERT INTO "?(?:public\.)?(\w+)"?')


def inserts(release: str, database: str) -> Iterator[tuple[str, str]]:
    """(table, INSERT with the columns that the release knew) of each row."""
    statement = ""
    for line in sql(release, database).splitlines(keepends=True):
        statement += line
        if not line.endswith(";\n") or statement.count("'") % 2:
            continue
        if into := _INTO.match(statement.lstrip()):
            yield into[1], statement.strip()
        # pg_dump's comments stand before a statement and may hold an apostrophe; none of ours does.
        statement = ""


def insert_again(one: Restored, release: str, database: str) -> int:
    """Empty the tables and write the rows anew, as the release's code did: how many. Raises the database's error."""
    rows = [row for row in inserts(release, database) if row[0] not in _OF_MIGRATE]
    tables = dict.fromkeys(table for table, _ in rows)
    loose = "PRAGMA foreign_keys=OFF" if database == "sqlite" else "SET session_replication_role = replica"
    one.run_all([loose, *(f'DELETE FROM "{table}"' for table in tables), *(statement for _, statement in rows)])
    return len(rows)


#: What processes there are now alone changes: the recording had a worker that launches, and none runs over what is put back.
_NO_WORKER = ("waiting_reason", "waiting_message")
#: What the clock alone changes: how old something is, and the state that is shown of it.
#: A watch whose next try was due is nobody's by now.
_BY_THE_CLOCK = ("age_seconds", "state", "reason", "since", "state_since")
_SHOWN_BY_AGE = ("clusters", "watch")


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Rows that are gone, came, or whose words and numbers are others, in fields that both releases have."""
    found = []
    for name, key in KEYS.items():
        old = {tuple(row[part] for part in key): row for row in before["rest"][name]}
        new = {tuple(row[part] for part in key): row for row in after["rest"][name]}
        found += [f"{name} {one}: gone" for one in old.keys() - new.keys()]
        found += [f"{name} {one}: came" for one in new.keys() - old.keys()]
        for one in sorted(old.keys() & new.keys(), key=str):
            found += [f"{name} {one} {text}" for text in _unlike(name, old[one], new[one])]
    return found


def _unlike(where: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for field in sorted(old.keys() & new.keys()):
            if field in _NO_WORKER and new.get("waiting_reason") == "no-worker":
                continue
            if where not in _SHOWN_BY_AGE or field not in _BY_THE_CLOCK:
                yield from _unlike(field, old[field], new[field])
    elif where == "watches":
        # A later release may watch more kinds.
        later = {row["kind"]: row for row in new}
        for row in old:
            yield from _unlike("watch", row, later.get(row["kind"], "gone"))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _unlike(where, one, other)
    elif old != new:
        yield f"{where}: {old!r} became {new!r}"
