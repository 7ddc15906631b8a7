"""100 clusters of 50 nodes on one host (CLUSTERS=n: others): seconds until all are in sync, then what they cost at rest.

All are the same control plane under 100 names, so each has watchers, connections and rows of its own. Two watch workers share them.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import psycopg

from bench.bed import Bed
from bench.report import MIB, emit, progress
from tests.processes import Processes
from tests.services import wait_until

CLUSTERS = int(os.environ.get("CLUSTERS", "100"))
IDLE_S, SETTLE_S = 60.0, 30.0
SYNC_TARGET_S, CPU_TARGET, RSS_TARGET, CONNECTIONS_TARGET = 60.0, 0.30, 1 << 30, 100
_TICKS = os.sysconf("SC_CLK_TCK")
_MISSING = (
    "SELECT count(*) FROM inventory_watch WHERE state NOT IN ('not-served', 'not-needed') "
    "AND (synced_at IS NULL OR expires_at IS NULL OR expires_at <= now())"
)


def run(bed: Bed) -> None:
    team = _clusters(bed)
    url = team.environment["GPUDASH_DATABASE_URL"]
    try:
        started = time.monotonic()
        workers = [team.watch_worker("watch-0"), team.watch_worker("watch-1")]
        others = team.default_worker_and_schedule()
        seconds = _until_in_sync(url, started)
        spent = sum(_cpu_s(one.pid) for one in (*workers, *others))
        progress(f"{CLUSTERS} clusters in sync after {seconds:.1f} s, {spent:.1f} s of CPU")
        time.sleep(SETTLE_S)
        idle = _idle([*workers, *others])
        connections = int(_ask(url, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"))
        holds = _ask(url, "SELECT string_agg(holds::text, '+' ORDER BY holds) FROM inventory_worker")
    finally:
        team.stop()
    emit(
        "clusters",
        clusters=CLUSTERS,
        nodes_each=bed.scale.nodes,
        in_sync_s=seconds,
        in_sync_target_s=SYNC_TARGET_S,
        in_sync_cpu_s=spent,
        held=holds,
        idle_cpu_share=idle[0],
        idle_cpu_target=CPU_TARGET,
        rss_mib=idle[1] / MIB,
        rss_target_mib=RSS_TARGET / MIB,
        connections=connections,
        connections_target=CONNECTIONS_TARGET,
        ok=seconds <= SYNC_TARGET_S
        and idle[0] <= CPU_TARGET
        and idle[1] <= RSS_TARGET
        and connections <= CONNECTIONS_TARGET,
    )


def _clusters(bed: Bed) -> Processes:
    """A database with the cluster's row, and 99 more like it."""
    team = bed.database("many")
    with psycopg.connect(team.environment["GPUDASH_DATABASE_URL"], autocommit=True) as connection:
        connection.execute(
            "INSERT INTO inventory_cluster (name, kubeconfig, context, launcher_kubeconfig, server, permissions) "
            "SELECT 'cluster-' || n, kubeconfig, context, launcher_kubeconfig, server, permissions "
            "FROM inventory_cluster, generate_series(2, %s) n",
            [CLUSTERS],
        )
        connection.execute(
            "INSERT INTO inventory_watch (cluster_id, kind, holder, token, resource_version, made_by, state, reason, "
            "objects_seen, objects_kept, relists) "
            "SELECT c.id, k, '', 0, '', '', 'waiting', '', 0, 0, 0 FROM inventory_cluster c, "
            "unnest(ARRAY['nodes', 'pods', 'daemonsets', 'configmaps', 'resourceslices', 'resourceclaims', "
            "'devicetaintrules', 'devices', 'cards']) k WHERE NOT EXISTS (SELECT 1 FROM inventory_watch w WHERE w.cluster_id = c.id)"
        )
    return team


def _until_in_sync(url: str, started: float) -> float:
    wait_until(lambda: _ask(url, _MISSING) == "0", "all clusters are in sync", 600, 0.5)
    return time.monotonic() - started


def _idle(processes: list[subprocess.Popen[bytes]]) -> tuple[float, int]:
    """Share of a core that all take together over a minute, and the sum of their resident bytes."""
    before, began = sum(_cpu_s(one.pid) for one in processes), time.monotonic()
    time.sleep(IDLE_S)
    share = (sum(_cpu_s(one.pid) for one in processes) - before) / (time.monotonic() - began)
    return share, sum(_rss(one.pid) for one in processes)


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
