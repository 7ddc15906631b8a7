"""Record the database of an earlier release: its demo runs on PostgreSQL and on SQLite, and what it has written is kept as SQL.

    python -m tests.upgrade.record COMMIT NAME

Of each database becomes a file `recorded/NAME.DATABASE.sql.gz` (tables and rows; every INSERT names its columns), and
`recorded/NAME.DATABASE.json.gz`: what that release shows of it. The files are not made anew by tests: what a release wrote does not
change. An account, a token and runs of all states are in them; the demo is ended in the midst of runs.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.processes import ROOT
from tests.services import Postgres, end, free_port, postgres

RECORDED = Path(__file__).parent / "recorded"
USER, PASSWORD = "ana", "a password of a recorded database"
NODES, FIRST_S, RUNS_S = 12, 30.0, 60.0
#: In turn on the nodes that take them; the last are under way when the demo ends.
SUITES = ("cuda-vectoradd", "winml-tinyyolov2", "nvidia-smi")


class Release:
    """The code of a commit in a folder, with one database."""

    def __init__(self, code: Path, folder: Path, database_url: str) -> None:
        self.code, self.folder = code, folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GPUDASH_")}
        self.environment = {
            **kept,
            "GPUDASH_ENV": "local",
            "GPUDASH_ENV_FILE": "",
            "GPUDASH_DATA_DIR": str(folder),
            "GPUDASH_DATABASE_URL": database_url,
            "GPUDASH_BROKER_URL": "memory://",
            "GPUDASH_SECRET_KEY": "of-recorded-databases-" + "k" * 40,
        }

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """`manage.py …` in the background; its log is in the folder."""
        with (self.folder / f"{arguments[0]}.log").open("ab") as log:
            command = [sys.executable, "manage.py", *arguments]
            return subprocess.Popen(command, cwd=self.code, env=self.environment, stdout=log, stderr=log)

    def call(self, *arguments: str, stdin: str = "") -> str:
        """`manage.py …` to its end. Raises CalledProcessError."""
        return self._python("manage.py", *arguments, stdin=stdin)

    def shown(self) -> dict[str, Any]:
        """What `visits` says."""
        found: dict[str, Any] = json.loads(self._python(str(Path(__file__).with_name("visits.py")), USER))
        return found

    def _python(self, *words: str, stdin: str = "") -> str:
        command = [sys.executable, *words]
        done = subprocess.run(
            command, cwd=self.code, env=self.environment, input=stdin, capture_output=True, text=True, timeout=300
        )
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr[-3000:])
        return done.stdout


def checkout(commit: str, folder: Path) -> Path:
    """The tree of a commit, in a folder of its own. Raises CalledProcessError where the history does not have it."""
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", commit], check=True, capture_output=True).stdout
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
    return folder


def main(commit: str, name: str) -> None:
    RECORDED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, postgres() as server:
        code = checkout(commit, Path(scratch, "code"))
        for database in ("postgresql", "sqlite"):
            folder = Path(scratch, database)
            folder.mkdir(mode=0o700)
            file = folder / "gpudash.sqlite3"
            url = server.create("recorded") if database == "postgresql" else f"sqlite:///{file}"
            release = Release(code, folder, url)
            _fill(release)
            shown = {"commit": commit, **release.shown()}
            sql = _postgres_sql(server) if database == "postgresql" else sqlite_sql(file)
            _write(f"{name}.{database}.sql.gz", sql)
            _write(f"{name}.{database}.json.gz", json.dumps(shown, indent=1, sort_keys=True))


def _fill(release: Release) -> None:
    """Run the demo until there is something of everything, and end it while runs are under way."""
    demo = release.start("demo", "--nodes", str(NODES), "--port", str(free_port()))
    try:
        time.sleep(FIRST_S)
        release.call("user", "create", USER, "--role", "admin", "--password-stdin", stdin=f"{PASSWORD}\n")
        release.call("token", "create", USER, "--role", "viewer", "--name", "scrape")
        nodes = [row["name"] for row in release.shown()["rest"]["nodes"]]
        _launch(release, nodes, SUITES)
        time.sleep(RUNS_S)
        taken = {row["node"] for row in release.shown()["rest"]["runs"] if row["suite"] == SUITES[0]}
        spots = [("demo", node, "") for node in sorted(taken)]
        making = f"campaigns.create({SUITES[0]!r}, {spots!r}, name='all', max_parallel=1)"
        release.call("shell", "-c", f"from validations import campaigns; {making}")
        _launch(release, [node for node in nodes if node not in taken], SUITES[1:])
    finally:
        end(demo)


def _launch(release: Release, nodes: list[str], suites: tuple[str, ...]) -> None:
    """What fits is launched; a node that cannot take a suite refuses it."""
    for number, node in enumerate(nodes):
        with suppress(subprocess.CalledProcessError):
            release.call("validate", suites[number % len(suites)], "--node", node)


def _postgres_sql(server: Postgres) -> str:
    return server.as_sql("recorded")


def sqlite_sql(file: Path) -> str:
    """Tables, then rows whose INSERTs name their columns, then indexes."""
    with sqlite3.connect(file) as connection:
        made = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        tables = [name for sort, name, _ in made if sort == "table"]
        lines = [f"{sql};" for sort, _, sql in made if sort == "table"]
        for table in tables:
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            quoted = " || ', ' || ".join(f'quote("{column}")' for column in columns)
            named = ", ".join(f'"{column}"' for column in columns)
            for (values,) in connection.execute(f'SELECT {quoted} FROM "{table}"'):
                lines.append(f'INSERT INTO "{table}" ({named}) VALUES ({values});')
        lines += [f"{sql};" for sort, _, sql in made if sort != "table"]
    connection.close()
    return "\n".join(lines)


def _write(name: str, text: str) -> None:
    (RECORDED / name).write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{name}: {(RECORDED / name).stat().st_size} bytes, {len(text)} of text")


if __name__ == "__main__":
    main(*sys.argv[1:])
