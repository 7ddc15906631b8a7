"""A backup of the database is put back, or another cluster (or an older one) answers at the address: the mirror agrees again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connections

from inventory import clusters
from inventory.models import Cluster, Watch
from inventory.models.cluster import Kind
from tests.cluster.agreement import all_watching, differences, in_step
from tests.cluster.credentials import grant, role
from tests.cluster.fleet import Fleet
from tests.cluster.test_credentials import READ, as_user
from tests.cluster.test_server_faults import change_everything
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.processes import Processes
from tests.services import Postgres, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]
Fault = Callable[[str, float], None]


def name_of_database() -> str:
    return str(connections["default"].settings_dict["NAME"])


def put_back(server: Postgres, backup: Path, *options: str) -> None:
    connections.close_all()
    server.restore(name_of_database(), backup, *options)


def reasons(log: Path) -> str:
    return log.read_text(errors="replace")


@pytest.mark.parametrize("options", [("--single-transaction",), ()], ids=["one-transaction", "table-by-table"])
def test_a_backup_is_put_back_under_a_running_watcher(
    options: tuple[str, ...],
    fleet: Fleet,
    admin: Admin,
    watched: Cluster,
    processes: Processes,
    database_server: Postgres,
    tmp_path: Path,
    fault: Fault,
) -> None:
    fleet.build()
    in_step(admin, watched)
    database_server.dump(name_of_database(), tmp_path / "backup")
    change_everything(fleet)
    fleet.node("gib", 7)
    in_step(admin, watched)
    put_back(database_server, tmp_path / "backup", *options)
    fault(f"backup put back under a running watcher ({' '.join(options) or 'table by table'})", in_step(admin, watched))
    wait_until(lambda: all_watching(watched), "all kinds are in sync again")
    # It stays so, and what comes now is followed.
    fleet.run("gib", "later", "gib-7", {2: 3})
    in_step(admin, watched)
    assert "the database was restored" in reasons(processes.log("sync"))


@pytest.mark.parametrize("compacted", [False, True], ids=["replayed", "compacted"])
def test_an_old_backup_is_put_back_while_nothing_runs(
    compacted: bool,
    fleet: Fleet,
    admin: Admin,
    plane: ControlPlane,
    cluster: Cluster,
    processes: Processes,
    database_server: Postgres,
    tmp_path: Path,
    fault: Fault,
) -> None:
    fleet.build()
    processes.call("sync", "--once")
    database_server.dump(name_of_database(), tmp_path / "backup")
    change_everything(fleet)
    processes.call("sync", "--once")
    assert differences(admin, cluster) == []
    if compacted:
        plane.compact()
        plane.restart("apiserver")
    put_back(database_server, tmp_path / "backup")
    assert differences(admin, cluster) != []
    processes.manage("sync")
    fault(f"old backup put back while nothing ran{', history compacted' * compacted}", in_step(admin, cluster))


def test_relist_by_hand_mends_what_somebody_changed_in_the_tables(
    fleet: Fleet, admin: Admin, watched: Cluster, processes: Processes, fault: Fault
) -> None:
    from inventory.models import Allocation, Card, Pod

    fleet.build()
    in_step(admin, watched)
    wait_until(lambda: all_watching(watched), "all kinds are in sync")
    Pod.objects.filter(name="gib-0-0").delete()
    Allocation.objects.filter(pod="gib-0-1").delete()
    Card.objects.filter(node_name="mib-0").delete()
    assert differences(admin, watched) != []
    said = processes.call("cluster", "relist", "test")
    assert f"relist requested: {', '.join(Kind.values)}" in said
    fault("rows deleted by hand, then gpudash cluster relist", in_step(admin, watched))
    wait_until(lambda: all_watching(watched), "all kinds are in sync again")
    assert not Watch.objects.filter(cluster=watched).exclude(relist_reason="").exists()


def test_another_cluster_appears_at_the_same_address(
    fleet: Fleet, admin: Admin, plane: ControlPlane, watched: Cluster, fault: Fault
) -> None:
    fleet.build()
    in_step(admin, watched)
    watched.refresh_from_db()
    before = watched.uid
    assert before
    plane.replace_storage()
    other_fleet(fleet)
    fault("another cluster at the same address (UID of kube-system)", in_step(admin, watched))
    wait_until(lambda: all_watching(watched), "all kinds are in sync again")
    watched.refresh_from_db()
    assert watched.uid not in ("", before)
    assert watched.recreated_at is not None


def test_another_cluster_appears_where_its_uid_may_not_be_read(
    fleet: Fleet, admin: Admin, plane: ControlPlane, processes: Processes, tmp_path: Path, fault: Fault
) -> None:
    allowed = role("no-namespaces", nodes=READ, pods=READ, daemonsets=READ)
    grant(admin, allowed, "narrow")
    cluster = clusters.add("test", str(as_user(plane, tmp_path, "narrow")))
    fleet.build()
    processes.manage("sync")
    in_step(admin, cluster)
    cluster.refresh_from_db()
    assert "no permission to read" in cluster.uid_note
    plane.replace_storage()
    grant(admin, allowed, "narrow")
    other_fleet(fleet)
    fault("another cluster at the same address, its UID not readable", in_step(admin, cluster))


def test_the_clusters_storage_is_put_back(
    fleet: Fleet, admin: Admin, plane: ControlPlane, watched: Cluster, tmp_path: Path, fault: Fault
) -> None:
    """The same UID, and a resource version lower than the one that was seen."""
    fleet.build()
    in_step(admin, watched)
    plane.copy_storage(tmp_path / "etcd")
    change_everything(fleet)
    in_step(admin, watched)
    plane.replace_storage(tmp_path / "etcd")
    fault("etcd put back from an earlier copy", in_step(admin, watched))


def other_fleet(fleet: Fleet) -> None:
    """Some names as before, other objects."""
    for namespace in ("kube-system", "default"):
        fleet.admin.ensure_namespace(namespace)
    for number in (0, 5):
        fleet.node("gib", number)
    fleet.run("gib", "gib-0-0", "gib-0", {3: 2})
    fleet.run("gib", "new", "gib-5", {1: 1})
