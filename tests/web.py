"""The web process of a team: `manage.py serve` with production settings, asked over a socket in any words."""

from __future__ import annotations

import shutil
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.processes import Processes
from tests.services import free_port, wait_until

SECRET_KEY = "for-tests-only-" + "k" * 50
HOST = "gpudash.example.com"
PRODUCTION = {
    "GPUDASH_ENV": "production",
    "GPUDASH_SECRET_KEY": SECRET_KEY,
    "GPUDASH_ALLOWED_HOSTS": HOST,
    "GPUDASH_TLS": "false",
}


#: As behind a proxy on the same host (docs/team.md).
BEHIND_PROXY = ("--trusted-proxy=127.0.0.1", "--trusted-proxy-headers=x-forwarded-proto x-forwarded-for")
TLS = "X-Forwarded-Proto: https"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str


class Web:
    """One web process. `log` is all that it and its server have written."""

    def __init__(self, processes: Processes, port: int) -> None:
        self.processes, self.port = processes, port
        #: Where probes are answered, if the test has named it.
        self.probes = 0

    @property
    def log(self) -> str:
        return self.processes.log("web").read_text()

    def ask(
        self,
        target: str,
        *headers: str,
        method: str = "GET",
        body: bytes = b"",
        host: str | None = HOST,
        source: str = "127.0.0.1",
    ) -> Answer:
        """host None: without the header, as HTTP/1.0 allows. source: the address that is asked from, one of the loopback."""
        lines = [f"{method} {target} HTTP/1.{0 if host is None else 1}", "Connection: close", *headers]
        lines += [] if host is None else [f"Host: {host}"]
        lines += [f"Content-Length: {len(body)}"] if body else []
        return self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body, source)

    def send(self, request: bytes, source: str = "127.0.0.1") -> Answer:
        """The answer to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), 60, source_address=(source, 0)) as connection:
            connection.sendall(request)
            data = b"".join(iter(lambda: connection.recv(65536), b""))
        return _read(data)

    def _answers(self) -> bool:
        try:
            return self.ask("/healthz").status == 200
        except OSError:
            return False


def _read(data: bytes) -> Answer:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Answer(int(first.split()[1]), headers, body.decode(errors="replace"))


@cache
def _static_files() -> TemporaryDirectory[str]:
    """Collected once for all tests of a process: production serves nothing else."""
    made = TemporaryDirectory(prefix="gpudash-static-")
    with TemporaryDirectory() as scratch:
        settings = {**PRODUCTION, "GPUDASH_STATIC_ROOT": made.name}
        Processes(Path(scratch), f"sqlite:///{scratch}/none", **settings).call("collectstatic", "--noinput")
    return made


def migrated(folder: Path, database_url: str, **settings: str) -> str:
    """The database, with all tables."""
    Processes(folder, database_url, **PRODUCTION, **settings).call("migrate", "--noinput")
    return database_url


@contextmanager
def web(folder: Path, database: Path | str, *options: str, **settings: str) -> Iterator[Web]:
    """A web process in front of a database with all tables. options: of `manage.py serve`.

    database: the URL of one that is used as it is, or the SQLite file that a copy is made of, `gpudash.sqlite3` in the folder.
    """
    chosen = {**PRODUCTION, "GPUDASH_STATIC_ROOT": _static_files().name, **settings}
    if isinstance(database, Path):
        copy = shutil.copy(database, folder / "gpudash.sqlite3")
        database = f"sqlite:///{copy}"
    processes = Processes(folder, database, **chosen)
    port = free_port()
    command = [sys.executable, "manage.py", "serve", f"--listen=127.0.0.1:{port}", "--threads=8", *options]
    try:
        processes.start("web", command, {})
        made = Web(processes, port)
        wait_until(made._answers, f"the web process answers\n{processes.tail()}")
        yield made
    finally:
        processes.stop()
