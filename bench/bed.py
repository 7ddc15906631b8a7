"""The test bed of the large benchmarks: a real control plane that is filled before it starts, and databases beside it."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg

from bench.large import Scale, objects
from bench.report import Measured, measure, note, progress
from kube.client import Client
from tests import services
from tests.controlplane import controlplane, loader
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.processes import ROOT, Processes
from tests.services import Postgres

CLUSTER = "large"
TABLES = ("node", "card", "pod", "allocation")
#: The API server reads all objects before it is ready: 40 s for 150,000 pods on two idle cores.
START_S = 600.0


class Bed:
    """A running control plane, a database server, and what has been made of them so far."""

    def __init__(self, scale: Scale, folder: Path, plane: ControlPlane, server: Postgres, broker: str) -> None:
        self.scale, self.folder, self.plane, self.server, self.broker = scale, folder, plane, server, broker
        self._synced: Processes | None = None

    def database(self, name: str) -> Processes:
        """An empty PostgreSQL database (or, for the name "sqlite", a file) with the tables and the cluster's row."""
        folder = self.folder / name
        folder.mkdir()
        url = f"sqlite:///{folder / 'db.sqlite3'}" if name == "sqlite" else self.server.create(name)
        made = Processes(folder, url, self.broker, GPUDASH_LOG_LEVEL="WARNING")
        made.call("migrate", "--verbosity", "0")
        made.call("cluster", "add", CLUSTER, "--kubeconfig", str(self.plane.kubeconfig))
        return made

    def sync_once(self, processes: Processes) -> Measured:
        """`manage.py sync --once`: a full list, written."""
        command = [sys.executable, "manage.py", "sync", "--once"]
        return measure(command, processes.environment, str(ROOT))

    def stored_bytes(self, processes: Processes) -> int:
        """What the database of these processes takes on disk, with its indexes."""
        url = processes.environment["GPUDASH_DATABASE_URL"]
        if url.startswith("sqlite"):
            return sum(file.stat().st_size for file in processes.folder.glob("db.sqlite3*"))
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return int(row[0]) if row else 0

    def counts(self, processes: Processes) -> dict[str, int]:
        """Rows by table (those of `large.written`), as pages show them: what is gone or ended is not counted."""
        now = {"card": "removed_at IS NULL", "allocation": "ended_at IS NULL"}
        asked = {table: f"SELECT count(*) FROM inventory_{table} WHERE {now.get(table, '1 = 1')}" for table in TABLES}
        url = processes.environment["GPUDASH_DATABASE_URL"]
        if url.startswith("sqlite"):
            with closing(sqlite3.connect(processes.folder / "db.sqlite3")) as file:
                return {table: int(file.execute(query).fetchone()[0]) for table, query in asked.items()}
        with psycopg.connect(url) as connection:
            return {table: int((connection.execute(query).fetchone() or (-1,))[0]) for table, query in asked.items()}

    def kubectl(self) -> Measured:
        """`kubectl get pods -A -o json > /dev/null`"""
        command = [str(controlplane.cache() / "kubectl"), "--kubeconfig", str(self.plane.kubeconfig)]
        return measure(
            [*command, "get", "pods", "-A", "-o", "json"], {"HOME": str(self.folder)}, str(ROOT), "/dev/null"
        )

    def raw_list(self) -> float:
        """Seconds of one list of all pods, whose bytes are read and thrown away."""
        client = Client(str(self.plane.kubeconfig))
        started = time.perf_counter()
        with client.stream("/api/v1/pods", {}, START_S) as answer:
            for _ in answer.chunks():
                pass
        client.close()
        return time.perf_counter() - started

    def synced(self) -> Processes:
        """A PostgreSQL database in sync with the cluster; made at the first call."""
        if self._synced is None:
            self._synced = self.database("synced")
            progress("first sync into PostgreSQL")
            self.sync_once(self._synced)
        return self._synced

    def remember_synced(self, processes: Processes) -> None:
        """Another benchmark has brought this database in sync."""
        self._synced = processes


@contextmanager
def bed(scale: Scale) -> Iterator[Bed]:
    """All processes and folders are gone afterwards."""
    with services.scratch("bench") as folder, services.postgres() as server, services.redis() as broker:
        plane = ControlPlane(folder / "plane", START_S)
        try:
            _fill(plane, scale)
            yield Bed(scale, folder, plane, server, broker)
        finally:
            plane.down()


def _fill(plane: ControlPlane, scale: Scale) -> None:
    progress(f"filling etcd: {scale.nodes} nodes, {scale.cards} cards")
    started = time.perf_counter()
    plane.up(("etcd",))
    written = loader.write(plane.port("etcd"), objects(scale))
    filled = time.perf_counter()
    progress(f"{written} objects in {filled - started:.0f} s; starting the API server")
    plane.up(("etcd", "apiserver"))
    _namespaces(plane)
    note("bed", objects=written, fill_s=filled - started, start_s=time.perf_counter() - filled)


def _namespaces(plane: ControlPlane) -> None:
    admin = Admin(plane.kubeconfig)
    for name in ("kube-system", *(f"team-{number}" for number in range(20))):
        admin.ensure_namespace(name)
