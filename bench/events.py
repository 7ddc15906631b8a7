"""From etcd to the committed row, at 500 changes a second for a minute: the pod's row and its allocation's."""

from __future__ import annotations

import os
import statistics
import time

import psycopg

from bench import churn
from bench.answers import Answers
from bench.bed import Bed
from bench.first_sync import ALWAYS_READ
from bench.large import CARDS, Movable
from bench.report import MIB, emit, percentile, progress
from tests.processes import peak_rss
from tests.services import wait_until

#: Changes a second; what is promised is promised of 500. RATE=n: another one.
RATE, SECONDS = int(os.environ.get("RATE", "500")), 60
#: `churned` may have moved the pods by one card.
FIRST = 2
CROSSED_S = 0.1


def run(bed: Bed) -> None:
    synced = bed.synced()
    bed.sync_once(synced)  # what other benchmarks have changed since
    url = synced.environment["GPUDASH_DATABASE_URL"]
    watcher = synced.manage("sync", name="events")
    try:
        wait_until(lambda: watching(url), "the watchers are in sync", 120)
        listener = churn.Listener(url)
        pods = Movable(bed.scale)
        # Never to a card twice, nor back to its first one: of two equal changes nobody could say which is committed.
        count = min(RATE * SECONDS, len(pods) * (CARDS - FIRST))
        progress(f"events: {count} changes, {RATE} a second")
        stored = churn.send(bed.plane.port("etcd"), pods, RATE, count, FIRST)
        took = max(stored.values()) - min(stored.values())
        _wait(listener, stored)
        listener.close()
        peak = peak_rss(watcher.pid)
    finally:
        synced.stop()
    for table, committed in listener.committed.items():
        _report(table, stored, committed, len(stored) / took, peak)


def watching(url: str) -> bool:
    """Whether each kind that there is is held and streams (cards are made of the others), and no node waits to be reconciled."""
    resting = "state IN ('not-served', 'not-needed')"
    with psycopg.connect(url) as connection:
        kinds = connection.execute(f"SELECT kind, state, holder FROM inventory_watch WHERE NOT {resting}").fetchall()
        left = connection.execute("SELECT count(*) FROM inventory_dirtynode").fetchone()
    in_order = all(holder and (kind == "cards" or state == "watching") for kind, state, holder in kinds)
    return in_order and {kind for kind, _, _ in kinds} >= ALWAYS_READ and left == (0,)


def _wait(listener: churn.Listener, stored: dict[churn.Change, float], patience_s: float = 60.0) -> None:
    """Until each change is in each table, or patience ends: what is missing is reported."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline and any(stored.keys() - seen.keys() for seen in listener.committed.values()):
        time.sleep(0.1)


def _report(
    table: str, stored: dict[churn.Change, float], committed: dict[churn.Change, float], rate: float, peak: int
) -> None:
    seen = [committed[change] - moment for change, moment in stored.items() if change in committed]
    # The answer of etcd and the notification cross each other by milliseconds; more is the commit of another change.
    late = [max(0.0, seconds) for seconds in seen if seconds > -CROSSED_S]
    answers = Answers(right=len(late))
    answers.missing("row of a change", len(stored) - len(seen))
    answers.missing("order: a row was committed before its change", len(seen) - len(late))
    emit(
        f"events {table.removeprefix('inventory_')}",
        answers,
        changes=len(stored),
        rate_per_s=rate,
        p50_s=statistics.median(late) if late else None,
        p95_s=percentile(late, 0.95) if late else None,
        p99_s=percentile(late, 0.99) if late else None,
        max_s=max(late, default=None),
        watcher_peak_mib=peak / MIB,
    )
