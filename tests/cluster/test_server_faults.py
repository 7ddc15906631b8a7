"""The API server restarts, forgets its history, or ends a list in the middle: the mirror agrees again by itself."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from inventory.models import Cluster, Watch
from inventory.models.cluster import Kind, WatchState
from kube.client import Client
from kube.messages import Listed, ListEnd, Message, Relist, Trouble
from kube.objects import Node
from kube.reflector import Reflector
from tests.cluster.agreement import WATCHED, all_watching, in_step
from tests.cluster.fleet import Fleet
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json
from tests.processes import Processes, freeze, thaw
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]
Fault = Callable[[str, float], None]


def change_everything(fleet: Fleet) -> None:
    """Something new, something gone, something else than before."""
    fleet.run("gib", "after", "gib-0", {5: 4})
    pods = {pod["metadata"]["name"]: {**pod, "kind": "Pod"} for pod in fleet.admin.list("/api/v1/pods")}
    fleet.admin.delete(pods["gib-0-0"])
    fleet.place("mib", pods["mib-0-0"], {7: 1})


def relists(cluster: Cluster) -> int:
    return Watch.objects.get(cluster=cluster, kind="pods").relists


def test_the_api_server_restarts(
    fleet: Fleet, admin: Admin, plane: ControlPlane, watched: Cluster, fault: Fault
) -> None:
    fleet.build()
    in_step(admin, watched)
    plane.restart("apiserver")
    change_everything(fleet)
    fault("API server restarted", in_step(admin, watched))
    wait_until(lambda: all_watching(watched), "all kinds are in sync again")


def test_the_api_server_is_away_for_a_while(
    fleet: Fleet, admin: Admin, plane: ControlPlane, watched: Cluster, fault: Fault
) -> None:
    fleet.build()
    in_step(admin, watched)
    kinds = Watch.objects.filter(cluster=watched, state=WatchState.WATCHING).exclude(kind=Kind.CARDS).count()
    plane.stop("apiserver")
    backing_off = Watch.objects.filter(cluster=watched, state=WatchState.BACKING_OFF, reason__contains="cannot reach")
    wait_until(lambda: backing_off.count() == kinds > 0, "each kind says that it backs off, and why")
    assert all(watch.next_try_at for watch in backing_off)
    plane.start("apiserver")
    plane.wait_for("apiserver")
    change_everything(fleet)
    fault("API server away, then back", in_step(admin, watched))
    wait_until(lambda: all_watching(watched), "all kinds are in sync again")
    assert not Watch.objects.filter(cluster=watched, kind__in=WATCHED).exclude(reason="").exists()


def test_history_is_compacted_while_no_watcher_runs(
    fleet: Fleet, admin: Admin, plane: ControlPlane, cluster: Cluster, processes: Processes, fault: Fault
) -> None:
    fleet.build()
    processes.call("sync", "--once")
    change_everything(fleet)
    plane.compact()
    plane.restart("apiserver")  # its cache would still have the history
    processes.manage("sync")
    fault("history compacted while no watcher ran (incl. start of the watcher)", in_step(admin, cluster))
    assert relists(cluster) == 1


def test_history_is_compacted_behind_a_running_watcher(
    fleet: Fleet, admin: Admin, plane: ControlPlane, cluster: Cluster, processes: Processes, fault: Fault
) -> None:
    fleet.build()
    watcher = processes.manage("sync")
    in_step(admin, cluster)
    freeze(watcher)
    change_everything(fleet)
    plane.compact()
    plane.restart("apiserver")
    before = relists(cluster)
    thaw(watcher)
    fault("history compacted behind a running watcher (410 in the stream)", in_step(admin, cluster))
    assert relists(cluster) == before + 1
    log = processes.log("sync")
    wait_until(lambda: "in sync" in log.read_text().rsplit("compacted (410)", 1)[1], "the last kind says so too")


def test_a_list_whose_continuation_expires_is_begun_again(fleet: Fleet, plane: ControlPlane) -> None:
    """The answer is 410 itself here, not an event of a stream: history goes away between two pages."""
    nodes: list[Json] = []
    for number in range(8):
        nodes.append(fleet.node("count", number))
    reflector = Reflector(Client(str(plane.kubeconfig)), "/api/v1/nodes", Node, page_size=1)
    reflector.start()
    try:
        wait_until(reflector._queue.full, "the reader waits for the writer, with pages still to come")
        # The page's moment must be older than what compaction leaves.
        fleet.admin.patch(nodes[0], {"metadata": {"labels": {"later": "yes"}}})
        plane.compact()
        plane.restart("apiserver")
        seen = _until_complete(reflector)
    finally:
        reflector.stop()
    begins = [message.reason for message in seen if isinstance(message, Relist)]
    assert begins[0] == "initial list"
    assert "compacted (410)" in begins[-1]
    last = max(index for index, message in enumerate(seen) if isinstance(message, Relist))
    names = [
        node.metadata.name for message in seen[last:] if isinstance(message, Listed) for node in message.page.objects
    ]
    assert sorted(names) == [f"count-{number}" for number in range(8)]


def _until_complete(reflector: Reflector[Node]) -> list[Message[Node]]:
    seen: list[Message[Node]] = []

    def complete() -> bool:
        message = reflector.next(0.05)
        if message is not None:
            assert not isinstance(message, Trouble) or "cannot reach" in message.reason
            seen.append(message)
        return isinstance(message, ListEnd)

    wait_until(complete, "a whole list", every_s=0)
    return seen


def test_the_watchers_network_falls_silent(
    fleet: Fleet, admin: Admin, plane: ControlPlane, watched: Cluster, fault: Fault
) -> None:
    """A server that stops answering without closing its connections."""
    fleet.build()
    in_step(admin, watched)
    process = plane.pid("apiserver")
    _signal(process, signal.SIGSTOP)
    wait_until(lambda: _held(watched), "the watchers keep their leases", 20)
    _signal(process, signal.SIGCONT)
    change_everything(fleet)
    fault("API server frozen for a moment", in_step(admin, watched))


def _signal(pid: int, number: int) -> None:
    os.kill(pid, number)


def _held(cluster: Cluster) -> bool:
    return Watch.objects.filter(cluster=cluster).exclude(holder="").count() == len(WATCHED)
