"""Watchers that are killed, frozen, stopped or doubled, and a database that goes away: one holds each lease, and no row is wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest
from django.db import connections
from pytest_django import Settings

from inventory.mirror.lease import acquire, release
from inventory.models import Cluster, Watch
from inventory.models.cluster import LOOKED_FOR, Kind
from runtime.leases.lease import Lease
from tests.cluster.agreement import WATCHED, all_watching, in_step
from tests.cluster.fleet import Fleet
from tests.cluster.test_server_faults import change_everything
from tests.controlplane.admin import Admin
from tests.processes import Processes, freeze, kill, thaw
from tests.services import Postgres, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]
Fault = Callable[[str, float], None]
#: What DESIGN promises for a watcher that is killed.
TAKEOVER_S = 15.0
#: Four processes start at once, perhaps on a busy machine.
START_S = 90.0
#: How long the database is away.
AWAY_S = 4.0


def holders(cluster: Cluster) -> Counter[int]:
    """Process → how many leases it holds now."""
    held = Watch.objects.filter(cluster=cluster).exclude(holder="").values_list("holder", flat=True)
    return Counter(int(holder.split("/")[1]) for holder in held)


def tokens(cluster: Cluster) -> dict[str, int]:
    """Kind → fencing token, which grows with each new holder."""
    return dict(Watch.objects.filter(cluster=cluster).values_list("kind", "token"))


def team_of_two(team: Processes, cluster: Cluster) -> dict[int, subprocess.Popen[bytes]]:
    """Two watch workers, a default worker and the schedule; all leases are held."""
    workers = {process.pid: process for process in (team.watch_worker("one"), team.watch_worker("two"))}
    team.default_worker_and_schedule()
    wait_until(lambda: holders(cluster).total() == len(WATCHED), "every kind has a watcher", START_S)
    assert holders(cluster).keys() <= workers.keys()
    return workers


def test_a_killed_watcher_is_replaced_within_15_seconds(
    fleet: Fleet, admin: Admin, cluster: Cluster, team: Processes, fault: Fault
) -> None:
    fleet.build()
    workers = team_of_two(team, cluster)
    in_step(admin, cluster)
    victim = workers[holders(cluster).most_common(1)[0][0]]
    killed_at = kill(victim)
    change_everything(fleet)
    in_step(admin, cluster)
    wait_until(lambda: holders(cluster).keys() <= workers.keys() - {victim.pid}, "the other holds every lease")
    seconds = time.monotonic() - killed_at
    fault("watcher killed (SIGKILL), another takes over", seconds)
    assert seconds <= TAKEOVER_S
    assert holders(cluster).total() == len(WATCHED)


def test_a_worker_that_is_told_to_end_gives_its_leases_back_at_once(
    fleet: Fleet, admin: Admin, cluster: Cluster, team: Processes, fault: Fault
) -> None:
    fleet.build()
    workers = team_of_two(team, cluster)
    in_step(admin, cluster)
    leaving = workers[holders(cluster).most_common(1)[0][0]]
    leaving.terminate()
    started = time.monotonic()
    wait_until(lambda: leaving.pid not in holders(cluster), "its leases are given back", 5)
    change_everything(fleet)
    in_step(admin, cluster)
    wait_until(lambda: holders(cluster).total() == len(WATCHED), "the other holds every lease", 8)
    fault("worker told to end (SIGTERM), another takes over", time.monotonic() - started)
    assert leaving.wait(15) == 0


def test_a_foreground_sync_that_is_told_to_end_gives_its_leases_back(
    fleet: Fleet, admin: Admin, cluster: Cluster, processes: Processes
) -> None:
    fleet.build()
    syncing = processes.manage("sync")
    in_step(admin, cluster)
    syncing.terminate()
    syncing.wait(15)
    assert holders(cluster) == {}


def test_of_many_who_race_for_a_lease_one_gets_it(cluster: Cluster, settings: Settings) -> None:
    settings.LEASE_S = 60  # none of them may run out while the threads are on their way
    before = tokens(cluster)["pods"]
    for round_number in range(1, 11):
        won = race(cluster, 8)
        assert len(won) == 1
        assert won[0].token == before + round_number
        release(won[0])


def race(cluster: Cluster, runners: int) -> list[Lease]:
    barrier = threading.Barrier(runners)
    won: list[Lease] = []

    def run() -> None:
        connections["default"].ensure_connection()
        barrier.wait()
        lease = acquire(cluster.pk, "pods")
        if lease is not None:
            won.append(lease)
        connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(runners)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return won


def test_two_watchers_share_no_lease(fleet: Fleet, admin: Admin, cluster: Cluster, processes: Processes) -> None:
    fleet.build()
    processes.environment["GPUDASH_LEASE_S"] = "60"  # a busy machine must not look like a dead watcher
    before = tokens(cluster)
    first, second = processes.manage("sync", name="first"), processes.manage("sync", name="second")
    in_step(admin, cluster)
    change_everything(fleet)
    in_step(admin, cluster)
    assert holders(cluster).total() == len(WATCHED)
    assert holders(cluster).keys() <= {first.pid, second.pid}
    # Each lease was taken once, and by nobody else since; which ConfigMaps there are to read was told once, by the DaemonSets. Custom
    # resources that are not served are nobody's.
    wanted = {kind: token + (kind not in LOOKED_FOR) for kind, token in before.items()}
    assert tokens(cluster) == wanted | {Kind.CONFIGMAPS.value: wanted[Kind.CONFIGMAPS.value] + 1}


def test_a_watcher_that_was_frozen_beyond_its_lease_cannot_write(
    fleet: Fleet, admin: Admin, cluster: Cluster, processes: Processes, fault: Fault
) -> None:
    fleet.build()
    processes.environment["GPUDASH_LEASE_S"] = "5"
    frozen = processes.manage("sync", name="frozen")
    in_step(admin, cluster)
    other = processes.manage("sync", name="other")
    freeze(frozen)
    started = time.monotonic()
    # These events lie in the frozen one's sockets; later ones make them untrue.
    change_everything(fleet)
    wait_until(lambda: holders(cluster) == {other.pid: len(WATCHED)}, "the other holds every lease")
    for pod in admin.list("/api/v1/pods"):
        if pod["metadata"]["name"] in ("after", "gib-0-1"):
            admin.delete({**pod, "kind": "Pod"})
    in_step(admin, cluster)
    fault("watcher frozen, another takes over (lease of 5 s)", time.monotonic() - started)
    before = tokens(cluster)
    thaw(frozen)
    lost = processes.log("frozen")
    wait_until(
        lambda: lost.read_text().count("another watcher has the lease") == len(WATCHED),
        "the frozen one sees that it lost",
    )
    in_step(admin, cluster)
    assert holders(cluster) == {other.pid: len(WATCHED)}
    assert tokens(cluster) == before


@pytest.mark.parametrize("how", ["sync", "team"])
def test_the_database_restarts_in_the_middle(
    how: str, fleet: Fleet, admin: Admin, cluster: Cluster, team: Processes, database_server: Postgres, fault: Fault
) -> None:
    fleet.build()
    if how == "sync":
        team.manage("sync")
    else:
        team_of_two(team, cluster)
    in_step(admin, cluster)
    connections.close_all()
    database_server.stop()
    try:
        change_everything(fleet)
        # Long enough that each watcher has tried again, and more than once.
        threading.Event().wait(AWAY_S)
    finally:
        database_server.start()
    seconds = in_step(admin, cluster)
    fault(f"database stopped and started ({'gpudash sync' if how == 'sync' else 'Celery'})", seconds)
    wait_until(lambda: holders(cluster).total() == len(WATCHED), "every kind has a watcher again")


def test_after_a_restart_every_kind_says_that_it_is_in_step(
    fleet: Fleet, admin: Admin, cluster: Cluster, processes: Processes
) -> None:
    fleet.build()
    before = processes.manage("sync", name="before")
    in_step(admin, cluster)
    before.terminate()
    before.wait(15)
    processes.manage("sync", name="after")
    wait_until(lambda: all_watching(cluster), "every kind says so", 15)


def test_the_whole_team_is_killed_and_started_again(
    fleet: Fleet, admin: Admin, cluster: Cluster, processes: Processes, fault: Fault
) -> None:
    fleet.build()
    before = processes.manage("sync", name="before")
    in_step(admin, cluster)
    os.kill(before.pid, signal.SIGKILL)
    before.wait(5)
    change_everything(fleet)
    processes.manage("sync", name="after")
    fault("all watchers killed, one started again", in_step(admin, cluster))
