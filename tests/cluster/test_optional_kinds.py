"""Kinds that a cluster need not have or let be read: ConfigMaps of device plugins, Koordinator's Devices, older versions of DRA.

Each appears, changes and goes, with a real API server; one that is refused or not served costs nothing and comes when it may.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inventory import clusters
from inventory.models import Card, Cluster, ConfigMap, Device, Finding, NodeTotals, ResourceSlice, Watch
from inventory.models.cluster import WatchState
from tests.cluster.agreement import all_watching
from tests.cluster.credentials import grant, grant_in_namespace, role
from tests.cluster.fleet import Fleet
from tests.cluster.test_credentials import READ, as_user, shipped_role
from tests.controlplane import claims, plugins
from tests.controlplane.admin import Admin, Refused
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json
from tests.processes import Processes
from tests.roles import shipped
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]

#: `manage.py sync` that looks after a second or three, and not after a minute, for what is not served or was refused.
SOON = """
import django
django.setup()
from django.core.management import call_command
from inventory.mirror import served
from kube import reflector
served.LOOK_S = reflector.ABSENT_S = 1.0
reflector.REFUSED_S = 3
call_command("sync")
"""
BETA = "/apis/resource.k8s.io/v1beta1/resourceslices"


@pytest.fixture
def soon(cluster: Cluster, processes: Processes) -> Cluster:
    start(processes)
    return cluster


def start(processes: Processes) -> None:
    processes.start("sync", [sys.executable, "-c", SOON], {"DJANGO_SETTINGS_MODULE": "gpudash.settings"})


@pytest.fixture
def objects(fleet: Fleet, admin: Admin) -> Iterator[Callable[..., list[Json]]]:
    """objects(thing, …) makes these; they are gone after the test."""
    made: list[Json] = []

    def create(*things: Json) -> list[Json]:
        found = []
        for thing in things:
            found.append(admin.create(thing))
            made.append(found[-1])
            if thing["kind"] == "Node":
                admin.patch(found[-1], {"spec": {"taints": None}})
        return found

    yield create
    for thing in reversed(made):
        if thing["kind"] in ("ConfigMap", "CustomResourceDefinition", "ResourceSlice"):
            delete_if_there(admin, thing)
    admin.delete_all()


def delete_if_there(admin: Admin, thing: Json) -> None:
    try:
        admin.delete(thing)
    except Refused as refused:
        if refused.status != 404:
            raise


def state(cluster: Cluster, kind: str) -> tuple[str, str]:
    return Watch.objects.values_list("state", "holder").get(cluster=cluster, kind=kind)


def rests(cluster: Cluster, kind: str, as_state: WatchState) -> bool:
    """Whether nobody holds its lease, because there is nothing to watch."""
    return state(cluster, kind) == (as_state.value, "")


def watches(cluster: Cluster, kind: str) -> bool:
    found, holder = state(cluster, kind)
    return found == WatchState.WATCHING and holder != ""


def cards(node: str) -> int | None:
    """Total of a node as its row has it; None where it is not known."""
    return NodeTotals.objects.filter(node_name=node).values_list("cards_total", flat=True).first()


def config_maps(cluster: Cluster) -> set[str]:
    return set(ConfigMap.objects.filter(cluster=cluster).values_list("name", flat=True))


def unread(node: str) -> bool:
    return Finding.objects.filter(code="plugin-settings-unread", node_name=node, ended_at=None).exists()


def health(node: str) -> list[str]:
    return list(
        Card.objects.filter(node_name=node, gone_at=None).order_by("index", "key").values_list("health", flat=True)
    )


def test_the_config_map_of_a_plugin_appears_changes_and_goes(
    admin: Admin, objects: Callable[..., list[Json]], soon: Cluster
) -> None:
    objects(plugins.directx_node("win-0", 8), plugins.config_map("other", {"password": "not to be read"}))
    wait_until(lambda: rests(soon, "configmaps", WatchState.NOT_NEEDED), "no plugin names one, so nobody watches")
    objects(plugins.directx_plugin())
    wait_until(lambda: watches(soon, "configmaps"), "the plugin's ConfigMap is watched before it is there")
    wait_until(lambda: unread("win-0"), "that it is missing is told")
    (found,) = objects(plugins.settings("4"))
    wait_until(lambda: (cards("win-0"), unread("win-0")) == (2, False), "8 devices, 4 holders each, are 2 cards")
    admin.patch(found, {"data": {plugins.SETTINGS_KEY: "2"}})
    wait_until(lambda: cards("win-0") == 4, "the number changes")
    assert config_maps(soon) == {plugins.SETTINGS}
    assert "not to be kept" not in ConfigMap.objects.get().facts
    admin.delete(found)
    wait_until(lambda: unread("win-0") and not config_maps(soon), "it is gone, and so is what it said")
    admin.delete(plugins.directx_plugin())
    wait_until(lambda: rests(soon, "configmaps", WatchState.NOT_NEEDED), "its watcher ends with the plugin")


def test_a_config_map_that_may_not_be_read_is_said_with_the_rule_and_read_once_it_may(
    admin: Admin,
    plane: ControlPlane,
    objects: Callable[..., list[Json]],
    processes: Processes,
    tmp_path: Path,
    transactional_db: None,
) -> None:
    grant(admin, role("without-config-maps", nodes=READ, pods=READ, daemonsets=READ), "blind")
    cluster = clusters.add("test", str(as_user(plane, tmp_path, "blind")))
    objects(plugins.directx_node("win-0", 8), plugins.directx_plugin(), plugins.settings("4"))
    start(processes)
    wait_until(lambda: state(cluster, "configmaps")[0] == WatchState.REFUSED, "it is refused")
    assert "403" in Watch.objects.get(cluster=cluster, kind="configmaps").reason
    wait_until(lambda: unread("win-0"), "what is not known of the node is told")
    named = f'resources: ["configmaps"], resourceNames: ["{plugins.SETTINGS}"], verbs: ["get", "list", "watch"]'
    wait_until(lambda: named in processes.call("cluster", "check", "test"), "the rule that is missing is printed")
    rule = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [plugins.SETTINGS], "verbs": READ}
    grant(admin, {"metadata": {"name": "with-config-maps"}, "rules": [rule]}, "blind")
    wait_until(lambda: (cards("win-0"), unread("win-0")) == (2, False), "with that rule and nothing more it is read")
    wait_until(lambda: watches(cluster, "configmaps"), "and watched")
    assert named not in processes.call("cluster", "check", "test")


def test_the_shipped_role_reads_what_it_names_and_that_of_a_namespace_comes_with_a_role_of_its_own(
    admin: Admin,
    plane: ControlPlane,
    objects: Callable[..., list[Json]],
    processes: Processes,
    tmp_path: Path,
    transactional_db: None,
) -> None:
    grant(admin, shipped_role(), "shipped")
    cluster = clusters.add("test", str(as_user(plane, tmp_path, "shipped")))
    objects(plugins.directx_node("win-0", 8), plugins.directx_plugin(), plugins.settings("4"))
    objects(plugins.ascend_plugin(), plugins.ascend_node("npu-0", 2), plugins.chips("npu-0", [0], [1]))
    start(processes)
    wait_until(lambda: cards("win-0") == 2, "the one that may be read is")
    wait_until(lambda: state(cluster, "configmaps")[0] == WatchState.REFUSED, "that one is missing is said")
    assert "mx-consumer-cim" in Watch.objects.get(cluster=cluster, kind="configmaps").reason
    admin.patch(plugins.settings("4"), {"data": {plugins.SETTINGS_KEY: "8"}})
    wait_until(lambda: cards("win-0") == 1, "and it is followed")
    assert config_maps(cluster) == {plugins.SETTINGS}
    assert "unhealthy" not in health("npu-0")
    said = processes.call("cluster", "check", "test")
    assert "to grant it, add to a Role in the namespace kube-system (deploy/watcher-role-ascend.yaml)" in said
    (of_namespace,) = shipped("watcher-role-ascend.yaml")
    grant_in_namespace(admin, of_namespace, "shipped")
    wait_until(lambda: health("npu-0") == ["healthy", "unhealthy"], "with the Role of that namespace it is read, too")
    wait_until(lambda: watches(cluster, "configmaps"), "and nothing is refused any more")


def test_what_a_plugin_writes_for_each_node_is_read_by_its_label(
    admin: Admin, objects: Callable[..., list[Json]], soon: Cluster
) -> None:
    objects(plugins.ascend_plugin(), plugins.ascend_node("npu-0", 4), plugins.ascend_node("npu-1", 2))
    objects(plugins.config_map("unrelated", {"password": "not to be read"}, "kube-system"))
    (told, _) = objects(plugins.chips("npu-0", [0, 1, 3], [2]), plugins.chips("npu-1", [0, 1], []))
    wait_until(lambda: health("npu-0") == ["healthy", "healthy", "unhealthy", "healthy"], "which chip is unhealthy")
    wait_until(lambda: health("npu-1") == ["healthy"] * 2, "the other node is told by its own")
    assert config_maps(soon) == {"mindx-dl-deviceinfo-npu-0", "mindx-dl-deviceinfo-npu-1"}
    admin.patch(told, {"data": plugins.chips("npu-0", [0, 1, 2, 3], [])["data"]})
    wait_until(lambda: health("npu-0") == ["healthy"] * 4, "it is well again")
    admin.delete(told)
    wait_until(lambda: config_maps(soon) == {"mindx-dl-deviceinfo-npu-1"}, "what it said goes with it")


def test_devices_are_watched_from_when_they_are_served_until_they_are_not(
    admin: Admin, objects: Callable[..., list[Json]], soon: Cluster
) -> None:
    objects(plugins.koordinator_node("k-0", 2))
    wait_until(lambda: all_watching(soon), "Koordinator is not installed: nobody waits for its Devices")
    before = Watch.objects.get(cluster=soon, kind="devices").token
    (definition,) = objects(plugins.device_definition())
    wait_until(lambda: watches(soon, "devices"), "it is installed, and its Devices are watched")
    admin.create(plugins.device("k-0", [True, False]))
    wait_until(lambda: health("k-0") == ["healthy", "unhealthy"], "the cards that the agent reports")
    assert set(Card.objects.filter(node_name="k-0").values_list("uuid", flat=True)) >= {"GPU-k-0-0", "GPU-k-0-1"}
    admin.patch(plugins.device("k-0", []), {"spec": plugins.device("k-0", [True, True])["spec"]})
    wait_until(lambda: health("k-0") == ["healthy", "healthy"], "its health changes")
    admin.delete(plugins.device("k-0", []))
    wait_until(lambda: not Device.objects.exists() and "unhealthy" not in health("k-0"), "it goes")
    admin.create(plugins.device("k-0", [True, True]))
    wait_until(Device.objects.exists, "and comes back")
    admin.delete(definition)
    wait_until(lambda: rests(soon, "devices", WatchState.NOT_SERVED), "it is taken away")
    assert not Device.objects.exists()
    assert Watch.objects.get(cluster=soon, kind="devices").token > before


@pytest.fixture
def apis(plane: ControlPlane, fleet: Fleet) -> Iterator[Callable[..., None]]:
    yield plane.serve
    plane.serve()


def beta(node_name: str, memory: str) -> Json:
    """A slice as v1beta1 has it: what a device has stands under `basic`."""
    made = claims.resource_slice(node_name, [claims.card(0, node_name, memory)])
    devices = [
        {"name": one["name"], "basic": {key: value for key, value in one.items() if key != "name"}}
        for one in made["spec"]["devices"]
    ]
    return {
        **made,
        "apiVersion": "resource.k8s.io/v1beta1",
        "spec": {**made["spec"], "devices": devices},
    }


def memory_of(uuid: str) -> int | None:
    found = Card.objects.filter(uuid=uuid, gone_at=None).values_list("memory_total_bytes", flat=True).first()
    return found // 2**30 if found else None


def test_claims_of_a_cluster_that_serves_them_in_an_older_version_only_and_is_upgraded(
    admin: Admin,
    plane: ControlPlane,
    apis: Callable[..., None],
    objects: Callable[..., list[Json]],
    cluster: Cluster,
    processes: Processes,
) -> None:
    apis("resource.k8s.io/v1=false", "resource.k8s.io/v1beta1=true")
    objects(claims.node("dra-0"))
    admin.call("POST", BETA, beta("dra-0", "40Gi"))
    start(processes)
    wait_until(lambda: memory_of("GPU-dra-0-0") == 40, "cards by v1beta1")
    wait_until(lambda: watches(cluster, "resourceclaims"), "claims are watched, too")
    facts = ResourceSlice.objects.get().facts
    apis()  # the upgrade: v1 and no other
    wait_until(lambda: watches(cluster, "resourceslices"), "slices are watched in v1 now", 60)
    change = {"spec": claims.resource_slice("dra-0", [claims.card(0, "dra-0", "80Gi")])["spec"]}
    admin.patch(claims.resource_slice("dra-0", []), change)
    wait_until(lambda: memory_of("GPU-dra-0-0") == 80, "what comes now is followed", 60)
    assert facts.replace("40Gi", "80Gi") == ResourceSlice.objects.get().facts, "both versions are kept in one form"
    admin.delete(claims.resource_slice("dra-0", []))
    wait_until(lambda: not ResourceSlice.objects.exists(), "and what goes is gone")


def test_claims_that_are_not_served_are_found_when_they_are(
    admin: Admin,
    apis: Callable[..., None],
    objects: Callable[..., list[Json]],
    cluster: Cluster,
    processes: Processes,
) -> None:
    apis("resource.k8s.io/v1=false")
    objects(claims.node("dra-0"))
    start(processes)
    wait_until(lambda: rests(cluster, "resourceslices", WatchState.NOT_SERVED), "nobody watches slices")
    wait_until(lambda: rests(cluster, "resourceclaims", WatchState.NOT_SERVED), "nor claims")
    assert "does not serve" in processes.call("cluster", "check", "test")
    apis("resource.k8s.io/v1=false", "resource.k8s.io/v1beta2=true")
    wait_until(lambda: watches(cluster, "resourceslices"), "they are found in v1beta2", 60)
    made = {**claims.resource_slice("dra-0", [claims.card(0, "dra-0")]), "apiVersion": "resource.k8s.io/v1beta2"}
    admin.call("POST", BETA.replace("v1beta1", "v1beta2"), made)
    wait_until(lambda: memory_of("GPU-dra-0-0") == 80, "and read")
    apis()
    admin.delete(claims.resource_slice("dra-0", []))


def test_the_other_nodes_of_a_pool_are_counted_anew_when_one_of_its_slices_goes(
    admin: Admin, objects: Callable[..., list[Json]], soon: Cluster
) -> None:
    objects(claims.node("a"), claims.node("b"))
    parts = [claims.resource_slice(name, [claims.card(number, name)], count=2) for number, name in enumerate("ab")]
    for part in parts:
        part["spec"]["pool"]["name"] = "shared"
    objects(*parts)

    def incomplete() -> set[str]:
        rows = Finding.objects.filter(code="dra-pool-incomplete", ended_at=None)
        return set(rows.values_list("node_name", flat=True))

    wait_until(lambda: (cards("a"), cards("b")) == (1, 1), "both nodes have their card")
    assert incomplete() == set()
    admin.delete(parts[1])
    wait_until(lambda: "a" in incomplete(), "the other node learns that its pool is not whole any more")
    objects(parts[1])
    wait_until(lambda: not incomplete() and cards("b") == 1, "and that it is whole again")
