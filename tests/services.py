"""Throw-away PostgreSQL and Redis on the loopback, for the tests and the benchmarks that need real ones.

Both live in a temporary folder and end with it. Nothing here knows gpudash: what comes out is a URL. Where the binaries are
missing, `Missing` says which; `or_skip` makes that a skip of the test, and a failure in CI, which installs them.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

READY_S = 30.0
#: PostgreSQL refuses to run as root: it then runs as this user, which its packages make.
POSTGRES_USER = "postgres"
#: A database that is thrown away needs no durability; the rest is what a small server of a team would have.
POSTGRES_OPTIONS = {
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "127.0.0.1",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "max_wal_size": "4GB",
    "jit": "off",
}


class Missing(Exception):
    """A binary that is needed is not installed. The text names it and what installs it."""


def or_skip(missing: Missing) -> None:
    """Skip the test with the reason; fail in CI, where nothing may be skipped for this."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{missing} (CI must have it)", pytrace=False)
    pytest.skip(str(missing))


def free_port() -> int:
    """A port of the loopback that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_until(ready: Callable[[], bool], what: str, patience_s: float = READY_S, every_s: float = 0.05) -> float:
    """Ask until the answer is yes; returns the seconds that it took. Raises AssertionError when patience ends."""
    started = time.monotonic()
    while not ready():
        if time.monotonic() - started > patience_s:
            raise AssertionError(f"not in {patience_s:.0f} s: {what}")
        time.sleep(every_s)
    return time.monotonic() - started


def end(process: subprocess.Popen[bytes], patience_s: float = 15.0) -> None:
    """SIGTERM, then SIGKILL for one that does not go. A stopped process is continued first, or it could not go."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGCONT)
    process.terminate()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(5)


class Postgres:
    """One server with one superuser and any number of databases."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self.port = free_port()
        self._bin = _postgres_binaries()
        self._as = _as_postgres()

    def url(self, database: str) -> str:
        """As GPUDASH_DATABASE_URL wants it."""
        return f"postgresql://{POSTGRES_USER}@127.0.0.1:{self.port}/{database}"

    def initialise(self) -> None:
        """Make the data folder."""
        if _root():
            shutil.chown(self.folder, POSTGRES_USER, POSTGRES_USER)
        options = ("-U", POSTGRES_USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
        self._run("initdb", "-D", str(self.data), *options)

    def start(self) -> None:
        """Raises CalledProcessError when it does not start; its log is in the folder."""
        options = " ".join(f"-c {name}={value}" for name, value in POSTGRES_OPTIONS.items())
        options += f" -p {self.port} -k {self.folder}"
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self.folder / "log"), "-w", "-o", options, "start")

    def stop(self) -> None:
        """As an administrator would in a hurry: open connections are cut."""
        self._run("pg_ctl", "-D", str(self.data), "-m", "fast", "-w", "stop")

    def create(self, database: str, template: str = "template1") -> str:
        """Make an empty database, or a copy of another that nobody uses; returns its URL."""
        command = psycopg.sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        names = (psycopg.sql.Identifier(name) for name in (database, template))
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(command.format(*names))
        return self.url(database)

    def dump(self, database: str, file: Path) -> None:
        """A backup, as docs/team.md makes one."""
        self._client("pg_dump", "-Fc", "-f", str(file), database)

    def restore(self, database: str, file: Path, *options: str) -> None:
        """Put a backup back over what is there. Raises CalledProcessError."""
        self._client("pg_restore", "--clean", "--if-exists", "-d", database, *options, str(file))

    def as_sql(self, database: str) -> str:
        """Tables and rows as text; every INSERT names its columns."""
        options = ("--column-inserts", "--no-owner", "--no-privileges")
        return self._client("pg_dump", *options, database, stdout=subprocess.PIPE)

    def run_sql(self, database: str, file: Path) -> None:
        """What `as_sql` has made, into an empty database. Raises CalledProcessError at the first statement that fails."""
        options = ("--quiet", "--single-transaction", "-v", "ON_ERROR_STOP=1", "-o", os.devnull)
        self._client("psql", *options, "-f", str(file), database)

    def _client(self, program: str, *arguments: str, stdout: int | None = None) -> str:
        where = ("-h", "127.0.0.1", "-p", str(self.port), "-U", POSTGRES_USER)
        command = [str(self._bin / program), *where, *arguments]
        return subprocess.run(command, check=True, timeout=READY_S * 4, stdout=stdout, text=True).stdout or ""

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as, str(self._bin / program), *arguments]
        subprocess.run(command, check=True, cwd=self.folder, stdout=subprocess.DEVNULL, timeout=READY_S * 2)


def _root() -> bool:
    return os.geteuid() == 0


def _as_postgres() -> list[str]:
    """How a command begins that root must not run."""
    return ["setpriv", f"--reuid={POSTGRES_USER}", f"--regid={POSTGRES_USER}", "--clear-groups"] if _root() else []


def _postgres_binaries() -> Path:
    """The newest server's folder. Raises Missing."""
    beside = shutil.which("pg_ctl")
    found = [Path(beside).resolve().parent] if beside else []
    found += sorted((path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")), key=_version)
    if not found:
        raise Missing("no PostgreSQL server here (pg_ctl); Debian: apt-get install postgresql")
    if _root() and (not shutil.which("setpriv") or not _has_user(POSTGRES_USER)):
        raise Missing(f"PostgreSQL does not run as root: the user {POSTGRES_USER} and setpriv (util-linux) are needed")
    return found[-1]


def _version(path: Path) -> int:
    return int(path.parent.name) if path.parent.name.isdigit() else 0


def _has_user(name: str) -> bool:
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """A folder that is gone afterwards, and that another user may enter."""
    folder = Path(tempfile.mkdtemp(prefix=f"gpudash-{name}-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A running server. Raises Missing."""
    with scratch("postgres") as folder:
        server = Postgres(folder)
        server.initialise()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def pgbouncer(server: Postgres, mode: str, size: int, query_wait_timeout: int = 120) -> Iterator[Callable[[str], str]]:
    """A running pgbouncer before the server: database → its URL. Raises Missing.

    mode: "transaction" or "session". size: connections that it opens to each database at most. query_wait_timeout: seconds.
    """
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        raise Missing("no pgbouncer here; Debian: apt-get install pgbouncer")
    with scratch("pgbouncer") as folder:
        port, settings = free_port(), folder / "pgbouncer.ini"
        settings.write_text(
            f"[databases]\n* = host=127.0.0.1 port={server.port} user={POSTGRES_USER}\n[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
            f"pool_mode = {mode}\ndefault_pool_size = {size}\nmax_client_conn = 500\n"
            f"query_wait_timeout = {query_wait_timeout}\nlogfile = {folder / 'log'}\n"
        )
        if _root():
            for one in (folder, settings):
                shutil.chown(one, POSTGRES_USER, POSTGRES_USER)
        process = subprocess.Popen([*_as_postgres(), program, "-q", str(settings)], stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: _listens(port), "pgbouncer listens")
            yield lambda database: f"postgresql://{POSTGRES_USER}@127.0.0.1:{port}/{database}"
        finally:
            end(process)


@contextmanager
def redis() -> Iterator[str]:
    """A running server, as the URL of a broker. Raises Missing."""
    program = shutil.which("redis-server")
    if program is None:
        raise Missing("no Redis here (redis-server); Debian: apt-get install redis-server")
    port = free_port()
    with scratch("redis") as folder:
        options = ("--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder))
        process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: _answers(port), "Redis answers")
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            end(process)


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False
