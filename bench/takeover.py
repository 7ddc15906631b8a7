"""Seconds until another watcher is in sync after the one that holds the pods is killed, in a team's deployment, five times.

In step: every lease is held by a living process, and a change that was made after the kill is in the allocations.
"""

from __future__ import annotations

import statistics
import subprocess
import time

import psycopg

from bench.answers import Answers
from bench.bed import Bed
from bench.large import Movable
from bench.report import emit, progress
from tests.controlplane import loader
from tests.processes import kill
from tests.services import wait_until

ROUNDS = 5
#: Other benchmarks move a pod by one to four.
CARDS_ON = 5


def run(bed: Bed) -> None:
    team = bed.synced()
    url = team.environment["GPUDASH_DATABASE_URL"]
    puts, pods = loader.Puts(bed.plane.port("etcd")), Movable(bed.scale)
    try:
        team.default_worker_and_schedule()
        alive = {process.pid: process for process in (team.watch_worker("watch-0"), team.watch_worker("watch-1"))}
        seconds = []
        for number in range(ROUNDS):
            wait_until(lambda: _held_by(url, alive), "every lease is held", 120)
            seconds.append(_one(url, puts, pods.moved(number, CARDS_ON), alive))
            progress(f"takeover: {seconds[-1]:.1f} s")
            added = team.watch_worker(f"watch-{number + 2}")
            alive[added.pid] = added
    finally:
        puts.close()
        team.stop()
    worst = max(seconds)
    emit(
        "takeover",
        Answers(right=len(seconds)),  # `_one` raises where the change is not there
        seconds=[round(value, 1) for value in seconds],
        median_s=statistics.median(seconds),
        max_s=worst,
    )


def _one(
    url: str, puts: loader.Puts, change: tuple[str, bytes, str, str], alive: dict[int, subprocess.Popen[bytes]]
) -> float:
    victim = alive.pop(_holder(url, "pods"))
    killed_at = kill(victim)
    key, value, uid, moved = change
    puts.put(key, value)
    wait_until(lambda: _held_by(url, alive) and _card(url, uid) == moved, "another is in sync", 120, every_s=0.05)
    return time.monotonic() - killed_at


def _rows(url: str, query: str, *values: object) -> list[tuple[str, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query, values).fetchall()


def _holder(url: str, kind: str) -> int:
    ((holder,),) = _rows(url, "SELECT holder FROM inventory_watch WHERE kind = %s", kind)
    return int(holder.split("/")[1])


def _held_by(url: str, alive: dict[int, subprocess.Popen[bytes]]) -> bool:
    there = "SELECT holder FROM inventory_watch WHERE state NOT IN ('not-served', 'not-needed')"
    holders = [holder for (holder,) in _rows(url, there)]
    return all(holder and int(holder.split("/")[1]) in alive for holder in holders)


def _card(url: str, uid: str) -> str:
    rows = _rows(url, "SELECT card_key FROM inventory_allocation WHERE pod_uid = %s AND ended_at IS NULL", uid)
    return rows[0][0] if rows else ""
