"""A first sync while the cluster changes all the time: seconds until nodes, pods and cards are in sync, beside a quiet one."""

from __future__ import annotations

import time

import psycopg

from bench import churn
from bench.answers import Answers
from bench.bed import Bed
from bench.first_sync import stored
from bench.large import Movable
from bench.report import emit, progress
from tests.services import wait_until

RATE, MOST_S = 200, 600


def run(bed: Bed) -> None:
    quiet, answers = _seconds(bed, "quiet")
    progress(f"first sync without changes: {quiet:.1f} s; now with {RATE} changes a second")
    sending = churn.Sending(bed.plane.port("etcd"), Movable(bed.scale), RATE, RATE * MOST_S)
    try:
        churned, more = _seconds(bed, "churned")
    finally:
        rate = sending.stop()
    answers.add(more)
    emit(
        "first-sync-churned", answers, quiet_s=quiet, churned_s=churned, times=churned / quiet,
        changes=len(sending.sent), rate_per_s=rate,
    )  # fmt: skip


def _seconds(bed: Bed, name: str) -> tuple[float, Answers]:
    """From the start of `manage.py sync` until all kinds are in sync once; and whether all objects are there then."""
    processes = bed.database(name)
    url = processes.environment["GPUDASH_DATABASE_URL"]
    started = time.monotonic()
    processes.manage("sync")
    try:
        wait_until(lambda: synced(url), "all kinds are in sync", 600, 0.2)
        return time.monotonic() - started, stored(bed, processes)
    finally:
        processes.stop()


def synced(url: str) -> bool:
    """Whether each kind that there is was listed and each node counted once."""
    missing = "synced_at IS NULL AND state NOT IN ('not-served', 'not-needed')"
    with psycopg.connect(url) as connection:
        row = connection.execute(f"SELECT count(*) FROM inventory_watch WHERE {missing}").fetchone()
    return row == (0,)
