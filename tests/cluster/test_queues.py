"""Messages while no worker is there, more clusters than one began with, and workers that share them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import redis
from django.db.models import F
from django.db.models.functions import Now

from gpudash.celery import app
from gpudash.workers.queues import QUEUES
from inventory import clusters
from inventory.models import Cluster, Watch, Worker
from inventory.processes import LATE_S
from runtime.models import Heartbeat, Message, Role
from tests.cluster.agreement import WATCHED
from tests.cluster.fleet import Fleet
from tests.cluster.test_takeover import START_S, holders
from tests.controlplane.controlplane import ControlPlane
from tests.processes import Processes
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]
#: How long nobody takes messages: each entry of the schedule is due several times.
ALONE_S = 12.0
ENTRIES = len(app.conf.beat_schedule)


def queued(broker: str) -> int:
    with redis.Redis.from_url(broker) as client:
        return sum(int(str(client.llen(queue))) for queue in QUEUES)


def test_while_there_is_no_worker_one_message_of_each_thing_waits(
    cluster: Cluster, team: Processes, broker: str, fault: Callable[[str, float], None]
) -> None:
    team.celery("beat", "beat", "--pidfile", "", "--max-interval", "1")
    wait_until(lambda: queued(broker) == ENTRIES, "each entry is sent", START_S)
    until = time.monotonic() + ALONE_S
    while time.monotonic() < until:
        assert queued(broker) <= ENTRIES
        time.sleep(0.5)
    for start in (team.default_worker, team.launch_worker, lambda: team.watch_worker("watch")):
        start()
    wait_until(lambda: not Message.objects.filter(taken=False).exists(), "all is taken", START_S)
    wait_until(lambda: queued(broker) == 0, "none waits behind those that were sent", START_S)


def test_messages_that_the_broker_lost_are_sent_again(cluster: Cluster, team: Processes, broker: str) -> None:
    team.celery("beat", "beat", "--pidfile", "", "--max-interval", "1")
    wait_until(lambda: queued(broker) == ENTRIES, "each entry is sent", START_S)
    with redis.Redis.from_url(broker) as client:
        client.flushall()
    team.default_worker()
    often = Message.objects.filter(key__in=("dispatch-watchers", "dispatch-reconcilers", "heartbeat"))
    wait_until(lambda: often.filter(number__gt=1, taken=True).count() == 3, "what is due is sent again, and taken", 120)


def test_clusters_that_are_added_later_leave_one_process_room_for_its_tasks(
    fleet: Fleet, plane: ControlPlane, processes: Processes
) -> None:
    fleet.build()
    processes.manage("standalone", "--kubeconfig", str(plane.kubeconfig), "--name", "first", "--port", "0")
    held = Watch.objects.filter(expires_at__gt=Now(), synced_at__isnull=False)
    wait_until(lambda: held.count() == len(WATCHED), "the first cluster in sync", START_S)
    for name in ("second", "third", "fourth"):
        clusters.add(name, str(plane.kubeconfig))
    wait_until(lambda: held.count() == 4 * len(WATCHED), "the others are, too", START_S)
    before = Heartbeat.objects.get(role=Role.TASKS).beat_at
    wait_until(lambda: Heartbeat.objects.get(role=Role.TASKS).beat_at > before, "tasks are still done", LATE_S)


def test_two_workers_share_the_clusters(
    fleet: Fleet, plane: ControlPlane, team: Processes, transactional_db: None
) -> None:
    fleet.build()
    for number in range(5):
        clusters.add(f"c-{number}", str(plane.kubeconfig))
    one, two = team.watch_worker("one"), team.watch_worker("two")
    wait_until(lambda: Worker.objects.count() == 2, "both workers say that they are there", START_S)
    team.default_worker_and_schedule()
    total: list[Cluster] = list(Cluster.objects.all())

    def by_worker() -> dict[int, int]:
        found = [holders(cluster) for cluster in total]
        return {process.pid: sum(one[process.pid] for one in found) for process in (one, two)}

    wait_until(lambda: sum(by_worker().values()) == len(total) * len(WATCHED), "every kind has a watcher", START_S)
    assert min(by_worker().values()) >= len(total) * len(WATCHED) // 4, by_worker()
    assert not Watch.objects.filter(sent__gt=3).exists()
    assert not Worker.objects.filter(threads__lt=F("holds")).exists()


def test_permissions_are_asked_while_every_thread_of_a_watcher_is_taken(
    fleet: Fleet, plane: ControlPlane, team: Processes, transactional_db: None
) -> None:
    fleet.build()
    found = [clusters.add(f"c-{number}", str(plane.kubeconfig)) for number in range(2)]
    team.celery("watch", "worker", "-Q", "watch", "-P", "threads", "-c", "3", "-n", "watch@test")
    wait_until(lambda: Worker.objects.filter(threads=3).count() == 1, "it says what it holds", START_S)
    team.default_worker_and_schedule()
    held = Watch.objects.filter(expires_at__gt=Now())
    wait_until(lambda: held.count() == 3, "all its threads are taken", START_S)
    asked = Cluster.objects.filter(permissions_checked_at__isnull=False)
    wait_until(lambda: asked.count() == len(found), "what the watchers may do was asked", START_S)
    # A watcher of what a cluster does not need ends, and another takes its place.
    wait_until(lambda: held.count() == 3, "all its threads are taken still", START_S)
    assert Worker.objects.get(threads=3).holds <= 3
