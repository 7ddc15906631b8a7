"""Which ConfigMaps are watched: those that the DaemonSets of plugins name. And what is kept of them: what a system declares."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from django.utils import timezone

from inventory import permissions
from inventory.mirror import config_maps
from inventory.mirror.kinds import KINDS
from inventory.mirror.store import Store
from inventory.models import Cluster, Watch
from inventory.models import ConfigMap as ConfigMapRow
from kube.config_maps import ConfigMap
from kube.objects import DaemonSet
from stacks.engine.base import Context, Selection
from stacks.engine.config_maps import MOST_PLACES, selections
from tests.controlplane import plugins
from tests.inventory.mirror.objects import decoded

Stores = Callable[[str], Store[Any]]


def daemonset(thing: dict[str, Any], uid: str = "uid-ds") -> DaemonSet:
    made: DaemonSet = decoded(DaemonSet, {**thing, "metadata": {**thing["metadata"], "uid": uid}})
    return made


def config_map(thing: dict[str, Any]) -> ConfigMap:
    metadata = {**thing["metadata"], "uid": f"uid-{thing['metadata']['name']}"}
    made: ConfigMap = decoded(ConfigMap, {**thing, "metadata": metadata})
    return made


def directx(name: str = plugins.SETTINGS, namespace: str = "default", uid: str = "uid-ds") -> DaemonSet:
    """TensorWorks' plugin with its number of holders in this ConfigMap."""
    text = json.dumps(plugins.directx_plugin()).replace(f'"{plugins.SETTINGS}"', json.dumps(name))
    thing = json.loads(text)
    thing["metadata"]["namespace"] = namespace
    return daemonset(thing, uid)


def listed(store: Stores, *found: DaemonSet) -> None:
    kept = store("daemonsets")
    kept.begin_replace()
    kept.add_page(found, [])
    kept.end_replace()


def watch() -> Watch:
    return Watch.objects.get(cluster__name="fresh", kind="configmaps")


def names() -> list[tuple[str, str]]:
    return [(one.namespace, one.name or one.label) for one in config_maps.chosen(watch().selection)]


def test_the_daemonsets_name_what_is_read_and_each_place_is_asked_for_by_itself(fresh: Cluster, store: Stores) -> None:
    listed(store, directx(), daemonset(plugins.ascend_plugin(), "uid-2"))
    config_maps.choose(fresh.id)
    assert names() == [("kube-system", "mx-consumer-cim=true"), ("default", plugins.SETTINGS)]
    asked = {(one.path, one.query) for one in KINDS["configmaps"].source(watch().selection).places}
    assert asked == {
        ("/api/v1/namespaces/kube-system/configmaps", (("labelSelector", "mx-consumer-cim=true"),)),
        ("/api/v1/namespaces/default/configmaps", (("fieldSelector", f"metadata.name={plugins.SETTINGS}"),)),
    }


def test_another_choice_is_listed_anew_and_the_same_changes_nothing(fresh: Cluster, store: Stores) -> None:
    listed(store, directx())
    config_maps.choose(fresh.id)
    Watch.objects.filter(pk=watch().pk).update(resource_version="7", state="watching", relist_reason="")
    before = watch()
    config_maps.choose(fresh.id)
    assert (watch().token, watch().resource_version, watch().state) == (before.token, "7", "watching")
    listed(store, directx("renamed"))
    config_maps.choose(fresh.id)
    assert names() == [("default", "renamed")]
    assert (watch().token, watch().resource_version, watch().state) == (before.token + 1, "", "waiting")
    assert watch().relist_reason == config_maps.CHANGED


def test_where_none_is_named_nobody_watches_and_why_is_said(fresh: Cluster) -> None:
    Watch.objects.filter(pk=watch().pk).update(selection="")
    assert watch().rests(timezone.now()), "not before the DaemonSets are read, either"
    config_maps.choose_nothing(fresh.id)
    assert (watch().state, watch().reason) == ("not-needed", config_maps.NOT_TOLD)
    config_maps.choose(fresh.id)
    assert (watch().state, watch().reason) == ("not-needed", config_maps.NOTHING)
    assert watch().rests(timezone.now())


def test_what_was_read_goes_before_it_rests(fresh: Cluster, store: Stores) -> None:
    listed(store, directx())
    config_maps.choose(fresh.id)
    ConfigMapRow.objects.create(
        cluster=fresh, uid="1", name=plugins.SETTINGS, namespace="default", facts="{}", digest=0
    )
    listed(store)
    config_maps.choose(fresh.id)
    assert watch().state == "waiting", "a watcher takes the rows away first"
    assert not watch().rests(timezone.now())


def test_daemonsets_that_may_not_be_read_any_more_leave_the_choice(fresh: Cluster, store: Stores) -> None:
    listed(store, directx())
    config_maps.choose(fresh.id)
    config_maps.choose_nothing(fresh.id)
    assert names() == [("default", plugins.SETTINGS)]


@pytest.mark.parametrize("name", ["a,metadata.namespace=kube-system", "a b", "A", "", "-a", "../a", "a" * 254, "ä"])
def test_what_is_no_name_is_not_asked_for(name: str) -> None:
    assert selections((directx(name),)) == ()


def test_no_more_places_are_watched_than_there_may_be_connections() -> None:
    many = tuple(directx(f"settings-{number:02}", uid=str(number)) for number in range(3 * MOST_PLACES))
    assert len(config_maps.places(selections(many))) == MOST_PLACES
    assert selections(many) == selections(many[::-1]), "whatever the order in which they are listed"


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"stack":1}]', "null"])
def test_a_choice_that_cannot_be_read_is_none(text: str) -> None:
    assert config_maps.chosen(text) == ()


def test_of_a_config_map_only_the_keys_that_are_read_are_kept() -> None:
    context = Context(now=0.0, selections=selections((directx(),)))
    row = config_maps.config_map_row(config_map(plugins.settings("4")), context)
    assert row is not None
    assert (row["namespace"], row["name"], row["node_name"]) == ("default", plugins.SETTINGS, "")
    assert '"multitenancy":"4"' in row["facts"]
    assert "not to be kept" not in row["facts"]
    other = plugins.config_map(plugins.SETTINGS, {plugins.SETTINGS_KEY: "4"}, "elsewhere")
    assert config_maps.config_map_row(config_map(other), context) is None, "of the same name in another namespace"


def test_what_speaks_of_a_node_makes_that_node_dirty_and_settings_all_of_their_system() -> None:
    context = Context(now=0.0, selections=selections((directx(), daemonset(plugins.ascend_plugin(), "2"))))
    settings = config_maps.config_map_row(config_map(plugins.settings("4")), context)
    told = config_maps.config_map_row(config_map(plugins.chips("npu-0", [0], [1])), context)
    assert settings is not None
    assert told is not None
    assert config_maps.dirty_by_config_map(str(settings["facts"])) == {("", "directx-tensorworks")}
    assert config_maps.dirty_by_config_map(str(told["facts"])) == {("npu-0", "")}
    assert config_maps.dirty_by_config_map("{") == {("", "")}


def test_each_choice_has_the_rule_that_admits_to_it(fresh: Cluster) -> None:
    chosen = (
        Selection("ascend", "kube-system", label="mx-consumer-cim=true"),
        Selection("directx-tensorworks", "gpu", name="mine", keys=("multitenancy",)),
        Selection("no-such-system", "gpu", name="other"),
    )
    Watch.objects.filter(pk=watch().pk).update(selection=msgspec.json.encode(chosen).decode())
    found = [one for one in permissions.of_cluster(fresh) if one.resource == "configmaps"]
    assert [(one.verb, one.namespace, one.name) for one in found] == [
        ("list", "kube-system", ""),
        ("watch", "kube-system", ""),
        ("list", "gpu", "mine"),
        ("watch", "gpu", "mine"),
    ]
    assert all(one.optional for one in found)
    assert found[0].rule == (
        "the Role in namespace kube-system (deploy/watcher-role-ascend.yaml): "
        'apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"]'
    )
    assert found[2].rule == (
        "the ClusterRole (deploy/watcher-role.yaml): "
        'apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["get", "list", "watch"]'
    )
