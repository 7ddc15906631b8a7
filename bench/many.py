"""100 clusters of 50 nodes on one host (CLUSTERS=n: others): seconds until all are in sync, what they cost at rest, and under load.

All are the same control plane under 100 names, so each has watchers, connections and rows of its own: a change of it is one of each.
A whole installation: two watch workers, tasks, launch, usage, the schedule and a web process. Under load a pod moves twice a second
(200 changes a second in all), and five visitors ask the web process without a pause.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

from bench import churn
from bench.answers import Answers
from bench.bed import TABLES, Bed
from bench.large import Movable, written
from bench.report import MIB, emit, measure, progress
from bench.visitors import visit
from tests.processes import ROOT, Processes
from tests.services import free_port, wait_until

CLUSTERS = int(os.environ.get("CLUSTERS", "100"))
IDLE_S, SETTLE_S, LOAD_S = 60.0, 30.0, 60.0
#: Changes a second of the one control plane, and visitors.
RATE, VISITORS = 2.0, 5
_TICKS = os.sysconf("SC_CLK_TCK")
_MISSING = (
    "SELECT count(*) FROM inventory_watch WHERE state NOT IN ('not-served', 'not-needed') "
    "AND (synced_at IS NULL OR expires_at IS NULL OR expires_at <= now())"
)


def run(bed: Bed) -> None:
    team = _clusters(bed)
    url, port = team.environment["GPUDASH_DATABASE_URL"], free_port()
    try:
        started = time.monotonic()
        running = _started(team, port)
        seconds = _until_in_sync(url, started)
        spent = sum(_cpu_s(one.pid) for one in running.values())
        progress(f"{CLUSTERS} clusters in sync after {seconds:.1f} s, {spent:.1f} s of CPU")
        answers = _rows(bed, url)
        time.sleep(SETTLE_S)
        idle, each = _idle(running)
        connections = int(_ask(url, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"))
        holds = _ask(url, "SELECT string_agg(holds::text, '+' ORDER BY holds) FROM inventory_worker")
        emit(
            "clusters",
            answers,
            clusters=CLUSTERS,
            nodes_each=bed.scale.nodes,
            in_sync_s=seconds,
            in_sync_cpu_s=spent,
            held=holds,
            idle_cpu_share=idle,
            rss_mib=sum(each.values()),
            rss_mib_of=each,
            connections=connections,
        )
        _under_load(bed, team, running, port)
    finally:
        team.stop()


def _started(team: Processes, port: int) -> dict[str, subprocess.Popen[bytes]]:
    tasks, schedule = team.default_worker_and_schedule()
    usage = team.celery("usage", "worker", "-Q", "usage", "-P", "threads", "-n", "usage@test")
    workers = {"watch-0": team.watch_worker("watch-0"), "watch-1": team.watch_worker("watch-1")}
    web = team.manage("serve", f"--listen=127.0.0.1:{port}")
    return {**workers, "tasks": tasks, "schedule": schedule, "launch": team.launch_worker(), "usage": usage, "web": web}


def _under_load(bed: Bed, team: Processes, running: dict[str, subprocess.Popen[bytes]], port: int) -> None:
    """The most that all take together, and how long after the last change it is in the tables of every cluster."""
    progress(f"{LOAD_S:.0f} s of load")
    url, pods = team.environment["GPUDASH_DATABASE_URL"], Movable(bed.scale)
    command = [sys.executable, "-m", "bench.rows", "0", str(VISITORS)]
    sessions = json.loads(measure(command, team.environment, str(ROOT)).output)["sessions"]
    sending = churn.Sending(bed.plane.port("etcd"), pods, RATE, int(RATE * LOAD_S * 10))
    most: dict[str, int] = {}
    with ThreadPoolExecutor(1) as pool:
        visiting = pool.submit(visit, port, sessions, bed.scale.nodes, 5.0, LOAD_S, of_nodes=False)
        while not visiting.done():
            time.sleep(1.0)
            now = {name: _rss(one.pid) // MIB for name, one in running.items()}
            most = max(most, now, key=lambda each: sum(each.values()))
    rate = sending.stop()
    uid, card = sending.last
    began = time.monotonic()
    there = f"SELECT count(*) FROM inventory_allocation WHERE pod_uid = '{uid}' AND card_key = '{card}' AND ended_at IS NULL"
    wait_until(lambda: int(_ask(url, there)) == CLUSTERS, "the last change is in every cluster", 120, 0.1)
    answers = Answers()
    for visitor in visiting.result():
        answers.add(visitor.answers)
    emit(
        "clusters under load", answers, rss_mib=sum(most.values()), rss_mib_of=most, behind_s=time.monotonic() - began,
        changes_s=rate * CLUSTERS,
    )  # fmt: skip


def _rows(bed: Bed, url: str) -> Answers:
    """Each cluster has a row of each object that there is."""
    answers, wanted = Answers(), written(bed.scale)
    for table in TABLES:
        now = {"card": "WHERE removed_at IS NULL", "allocation": "WHERE ended_at IS NULL"}.get(table, "")
        with psycopg.connect(url) as connection:
            query = f"SELECT cluster_id, count(*) FROM inventory_{table} {now} GROUP BY cluster_id"
            found = dict(connection.execute(query).fetchall())
        answers.missing(f"row of {table} in a cluster", CLUSTERS - len(found))
        for count in found.values():
            answers.expect(f"rows of {table}", count, wanted[table])
    return answers


def _clusters(bed: Bed) -> Processes:
    """A database with the cluster's row, and 99 more like it."""
    team = bed.database("many")
    team.environment["GPUDASH_REQUESTS_PER_MINUTE_ADDRESS"] = "0"  # all visitors come from one address
    with psycopg.connect(team.environment["GPUDASH_DATABASE_URL"], autocommit=True) as connection:
        connection.execute(
            "INSERT INTO inventory_cluster (name, kubeconfig, context, launcher_kubeconfig, server, permissions) "
            "SELECT 'cluster-' || n, kubeconfig, context, launcher_kubeconfig, server, permissions "
            "FROM inventory_cluster, generate_series(2, %s) n",
            [CLUSTERS],
        )
        connection.execute(
            "INSERT INTO inventory_watch (cluster_id, kind, holder, token, resource_version, made_by, state, reason, "
            "objects_seen, objects_stored, relists) "
            "SELECT c.id, k, '', 0, '', '', 'waiting', '', 0, 0, 0 FROM inventory_cluster c, "
            "unnest(ARRAY['nodes', 'pods', 'daemonsets', 'configmaps', 'resourceslices', 'resourceclaims', "
            "'devicetaintrules', 'devices', 'cards']) k WHERE NOT EXISTS (SELECT 1 FROM inventory_watch w WHERE w.cluster_id = c.id)"
        )
    return team


def _until_in_sync(url: str, started: float) -> float:
    wait_until(lambda: _ask(url, _MISSING) == "0", "all clusters are in sync", 600, 0.5)
    return time.monotonic() - started


def _idle(running: dict[str, subprocess.Popen[bytes]]) -> tuple[float, dict[str, int]]:
    """Share of a core that all take together over a minute, and the resident MiB of each."""
    before, began = sum(_cpu_s(one.pid) for one in running.values()), time.monotonic()
    time.sleep(IDLE_S)
    share = (sum(_cpu_s(one.pid) for one in running.values()) - before) / (time.monotonic() - began)
    return share, {name: _rss(one.pid) // MIB for name, one in running.items()}


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _rss(pid: int) -> int:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def _ask(url: str, statement: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute(statement).fetchone()
    return str(row[0]) if row else ""
