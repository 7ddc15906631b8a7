"""Twenty visitors at once, without a pause: pages, their live parts, REST and /healthz of one web process, on a large mirror.

At first the mirror stands still; then it changes ten times a second, as in a busy cluster. Says the latencies by kind of request,
answers a second, and what the web process took of a core. Needs PostgreSQL; the mirror is made straight in the tables (`rows`).
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bench.report import emit, percentile, progress
from bench.visitors import Visitor, visit
from tests import services
from tests.processes import ROOT, Processes
from tests.services import free_port, wait_until

VISITORS, WARM_S, SECONDS = 20, 8.0, 30.0
CHANGES_S = 0.1
#: Milliseconds below which 95 of 100 answers come.
TARGETS_MS = {"overview": 400.0, "cards": 400.0, "nodes": 400.0, "allocations": 400.0, "rest": 150.0, "healthz": 50.0}


def run(small: bool, processes: int = 1) -> None:
    nodes = 200 if small else 5000
    with services.scratch("shared") as folder, services.postgres() as server:
        url = server.create("shared")
        web = Processes(folder, url, GPUDASH_LOG_LEVEL="WARNING")
        web.call("migrate", "--verbosity", "0")
        progress(f"shared: a mirror of {nodes} nodes")
        sessions = _filled(web, nodes)
        with _served(web, processes) as (port, pid):
            for churn in (False, True):
                progress(f"shared: {VISITORS} visitors, {'changes' if churn else 'no changes'}")
                with _changes(url, churn):
                    _measure(port, pid, sessions, nodes, processes, churn)


def _filled(web: Processes, nodes: int) -> list[str]:
    command = [sys.executable, "-m", "bench.rows", str(nodes), str(VISITORS)]
    done = subprocess.run(command, cwd=ROOT, env=web.environment, check=True, stdout=subprocess.PIPE)
    sessions: list[str] = json.loads(done.stdout)["sessions"]
    return sessions


@contextmanager
def _served(web: Processes, processes: int) -> Iterator[tuple[int, int]]:
    port = free_port()
    more = ["--processes", str(processes)] if processes > 1 else []
    process = web.manage("serve", f"--listen=127.0.0.1:{port}", *more)
    try:
        wait_until(lambda: _answers(port), f"the web process answers\n{web.tail()}")
        yield port, process.pid
    finally:
        web.stop()


@contextmanager
def _changes(url: str, churn: bool) -> Iterator[None]:
    """Meanwhile a card changes each CHANGES_S, its account with it, and the watch says so, as the reconciler writes them."""
    ended = threading.Event()
    thread = threading.Thread(target=_change, args=(url, ended))
    if churn:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if churn:
            thread.join()


def _change(url: str, ended: threading.Event) -> None:
    number = 0
    with psycopg.connect(url) as connection:
        while not ended.wait(CHANGES_S):
            number += 1
            with connection.transaction():
                connection.execute(
                    "UPDATE inventory_watch SET last_event_at = now(), epoch = epoch + 1 WHERE kind IN ('pods', 'cards')"
                )
                at = f"gpu-{number * 7 % 200:05d}"
                change = "holders_count = holders_count + 1, changed_at = now()"
                for table in ("inventory_card", "inventory_nodetotals"):
                    connection.execute(f"UPDATE {table} SET {change} WHERE node_name = %s", (at,))


def _measure(port: int, pid: int, sessions: list[str], nodes: int, processes: int, churn: bool) -> None:
    before = _cpu_s(pid)
    visitors = visit(port, sessions, nodes, WARM_S, SECONDS)
    share = (_cpu_s(pid) - before) / (WARM_S + SECONDS)
    common = {"processes": processes, "changes": churn}
    for name in sorted({name for visitor in visitors for name in visitor.seconds}):
        took = [value * 1000 for visitor in visitors for value in visitor.seconds[name]]
        target = _target(name)
        p95 = percentile(took, 0.95)
        promised = {} if target is None else {"target_ms": target, "ok": p95 <= target}
        figures = {"median_ms": statistics.median(took), "p95_ms": p95, "most_ms": max(took)}
        emit("shared", **common, name=name, answers=len(took), **figures, **promised)
    count = sum(len(took) for visitor in visitors for took in visitor.seconds.values())
    received = sum(visitor.received for visitor in visitors)
    total = {"answers_s": count / SECONDS, "kib_s": received / SECONDS / 1024, "web_cpu_share": share}
    emit("shared", **common, name="all", **total, refused=_bad(visitors))


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _target(name: str) -> float | None:
    return TARGETS_MS.get("rest" if name.startswith("rest") else name)


def _bad(visitors: list[Visitor]) -> dict[str, int]:
    found: dict[str, int] = {}
    for visitor in visitors:
        for what, count in visitor.bad.items():
            found[what] = found.get(what, 0) + count
    return found


def _cpu_s(pid: int) -> float:
    """Seconds of processor time of a process and its children."""
    every = {int(path.name): path for path in Path("/proc").iterdir() if path.name.isdigit()}
    ticks = 0
    for path in every.values():
        try:
            fields = (path / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(path.name) == pid or int(fields[1]) == pid:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
