"""Clusters that swallow packets, a credential plugin that hangs, and a broker that is lost: the good cluster stays in sync."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from inventory import clusters
from inventory.models import Cluster, Watch
from inventory.models.cluster import LOOKED_FOR, Kind, WatchState
from runtime.models import Heartbeat, Role
from tests.cluster.agreement import in_step
from tests.cluster.fleet import Fleet
from tests.controlplane.admin import Admin
from tests.kube.plugins import exec_user, plugin
from tests.kube.words import config, write_config
from tests.lossy import Lossy, Mode
from tests.processes import Processes
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]
Fault = Callable[[str, float], None]
BLACK_HOLES = 8
#: What is asked of a cluster before anything of it is known: DaemonSets name the ConfigMaps that are read, stacks that are there the
#: Services, and the watcher of nodes looks which custom resources are served.
ASKED = frozenset(Kind.values) - {"configmaps", "cards", "services", *LOOKED_FOR}
#: Nine processes' worth of clusters begin at once, perhaps on a busy machine.
START_S = 120.0
#: What a change needs to be seen, with room for a busy machine; a thread that is held up would need minutes.
SOON_S = 20.0
#: Longer than each time-out of the broker's connections, shorter than a test's patience.
LOST_S = 25.0


@pytest.fixture
def black_holes(tmp_path: Path, transactional_db: None) -> Iterator[list[Cluster]]:
    with ExitStack() as stack:
        rows = []
        for number in range(BLACK_HOLES):
            folder = tmp_path / f"hole-{number}"
            folder.mkdir()
            line = stack.enter_context(Lossy(1, Mode.DROP))
            user: dict[str, Any] = exec_user(plugin(folder, "time.sleep(600)")) if number == 0 else {"token": "t"}
            path = write_config(folder, config(f"https://127.0.0.1:{line.port}", user))
            rows.append(clusters.add(f"a-hole-{number}", path))
        yield rows


def test_eight_black_holes_and_a_plugin_that_hangs_do_not_hold_up_the_good_cluster(
    fleet: Fleet, admin: Admin, black_holes: list[Cluster], cluster: Cluster, team: Processes, fault: Fault
) -> None:
    fleet.build()
    team.watch_worker("one")
    team.default_worker_and_schedule()
    began = time.monotonic()
    in_step(admin, cluster, START_S)
    fault("first sync beside 8 black holes, with the start of the processes", time.monotonic() - began)
    wait_until(
        lambda: _in_trouble(black_holes) == BLACK_HOLES * len(ASKED), "each of the others says what is wrong", START_S
    )
    tokens = dict(Watch.objects.values_list("pk", "token"))
    for number in range(3):
        fleet.run("gib", f"later-{number}", "gib-0", {number: 1})
        took = in_step(admin, cluster, SOON_S)
        fault("a change beside 8 black holes", took)
    assert tokens == dict(Watch.objects.values_list("pk", "token")), "no lease was lost"
    named = Watch.objects.filter(cluster=black_holes[0], kind="pods").get().reason
    assert "the credential plugin" in named
    team.celery("checks", "call", "inventory.tasks.check_clusters")
    asked = timezone.now()
    checked = Cluster.objects.filter(pk=cluster.pk, permissions_checked_at__gt=asked)
    fault("check of permissions behind 8 black holes", wait_until(checked.exists, "the good one is checked", 60))


def _in_trouble(rows: list[Cluster]) -> int:
    return Watch.objects.filter(cluster__in=rows, state=WatchState.BACKING_OFF, kind__in=ASKED).count()


def test_processes_come_back_after_a_broker_that_dropped_packets(
    fleet: Fleet, admin: Admin, cluster: Cluster, team: Processes, fault: Fault
) -> None:
    fleet.build()
    with Lossy(int(urlsplit(team.environment["GPUDASH_BROKER_URL"]).port or 0)) as line:
        team.environment["GPUDASH_BROKER_URL"] = f"redis://127.0.0.1:{line.port}/0"
        team.watch_worker("one")
        team.default_worker_and_schedule()
        in_step(admin, cluster, START_S)
        wait_until(_heard, "the tasks worker is heard of", START_S)
        line.mode = Mode.DROP
        wait_until(lambda: not _heard(), "nothing arrives any more", LOST_S * 2)
        fleet.run("gib", "meanwhile", "gib-0", {5: 1})
        in_step(admin, cluster, SOON_S)
        lost_at = time.monotonic()
        wait_until(lambda: time.monotonic() - lost_at > LOST_S, "the time-outs have passed", LOST_S * 2)
        line.mode = Mode.FORWARD
        fault("broker dropped packets: tasks run again after", wait_until(_heard, "tasks arrive again", 90))


def _heard() -> bool:
    """Whether a message arrived at the tasks worker in the last 12 s."""
    row = Heartbeat.objects.filter(role=Role.TASKS).order_by("-beat_at").first()
    return row is not None and (timezone.now() - row.beat_at).total_seconds() < 12
