"""What is there beside what is needed: nothing differs where it was applied, and each field that matters is noticed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from stacks.engine.comparing import covers, differences, key_of
from stacks.engine.preparing import UnknownStack, prepare, setups
from stacks.engine.setup import DIFFERS, HIDDEN, MISSING, PRESENT, REMOVE, Found, Json, Key, Wanted
from tests.stacks.setup.cases import CASES
from tests.stacks.setup.clusters import card, cluster, control_plane, made, static_plugin, windows, workload
from tests.sweeps import first_and_rest

APPLIED = ("gpushare", "directx-alibaba", "directx-tensorworks")
ALL_NODES = [
    control_plane(),
    card("gpu-1", ("nvidia.com/gpu", "present", "NoSchedule"), gpushare="true", gpu="on"),
    windows("win-1"),
    windows(
        "win-2",
        "10.0.17763",
        **{
            "topology.kubernetes.io/region": "cn-hangzhou",
            "windows.alibabacloud.com/directx-supported": "true",
            "windows.alibabacloud.com/deployment-topology": "2.0",
        },
    ),
]


def found_of(stack: str) -> Found:
    """A cluster where all that is rendered was applied as it is."""
    return cluster("v1.30.4", ALL_NODES, *made(prepare(stack, cluster("v1.30.4", ALL_NODES))))


def states(stack: str, found: Found) -> dict[str, str]:
    return {one.what: one.state for one in prepare(stack, found).differences}


@pytest.mark.parametrize("stack", APPLIED)
def test_nothing_differs_where_it_was_applied(stack: str) -> None:
    prepared = prepare(stack, found_of(stack))
    assert prepared.agrees
    assert {one.state for one in prepared.differences} <= {PRESENT, HIDDEN}
    assert prepared.unseen == ()


@pytest.mark.parametrize("stack", APPLIED)
def test_nothing_is_there_in_an_empty_cluster(stack: str) -> None:
    prepared = prepare(stack, cluster("v1.30.4", ALL_NODES))
    kinds = {one.what.split()[0] for one in prepared.differences if one.state == MISSING}
    assert kinds == {thing["kind"] for thing in made(prepared)} - {"ConfigMap"}  # which is optional
    assert not prepared.agrees


def _fields(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all leaves."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _fields(inner, (*path, name))
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from _fields(inner, (*path, place))
    else:
        yield path


#: Endings of paths that do not decide whether it works, so that they may be as they like.
_NO_MATTER = {
    "gpushare": (("resources",), ("containers", 0, "securityContext"), ("metadata", "labels"), ("ServiceAccount",)),
    "directx-alibaba": (("metadata", "labels"),),
    "directx-tensorworks": (("imagePullPolicy",), ("env",), ("ConfigMap",), ("metadata", "labels")),
}


def _matters(stack: str, kind: str, path: tuple[Any, ...]) -> bool:
    if path[:1] in (("apiVersion",), ("kind",)) or path[:2] in (("metadata", "name"), ("metadata", "namespace")):
        return False
    if path[:2] == ("metadata", "labels") and kind != "Namespace":
        return False
    return not any(
        kind in part or _inside(part, path[2:]) for part in _NO_MATTER[stack] if part != ("metadata", "labels")
    )


def _inside(part: tuple[Any, ...], path: tuple[Any, ...]) -> bool:
    return any(path[place : place + len(part)] == part for place in range(len(path)))


@pytest.mark.parametrize("stack", APPLIED)
def test_each_field_that_matters_is_noticed(stack: str) -> None:
    found = found_of(stack)
    unnoticed = []
    for key, thing in dict(found.objects or {}).items():
        for path in _fields(thing):
            if not _matters(stack, key.kind, path):
                continue
            changed = copy.deepcopy(thing)
            inner = changed
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = {"changed": "changed"} if isinstance(inner[path[-1]], dict) else "changed"
            others = {**(found.objects or {}), key: changed}
            if states(stack, Found(version=found.version, nodes=found.nodes, objects=others)) == states(stack, found):
                unnoticed.append((key.kind, key.name, path))
    assert unnoticed == []


def test_what_the_api_server_adds_is_no_difference() -> None:
    found = found_of("gpushare")
    things = copy.deepcopy(dict(found.objects or {}))
    pod = things[Key("DaemonSet", "kube-system", "gpushare-device-plugin-ds")]["spec"]["template"]["spec"]
    pod |= {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler"}
    pod["volumes"][0]["hostPath"]["type"] = ""
    pod["containers"][0]["env"][1]["valueFrom"]["fieldRef"]["apiVersion"] = "v1"
    pod["containers"][0] |= {"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log"}
    pod["tolerations"].insert(0, {"operator": "Exists"})
    service = things[Key("Service", "kube-system", "gpushare-schd-extender")]["spec"]
    service |= {"clusterIP": "10.0.0.1", "sessionAffinity": "None"}
    service["ports"][0]["protocol"] = "TCP"
    assert prepare("gpushare", Found(version="v1.30.4", nodes=ALL_NODES, objects=things)).agrees


def test_a_role_that_lacks_a_right_is_named_with_it() -> None:
    found = found_of("gpushare")
    things = copy.deepcopy(dict(found.objects or {}))
    things[Key("ClusterRole", "", "gpushare-schd-extender")]["rules"][0]["resources"] = ["nodes"]
    prepared = prepare("gpushare", Found(version="v1.30.4", nodes=ALL_NODES, objects=things))
    (said,) = (one for one in prepared.differences if one.state == DIFFERS)
    assert said.what == "ClusterRole gpushare-schd-extender"
    assert said.says == "rules: lacks get configmaps, list configmaps, watch configmaps"


def test_a_role_may_grant_more_or_all() -> None:
    wanted = {"kind": "ClusterRole", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}
    star = {"kind": "ClusterRole", "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}
    named = {
        "kind": "ClusterRole",
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["a"]}],
    }
    assert differences(wanted, star) == []
    assert differences(wanted, named) == ["rules: lacks get pods"]


def test_the_memory_unit_that_is_there_stays() -> None:
    found = found_of("gpushare")
    things = copy.deepcopy(dict(found.objects or {}))
    container = things[Key("DaemonSet", "kube-system", "gpushare-device-plugin-ds")]["spec"]["template"]["spec"]
    container["containers"][0]["command"][-1] = "--memory-unit=MiB"
    assert prepare("gpushare", Found(version="v1.30.4", nodes=ALL_NODES, objects=things)).agrees


def test_a_plugin_that_cannot_start_without_its_config_map_is_told() -> None:
    variable = {
        "name": "WDDM_DEVICE_PLUGIN_MULTITENANCY",
        "valueFrom": {"configMapKeyRef": {"name": "device-plugin-config", "key": "multitenancy"}},
    }
    found = found_of("directx-tensorworks")
    things = copy.deepcopy(dict(found.objects or {}))
    space = "directx-device-plugins"
    pod = things[Key("DaemonSet", space, "device-plugin-wddm")]["spec"]["template"]["spec"]
    pod["containers"][0]["env"] = [variable]
    assert prepare("directx-tensorworks", Found(version="v1.30.4", nodes=ALL_NODES, objects=things)).agrees
    del things[Key("ConfigMap", space, "device-plugin-config")]
    prepared = prepare("directx-tensorworks", Found(version="v1.30.4", nodes=ALL_NODES, objects=things))
    assert [one.says for one in prepared.differences if one.state == DIFFERS] == [
        f"it needs the ConfigMap {space}/device-plugin-config, which does not exist: its pods do not start"
    ]


def test_nvidias_operator_agrees_and_its_cluster_policy_may_say_more() -> None:
    stack, found = CASES["nvidia-operator-24.9"]
    assert prepare(stack, found).agrees
    things = copy.deepcopy(dict(found.objects or {}))
    policy = things[Key("ClusterPolicy", "", "cluster-policy")]["spec"]
    policy["migManager"] = {"enabled": True}
    policy["operator"]["defaultRuntime"] = "docker"
    policy["driver"]["enabled"] = False
    prepared = prepare(stack, Found(version=found.version, nodes=found.nodes, objects=things))
    (said,) = (one for one in prepared.differences if one.state == DIFFERS)
    assert said.says == (
        'spec.operator.defaultRuntime: found "docker", needed "containerd"; '
        "spec.driver.enabled: found false, needed true"
    )


def test_hami_of_another_version_of_kubernetes_differs_by_its_image() -> None:
    stack, found = CASES["hami-1.30-chart-2.8"]
    (said,) = (one for one in prepare(stack, found).differences if one.state == DIFFERS)
    assert said.what == "Deployment gpu/hami-scheduler"
    assert said.says.endswith('needed "registry.example/kube-scheduler:v1.30.4"')
    things = copy.deepcopy(dict(found.objects or {}))
    pod = things[Key("Deployment", "gpu", "hami-scheduler")]["spec"]["template"]["spec"]
    pod["containers"][0]["image"] = "mirror.example:5000/kube-scheduler:v1.30.4"
    assert prepare(stack, Found(version=found.version, nodes=found.nodes, objects=things)).agrees


def test_of_the_alpha_resource_the_api_shows_what_nodes_offer() -> None:
    stack, found = CASES["alpha-1.9"]
    assert states(stack, found) == {
        "resource alpha.kubernetes.io/nvidia-gpu": MISSING,
        "label alpha.kubernetes.io/nvidia-gpu-name": MISSING,
        "host file kubelet-gate.env": HIDDEN,
    }


@pytest.mark.parametrize("stack", ["gpushare", "hami", "nvidia"])
def test_another_plugin_for_the_same_cards_is_to_go(stack: str) -> None:
    found = cluster("v1.30.4", ALL_NODES, static_plugin())
    prepared = prepare(stack, found)
    assert [one.what for one in prepared.differences if one.state == REMOVE] == [
        "DaemonSet kube-system/nvidia-device-plugin-daemonset"
    ]
    (commands,) = (file.text for file in prepared.files if file.name == "commands.sh")
    assert "kubectl delete daemonset nvidia-device-plugin-daemonset -n kube-system\n" in commands


def test_two_discoveries_are_told() -> None:
    one = workload("DaemonSet", "nfd", "nfd-worker", {"app": "nfd-worker"})
    labels = {"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}
    other = workload("DaemonSet", "gpu-operator", "worker", labels)
    assert states("nvidia", cluster("v1.36.0", ALL_NODES, one, other))["DaemonSet nfd/nfd-worker"] == REMOVE


@pytest.mark.parametrize("stack", ["alpha", "directx-alibaba", "directx-tensorworks", "gpushare", "hami", "nvidia"])
def test_without_objects_the_files_come_and_differences_are_not_known(stack: str) -> None:
    found = Found(version="v1.30.4", nodes=ALL_NODES)
    prepared = prepare(stack, found)
    assert prepared.files or stack == "alpha"
    assert not any(one.what.split()[0] in ("DaemonSet", "Deployment", "ClusterPolicy") for one in prepared.differences)
    assert len(prepared.unseen) == 1
    assert prepared.unseen[0].startswith("Differences are unknown")


def test_what_may_not_be_read_is_said_once_and_not_called_missing() -> None:
    hidden = (
        Wanted("Deployment", "kube-system", "gpushare-schd-extender"),
        Wanted("ClusterRole", "", "gpushare-schd-extender"),
        Wanted("DaemonSet"),
    )
    prepared = prepare("gpushare", Found(version="v1.30.4", nodes=ALL_NODES, objects={}, hidden=hidden))
    assert prepared.unseen == (
        "not visible: Deployment kube-system/gpushare-schd-extender, ClusterRole gpushare-schd-extender, every DaemonSet: the "
        "credentials may not read them. Run `kubectl get deployments gpushare-schd-extender -n kube-system -o yaml && kubectl get "
        "clusterroles gpushare-schd-extender -o yaml && kubectl get daemonsets --all-namespaces -o yaml`.",
    )
    told = {one.what for one in prepared.differences}
    assert not told & {"Deployment kube-system/gpushare-schd-extender", "ClusterRole gpushare-schd-extender"}
    assert not any(what.startswith("DaemonSet") for what in told)


def test_a_server_that_does_not_tell_its_version_gets_the_newest() -> None:
    prepared = prepare("gpushare", Found(version="unheard of", nodes=ALL_NODES, objects={}))
    assert prepared.warnings[0] == "The server version is unknown. The files are for Kubernetes 1.36."


def test_an_unknown_stack_names_those_that_there_are() -> None:
    with pytest.raises(UnknownStack, match="no stack 'gpu-share' to prepare for; there are: alpha, directx-alibaba, "):
        prepare("gpu-share", Found())
    assert sorted(setups()) == ["alpha", "directx-alibaba", "directx-tensorworks", "gpushare", "hami", "nvidia"]


_RECORDED = {"alpha": "alpha-1.9", "hami": "hami-1.30-chart-2.8", "nvidia": "nvidia-operator-25.10"}


def _parts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all values, those that hold others too."""
    for step, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield (*path, step)
        yield from _parts(inner, (*path, step))


STRANGE: tuple[Any, ...] = (None, 7, "text", [], ["text"], [[]], {}, {"spec": None})


@pytest.mark.parametrize("turn", first_and_rest((0, 3)))
@pytest.mark.parametrize("stack", ["alpha", "directx-alibaba", "directx-tensorworks", "gpushare", "hami", "nvidia"])
def test_objects_of_any_shape_raise_nothing(stack: str, turn: int) -> None:
    real = found_of(stack) if stack in APPLIED else CASES[_RECORDED[stack]][1]
    for key, thing in dict(real.objects or {}).items():
        for place, path in enumerate(_parts(thing)):
            changed: Json = copy.deepcopy(thing)
            inner: Any = changed
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = STRANGE[(place + turn) % len(STRANGE)]
            objects = {**(real.objects or {}), key: changed}
            prepare(stack, Found(version=real.version, nodes=real.nodes, objects=objects))


def test_covering() -> None:
    assert covers({"a": [1]}, {"a": [2, 1], "b": 1})
    assert not covers({"a": [1, 3]}, {"a": [2, 1]})
    assert covers(False, None)
    assert not covers(True, 1)
    assert key_of({}) == Key("", "", "")
