"""Kinds that a cluster need not have or let be read: ConfigMaps of device plugins, Koordinator's Devices.

Each appears, changes and goes, with a real API server; one that is refused or not served costs nothing and comes when it may.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inventory import clusters
from inventory.models import Card, Cluster, ConfigMap, Device, Watch
from inventory.models.cluster import WatchState
from tests.cluster.agreement import all_watching
from tests.cluster.credentials import grant, grant_in_namespace, role
from tests.cluster.optional_kinds import (
    cards,
    config_maps,
    free,
    health,
    rests,
    start,
    state,
    unread,
    watches,
)
from tests.cluster.test_credentials import READ, as_user, shipped_role
from tests.controlplane import plugins
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json
from tests.processes import Processes
from tests.roles import shipped
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]


def test_the_config_map_of_a_plugin_appears_changes_and_goes(
    admin: Admin, objects: Callable[..., list[Json]], soon: Cluster
) -> None:
    objects(plugins.directx_node("win-0", 8), plugins.config_map("other", {"password": "not to be read"}))
    wait_until(lambda: rests(soon, "configmaps", WatchState.NOT_NEEDED), "no plugin names one, so not watched")
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
    assert "to grant it, add to the Role in namespace kube-system (deploy/watcher-role-ascend.yaml)" in said
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


def test_cards_that_gpushares_scheduler_leaves_out_are_not_free(
    admin: Admin, plane: ControlPlane, objects: Callable[..., list[Json]], processes: Processes, tmp_path: Path
) -> None:
    grant(admin, shipped_role(), "left-out")
    clusters.add("test", str(as_user(plane, tmp_path, "left-out")))
    objects(plugins.gpushare_plugin(), plugins.gpushare_node("share-0", 2, 15), plugins.gpushare_node("share-1", 2, 15))
    objects(plugins.config_map("unrelated", {"gpus": "0,1"}, "kube-system"))
    (told,) = objects(plugins.config_map("unhealthy-gpu-share-0", {"gpus": "1"}, "kube-system"))
    start(processes)
    wait_until(lambda: free("share-0") == [15, 15], "without the right to read it")
    said = processes.call("cluster", "check", "test")
    assert "to grant it, add to the Role in namespace kube-system (deploy/watcher-role-gpushare.yaml)" in said
    (of_namespace,) = shipped("watcher-role-gpushare.yaml")
    grant_in_namespace(admin, of_namespace, "left-out")
    wait_until(lambda: free("share-0") == [15, 0], "card 1 is given to nobody")
    assert health("share-0") == ["unknown", "unhealthy"]
    assert free("share-1") == [15, 15]
    admin.patch(told, {"data": {"gpus": "0"}})
    wait_until(lambda: free("share-0") == [0, 15], "now it is the other")
    admin.delete(told)
    wait_until(lambda: free("share-0") == [15, 15], "and none")


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
