"""Once a second: what the processes use, what waits in the queues, how far the tables are behind, and what REST says of it."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.soak.bed import CLUSTERS, NEAR, QUEUES, Bed
from tests.soak.checks import NEVER
from tests.soak.markers import NAMESPACE, Markers, lag_s
from tests.soak.parts import members
from tests.soak.requests import Asked, Client, Site

Json = dict[str, Any]
EVERY_S = 1.0
MIB = 1 << 20
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
#: connections; of them those that wait for a lock; and the age of the oldest transaction (s).
_SESSION_NAMES = ("connections", "waiting", "oldest_transaction_s")
_SESSIONS = (
    "SELECT count(*), count(*) FILTER (WHERE wait_event_type = 'Lock'), "
    "coalesce(round(max(extract(epoch FROM clock_timestamp() - xact_start)), 1), 0)::float "
    "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_USAGE = (
    "SELECT coalesce(s.cards_measured, 0), extract(epoch FROM clock_timestamp() - s.round_at) FROM inventory_usagesource s "
    f"JOIN inventory_cluster c ON c.id = s.cluster_id WHERE c.name = '{NEAR}'"
)
_NEWEST = "substr({0}, 8)::int"
_TABLES = {
    "pods": ("inventory_pod", "name", ""),
    "allocations": ("inventory_allocation", "pod", "AND ended_at IS NULL"),
}


class Sampler:
    """Runs until `stop`. rows: the samples so far, each also a line of the file. t: seconds since `zero`.

    processes: {"web-1": [{"pid", "resident_mib", "heap_mib", "kiloblocks", "fds", "threads", "cpu_s"}]}, see `inside`;
    soak_cpu_s: what this process has used itself;
    lag_s: {cluster: {table: seconds}}, None where the database was not asked; queues: {name: length};
    usage: {"cards", "age_s"} of the last round of the exporters; None while the database does not answer;
    connections, waiting (for a lock), oldest_transaction_s: of the database; None while it does not answer;
    rest: {cluster: {"state", "age_seconds"}} as of up to a few seconds ago, with its "t".
    """

    def __init__(self, bed: Bed, file: Path, markers: Markers, events: Callable[[], int], zero: float) -> None:
        self.bed, self.markers, self.events, self.zero = bed, markers, events, zero
        self.rows: list[Json] = []
        self.rest: Json = {}
        self._file = file.open("w")
        self._database: psycopg.Connection[Any] | None = None
        self._redis = redis.Redis(
            port=bed.redis.port, socket_timeout=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
        )
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="samples", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()
        self._file.close()

    def _run(self) -> None:
        due, before = time.monotonic(), self.events()
        while not self._stopped.wait(max(0.0, due - time.monotonic())):
            due = max(due + EVERY_S, time.monotonic())
            made = self.events()
            row = self._sample() | {"events": made - before}
            before = made
            self.rows.append(row)
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()

    def _sample(self) -> Json:
        tables, sessions = self._ask_database()
        now = time.monotonic()
        return {
            "t": round(now - self.zero, 2),
            "processes": {
                part.name: [_usage(pid, self.bed.in_use) for pid in members(part.pid)] for part in self.bed.parts
            },
            **sessions,
            "usage": self._usage(),
            "queues": self._queues(),
            "lag_s": {name: self._lag(tables, name, now) for name in CLUSTERS} if tables is not None else None,
            "rest": dict(self.rest),
            "load": os.getloadavg()[0],
            "soak_cpu_s": round(time.process_time(), 1),
        }

    def _lag(self, tables: Mapping[tuple[str, str], int], cluster: str, now: float) -> Json:
        written = dict(self.markers.written)
        return {table: round(lag_s(written, tables.get((cluster, table), 0), now), 2) for table in _TABLES}

    def _ask_database(self) -> tuple[dict[tuple[str, str], int] | None, Json]:
        """(newest marker of each cluster and table, sessions of others); None while the database does not answer."""
        try:
            if self._database is None:
                options = "-c statement_timeout=3000"
                self._database = psycopg.connect(
                    self.bed.database_url, autocommit=True, connect_timeout=2, options=options
                )
            found = {key: number for table in _TABLES for key, number in self._newest(self._database, table)}
            counted = self._database.execute(_SESSIONS).fetchone() or (None, None, None)
            return found, dict(zip(_SESSION_NAMES, counted, strict=True))
        except psycopg.Error:
            if self._database is not None:
                with suppress(psycopg.Error):
                    self._database.close()
            self._database = None
            return None, dict.fromkeys(_SESSION_NAMES)

    @staticmethod
    def _newest(database: psycopg.Connection[Any], table: str) -> list[tuple[tuple[str, str], int]]:
        name, column, more = _TABLES[table]
        query = (
            f"SELECT c.name, max({_NEWEST.format(f't.{column}')}) FROM {name} t JOIN inventory_cluster c ON c.id = t.cluster_id "
            f"WHERE t.namespace = '{NAMESPACE}' {more} GROUP BY c.name"
        )
        return [((cluster, table), number) for cluster, number in database.execute(query).fetchall()]

    def _usage(self) -> Json | None:
        """Of the cluster whose exporters are read: cards measured by the last round, and its age (NEVER: there was none)."""
        if self._database is None:
            return None
        try:
            row = self._database.execute(_USAGE).fetchone()
        except psycopg.Error:
            return None
        return {"cards": row[0], "age_s": NEVER if row[1] is None else round(float(row[1]), 1)} if row else None

    def _queues(self) -> dict[str, int] | None:
        try:
            lengths = {name: int(self._redis.llen(name)) for name in QUEUES if name != "unacked"}
            return lengths | {"unacked": int(self._redis.hlen("unacked"))}
        except redis.RedisError:
            return None


def _usage(pid: int, in_use: Path) -> Json:
    """Of one process; what cannot be read (it is just gone) is 0. Pages of files, which the kernel takes back, do not count."""
    usage: Json = {
        "pid": pid,
        "resident_mib": 0.0,
        "fds": 0,
        "threads": 0,
        "cpu_s": 0.0,
        "heap_mib": 0.0,
        "kiloblocks": 0.0,
    }
    with suppress(OSError, IndexError):
        resident, of_files = Path(f"/proc/{pid}/statm").read_text().split()[1:3]
        usage["resident_mib"] = round((int(resident) - int(of_files)) * _PAGE / MIB, 1)
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        usage["cpu_s"] = (int(fields[11]) + int(fields[12])) / _TICKS
        usage["fds"] = len(os.listdir(f"/proc/{pid}/fd"))
        usage["threads"] = len(os.listdir(f"/proc/{pid}/task"))
    with suppress(OSError, ValueError):
        usage["heap_mib"], usage["kiloblocks"] = map(float, (in_use / str(pid)).read_text().split())
    return usage


class RestWatch:
    """Asks REST each second how the clusters are; the last answer stands in `sampler.rest`."""

    def __init__(self, site: Site, token: str, sampler: Sampler, asked: Callable[[Asked], None]) -> None:
        self.client, self.sampler = Client(site, asked, token), sampler
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rest", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(EVERY_S):
            began = time.monotonic()
            answer = self.client.ask("rest clusters", "/api/v1/clusters")
            if answer is None or answer.status != 200:
                continue
            names = ("state", "age_seconds")
            self.sampler.rest = {
                row["name"]: {name: row[name] for name in names} | {"t": round(began - self.sampler.zero, 2)}
                for row in json.loads(answer.body)["results"]
            }
