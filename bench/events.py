"""From etcd to the committed row, at 1,000 changes a second for a minute: the pod's row and its allocation's."""

from __future__ import annotations

import os
import statistics
import time

import psycopg

from bench import churn
from bench.bed import Bed
from bench.large import Movable
from bench.report import MIB, emit, percentile, progress
from tests.processes import peak_rss
from tests.services import wait_until

#: Changes a second; the target is that of 1,000. RATE=n: another one.
RATE, SECONDS = int(os.environ.get("RATE", "1000")), 60
#: `churned` may have moved the pods by one card.
FIRST = 2
TARGET_S, PEAK = 0.5, 200 * MIB


def run(bed: Bed) -> None:
    synced = bed.synced()
    bed.sync_once(synced)  # what other benchmarks have changed since
    url = synced.environment["GPUDASH_DATABASE_URL"]
    watcher = synced.manage("sync", name="events")
    try:
        wait_until(lambda: watching(url), "the watchers are in sync", 120)
        listener = churn.Listener(url)
        progress(f"events: {RATE} changes a second for {SECONDS} s")
        stored = churn.send(bed.plane.port("etcd"), Movable(bed.scale), RATE, RATE * SECONDS, FIRST)
        took = max(stored.values()) - min(stored.values())
        _wait(listener, stored)
        listener.close()
        peak = peak_rss(watcher.pid)
    finally:
        synced.stop()
    for table, committed in listener.committed.items():
        _report(table, stored, committed, len(stored) / took, peak)


def watching(url: str) -> bool:
    """Whether every lease is held, every stream open, and no account waits to be made."""
    with psycopg.connect(url) as connection:
        held = connection.execute("SELECT count(*) FROM inventory_watch WHERE holder <> ''").fetchone()
        streams = connection.execute(
            "SELECT count(*) FROM inventory_watch WHERE state = 'watching' AND kind <> 'cards'"
        ).fetchone()
        left = connection.execute("SELECT count(*) FROM inventory_dirtynode").fetchone()
    return (held, streams, left) == ((4,), (3,), (0,))


def _wait(listener: churn.Listener, stored: dict[churn.Change, float], patience_s: float = 60.0) -> None:
    """Until each change is in each table, or patience ends: what is missing is reported."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline and any(stored.keys() - seen.keys() for seen in listener.committed.values()):
        time.sleep(0.1)


def _report(
    table: str, stored: dict[churn.Change, float], committed: dict[churn.Change, float], rate: float, peak: int
) -> None:
    missing = sum(1 for change in stored if change not in committed)
    late = [max(0.0, committed[change] - moment) for change, moment in stored.items() if change in committed]
    p99 = percentile(late, 0.99) if late else None
    emit(
        "events",
        row=table.removeprefix("inventory_"),
        changes=len(stored),
        missing=missing,
        rate_per_s=rate,
        p50_s=statistics.median(late) if late else None,
        p95_s=percentile(late, 0.95) if late else None,
        p99_s=p99,
        max_s=max(late, default=None),
        watcher_peak_mib=peak / MIB,
        target_p99_s=TARGET_S,
        target_peak_mib=PEAK // MIB,
        ok=not missing and p99 is not None and p99 <= TARGET_S and peak <= PEAK,
    )
