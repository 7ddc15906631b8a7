"""A first sync while the cluster changes all the time: seconds until nodes, pods and cards are in sync, beside a quiet one."""

from __future__ import annotations

import threading
import time

import psycopg

from bench import churn
from bench.bed import Bed
from bench.large import Movable
from bench.report import emit, progress
from tests.services import wait_until

RATE, MOST_S = 200, 120
#: With changes it may take so much longer.
TARGET = 2.0


def run(bed: Bed) -> None:
    quiet = _seconds(bed, "quiet")
    progress(f"first sync without changes: {quiet:.1f} s; now with {RATE} changes a second")
    changes = (bed.plane.port("etcd"), Movable(bed.scale), RATE, RATE * MOST_S)
    sending = threading.Thread(target=churn.send, args=changes, daemon=True)
    sending.start()
    churned = _seconds(bed, "churned")
    emit(
        "first-sync-churned",
        quiet_s=quiet,
        churned_s=churned,
        rate=RATE,
        times=churned / quiet,
        target_times=TARGET,
        ok=churned <= TARGET * quiet,
    )
    sending.join()


def _seconds(bed: Bed, name: str) -> float:
    """From the start of `manage.py sync` until all kinds are in sync once."""
    processes = bed.database(name)
    url = processes.environment["GPUDASH_DATABASE_URL"]
    started = time.monotonic()
    processes.manage("sync")
    try:
        wait_until(lambda: synced(url), "all kinds are in sync", 600, 0.2)
        return time.monotonic() - started
    finally:
        processes.stop()


def synced(url: str) -> bool:
    """Whether each kind that there is was listed and each node counted once."""
    missing = "synced_at IS NULL AND state NOT IN ('not-served', 'not-needed')"
    with psycopg.connect(url) as connection:
        row = connection.execute(f"SELECT count(*) FROM inventory_watch WHERE {missing}").fetchone()
    return row == (0,)
