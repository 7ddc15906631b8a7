"""First sync and ordinary life: what is added, changed and deleted in a real cluster is in the tables, object by object."""

from __future__ import annotations

import pytest
from django.db import connection

from inventory.models import Allocation, Card, Cluster, DirtyNode, Watch
from inventory.models.cluster import WatchState
from tests.cluster.agreement import WATCHED, differences, in_step
from tests.cluster.fleet import Fleet
from tests.controlplane.admin import Admin
from tests.controlplane.objects import KINDS, daemonset, plugin_spec, pod
from tests.processes import Processes
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]


def test_the_first_sync_has_every_object(fleet: Fleet, admin: Admin, cluster: Cluster, processes: Processes) -> None:
    fleet.build(nodes_each=2)
    said = processes.call("sync", "--once")
    assert differences(admin, cluster) == []
    assert "in sync after" in said
    synced = Watch.objects.filter(cluster=cluster).exclude(synced_at=None)
    assert set(synced.values_list("kind", flat=True)) == WATCHED
    assert "test configmaps: " in said
    assert "0 stored" in said.partition("test configmaps: ")[2].partition("\n")[0], (
        "nothing that no system reads is kept"
    )
    assert "test devicetaintrules: not read" in said
    assert "test devices: not read" in said


def test_a_second_sync_of_the_same_cluster_writes_nothing(fleet: Fleet, cluster: Cluster, processes: Processes) -> None:
    fleet.build()
    processes.call("sync", "--once")
    said = processes.call("sync", "--once")
    written = [
        int(line.split(" rows written")[0].rsplit(" ", 1)[1]) for line in said.splitlines() if "rows written" in line
    ]
    assert written == [0] * len(WATCHED)


def test_a_list_in_many_pages_is_whole(fleet: Fleet, admin: Admin, cluster: Cluster, processes: Processes) -> None:
    fleet.build(nodes_each=2)
    processes.environment["GPUDASH_LIST_PAGE"] = "10"
    processes.call("sync", "--once")
    assert differences(admin, cluster) == []


def test_what_is_added_appears(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    in_step(admin, watched)
    fleet.build()
    in_step(admin, watched)


def test_a_card_that_becomes_known_moves_the_allocation(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    fleet.node("gib", 0)
    bound = admin.create(pod("train", KINDS["gib"], 6, "gib-0"))
    in_step(admin, watched)
    (before,) = Allocation.objects.filter(cluster=watched)
    fleet.place("gib", bound, {3: 6})
    in_step(admin, watched)
    (after,) = Allocation.objects.filter(cluster=watched)
    assert (before.card_key, after.card_key, after.pk) == ("", "3", before.pk)


def test_a_pod_over_several_cards_holds_a_part_of_each(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    fleet.node("mib", 0)
    fleet.run("mib", "wide", "mib-0", {0: 2000, 2: 2000, 5: 2000})
    in_step(admin, watched)
    assert set(Allocation.objects.filter(cluster=watched).values_list("card_key", flat=True)) == {"0", "2", "5"}


def test_what_ends_and_what_is_deleted_lets_go_and_stays_as_history(
    fleet: Fleet, admin: Admin, watched: Cluster
) -> None:
    fleet.node("gib", 0)
    ending = fleet.run("gib", "ending", "gib-0", {0: 3})
    deleted = fleet.run("gib", "deleted", "gib-0", {1: 4})
    in_step(admin, watched)
    fleet.finish("gib", ending)
    admin.delete(deleted)
    in_step(admin, watched)
    history = Allocation.objects.filter(cluster=watched, ended_at__isnull=False)
    assert set(history.values_list("pod", flat=True)) == {"ending", "deleted"}


def test_a_terminating_pod_still_holds(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    fleet.node("status", 0)
    ending = fleet.run("status", "slow", "status-0", {4: 1})
    in_step(admin, watched)
    admin.delete(ending, grace_s=30)
    in_step(admin, watched)
    assert Allocation.objects.get(cluster=watched, ended_at=None).terminating
    admin.delete(ending)
    in_step(admin, watched)
    assert not Allocation.objects.filter(cluster=watched, ended_at=None).exists()


def test_a_node_that_changes_changes_its_cards(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    made = fleet.node("gib", 0, cards=4)
    in_step(admin, watched)
    amounts = {"aliyun.com/gpu-mem": "120", "aliyun.com/gpu-count": "8"}
    admin.patch(made, {"status": {"capacity": amounts, "allocatable": amounts}}, "/status")
    admin.patch(made, {"spec": {"unschedulable": True}})
    in_step(admin, watched)
    assert Card.objects.filter(cluster=watched, removed_at=None).count() == 8


def test_a_deleted_node_takes_its_cards_out_and_keeps_their_history(
    fleet: Fleet, admin: Admin, watched: Cluster
) -> None:
    made = fleet.node("gib", 0)
    fleet.run("gib", "train", "gib-0", {2: 5})
    in_step(admin, watched)
    admin.delete(made)
    in_step(admin, watched)
    cards = Card.objects.filter(cluster=watched)
    assert (cards.filter(removed_at=None).count(), cards.exclude(removed_at=None).count()) == (0, 8)
    (hold,) = Allocation.objects.filter(cluster=watched)
    assert hold.ended_at is not None
    assert hold.card_key == "2"


def test_200_rapid_changes_of_one_pod_end_right(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    fleet.node("gib", 0)
    busy = fleet.run("gib", "busy", "gib-0", {0: 2})
    in_step(admin, watched)
    for number in range(200):
        admin.patch(busy, {"metadata": {"annotations": {"ALIYUN_COM_GPU_MEM_IDX": str(number % 8)}}})
    in_step(admin, watched)
    held = Allocation.objects.filter(cluster=watched, ended_at=None)
    # Pods are compared by what they say; whose card it is, is counted after that.
    wait_until(lambda: [hold.card_key for hold in held.all()] == ["7"], "the last change counts")
    assert Watch.objects.get(cluster=watched, kind="pods").state == WatchState.WATCHING


def test_the_steps_of_a_plugins_roll_out_recount_no_node(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    fleet.build()
    in_step(admin, watched)
    made = admin.create(daemonset("GiB") | {"metadata": daemonset("GiB")["metadata"] | {"name": "rolling"}})
    status = {"desiredNumberScheduled": 30, "currentNumberScheduled": 30, "numberMisscheduled": 0}
    first = admin.patch(made, {"status": status | {"numberReady": 0, "observedGeneration": 1}}, "/status")
    in_step(admin, watched)
    begun = Watch.objects.filter(
        cluster=watched, kind="daemonsets", resource_version=first["metadata"]["resourceVersion"]
    )
    wait_until(begun.exists, "that it selects nodes has been read")
    wait_until(lambda: not DirtyNode.objects.exists(), "all nodes are accounted")
    last_mark = _last_mark()
    for ready in range(1, 30):
        admin.patch(made, {"status": status | {"numberReady": ready, "observedGeneration": 1}}, "/status")
    seen = admin.patch(made, {"metadata": {"annotations": {"rolled": "out"}}})["metadata"]["resourceVersion"]
    version = Watch.objects.filter(cluster=watched, kind="daemonsets", resource_version=seen)
    wait_until(version.exists, "all steps have been read")
    assert _last_mark() == last_mark
    template = {"template": {"spec": {"containers": plugin_spec("MiB")["containers"]}}}
    admin.patch(made, {"spec": template})
    wait_until(lambda: _last_mark() > last_mark, "another argument counts")
    in_step(admin, watched)


def _last_mark() -> int:
    """How many marks there ever were."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_serial_sequence('inventory_dirtynode', 'id')")
        cursor.execute(f"SELECT last_value FROM {cursor.fetchone()[0]}")
        return int(cursor.fetchone()[0])
