"""Twenty visitors at once, without a pause: pages, their live parts, REST and /healthz of one web process, on a large mirror.

At first the mirror stands still; then it changes ten times a second, as in a busy cluster. Says the latencies by kind of request,
right answers a second, and what the web process took of a core. Needs PostgreSQL; the mirror is made straight in the tables (`rows`).
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import psycopg

from bench.answers import Answers
from bench.report import emit, percentile, progress
from bench.visitors import MIX, Visitor, visit
from tests import services
from tests.processes import ROOT, Processes
from tests.services import free_port, wait_until

VISITORS, WARM_S, SECONDS = 20, 8.0, 30.0
CHANGES_S, REPORT_S = 0.1, 10.0


def run(small: bool, processes: int = 1) -> None:
    nodes = 200 if small else 5000
    with services.scratch("shared") as folder, services.postgres() as server:
        url = server.create("shared")
        # All visitors come from one address here: its limit of requests is not what is measured.
        web = Processes(folder, url, GPUDASH_LOG_LEVEL="WARNING", GPUDASH_REQUESTS_PER_MINUTE_ADDRESS="0")
        web.call("migrate", "--verbosity", "0")
        progress(f"shared: a mirror of {nodes} nodes")
        sessions = _filled(web, nodes)
        with _served(web, processes) as (port, probes, pid):
            for churn in (False, True):
                progress(f"shared: {VISITORS} visitors, {'changes' if churn else 'no changes'}")
                with _beside(_report, url), _beside(_change, url) if churn else nullcontext():
                    _measure(port, probes, pid, sessions, nodes, processes, churn)


def _filled(web: Processes, nodes: int) -> list[str]:
    command = [sys.executable, "-m", "bench.rows", str(nodes), str(VISITORS)]
    done = subprocess.run(command, cwd=ROOT, env=web.environment, check=True, stdout=subprocess.PIPE)
    sessions: list[str] = json.loads(done.stdout)["sessions"]
    return sessions


@contextmanager
def _served(web: Processes, processes: int) -> Iterator[tuple[int, int, int]]:
    """Ports of pages and of probes, and the id of the process."""
    port, probes = free_port(), free_port()
    more = ["--processes", str(processes)] if processes > 1 else []
    process = web.manage("serve", f"--listen=127.0.0.1:{port}", f"--probes=127.0.0.1:{probes}", *more)
    try:
        wait_until(lambda: _answers(port), f"the web process answers\n{web.tail()}")
        yield port, probes, process.pid
    finally:
        web.stop()


@contextmanager
def _beside(work: Callable[[str, threading.Event], None], url: str) -> Iterator[None]:
    """`work` runs meanwhile, until its event is set. Raises what ended it before its time."""
    ended = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work, url, ended)
        try:
            yield
        finally:
            ended.set()
        working.result()


def _report(url: str, ended: threading.Event) -> None:
    """All watches report, as while watchers run. Of a cluster that does not report, no card is free, and pages are short."""
    with psycopg.connect(url, autocommit=True) as connection:
        while True:
            connection.execute(
                "UPDATE inventory_watch SET last_event_at = now(), expires_at = now() + interval '1 minute' "
                "WHERE last_event_at IS NOT NULL"
            )
            if ended.wait(REPORT_S):
                return


def _change(url: str, ended: threading.Event) -> None:
    """A card changes each CHANGES_S, its account with it, and the watch says so, as the reconciler writes them."""
    number = 0
    with psycopg.connect(url) as connection:
        while not ended.wait(CHANGES_S):
            number += 1
            with connection.transaction():
                connection.execute(
                    "UPDATE inventory_watch SET last_event_at = now(), epoch = epoch + 1 WHERE kind IN ('pods', 'cards')"
                )
                at = f"gpu-{number * 7 % 200:05d}"
                change = "allocations_count = allocations_count + 1, changed_at = now()"
                for table in ("inventory_card", "inventory_nodetotals"):
                    connection.execute(f"UPDATE {table} SET {change} WHERE node_name = %s", (at,))


def _measure(port: int, probes: int, pid: int, sessions: list[str], nodes: int, processes: int, churn: bool) -> None:
    before = _cpu_s(pid)
    visitors = visit(port, sessions, nodes, WARM_S, SECONDS, probes=probes)
    share = (_cpu_s(pid) - before) / (WARM_S + SECONDS)
    report(visitors, share, processes=processes, changes=churn)


def report(visitors: Sequence[Visitor], web_cpu_share: float, **common: object) -> None:
    """A line for each kind of request, also for one that was never answered rightly; and one for all."""
    everything = Answers()
    for visitor in visitors:
        everything.add(visitor.answers)
    for name, _, _ in MIX:
        took = [value * 1000 for visitor in visitors for value in visitor.seconds[name]]
        answers = Answers(right=len(took))
        answers.wrong.update({why: n for why, n in everything.wrong.items() if why.startswith(f"{name}: ")})
        figures = {
            "median_ms": statistics.median(took) if took else None,
            "p95_ms": percentile(took, 0.95) if took else None,
            "most_ms": max(took, default=None),
        }
        kind = "healthz" if name == "healthz" else "rest" if name.startswith("rest") else "page"
        emit(f"shared {kind}", answers, **common, name=name, **figures)
    received = sum(visitor.received for visitor in visitors)
    total = {"answers_s": everything.right / SECONDS, "kib_s": received / SECONDS / 1024}
    emit("shared all", everything, **common, **total, web_cpu_share=web_cpu_share)


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


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
