"""The software of the demo's cluster: which objects there are, and that each state of a component is where the plan has it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.core.management import call_command

from fleetsim import Fleet, serve
from fleetsim.resources import ALL, DAEMONSETS, NODES, NVIDIADRIVERS, PODS
from fleetsim.upgrade import DONE, POOL, REQUIRED, RESTART, STATE, VALIDATION
from inventory.models import Component, Finding, Watch
from inventory.models.cluster import Kind
from kube.daemonset_nodes import obstacles
from kube.objects import DaemonSet, Pod
from tests.fleetsim.client import Client
from tests.fleetsim.conftest import START, node_of, pass_time
from tests.inventory.components.case import Case, made

#: States that are no news.
QUIET = ("ready", "not needed", "disabled")
_BEHIND = ("container-toolkit", "device-plugin", "gpu-feature-discovery", "dcgm-exporter", "operator-validator")
#: (node, component) → state of all that is not quiet, at the beginning. "": what the cluster has once.
PLANNED = {
    ("gpu-l40s-new-01", "driver"): "crash-looping",
    **{("gpu-l40s-new-01", name): "waiting" for name in _BEHIND},
    ("dev-t4-01", "device-plugin"): "crash-looping",
    **{("mig-a100-01", name): "paused" for name in ("device-plugin", "gpu-feature-discovery", "dcgm-exporter")},
    ("kai-l40s-01", "gpu-feature-discovery"): "pending",
    ("lab-p100-01", "gpushare-device-plugin"): "not ready",
    ("ackwinbj0001", "directx-alibaba"): "not ready",
    ("win-2025-01", "directx-wddm"): "missing",
    ("win-2025-01", "directx-mcdm"): "missing",
    ("mig-a30-01", "nfd-worker"): "missing",
    ("mig-a30-01", "driver"): "outdated",
    ("mps-a10-01", "driver"): "outdated",
    ("gpu-l40s-02", "driver"): "waiting",
    **{("gpu-l40s-02", name): "paused" for name in _BEHIND},
    ("mig-a100-02", "operator-validator"): "waiting",
    ("", "gpushare-scheduler-extender"): "pending",
    ("", "gpushare-scheduler-config"): "unknown",
    ("", "clusterpolicy/cluster-policy"): "not ready",
}
FIRST_CAUSES = {
    "gpu-l40s-new-01": "driver",
    "dev-t4-01": "device-plugin",
    "mig-a100-01": "mig-manager",
    "kai-l40s-01": "gpu-feature-discovery",
    "lab-p100-01": "gpushare-device-plugin",
    "ackwinbj0001": "directx-alibaba",
    "win-2025-01": "directx-wddm",
    "mig-a30-01": "nfd-worker",
    "gpu-l40s-02": "driver",
    "mig-a100-02": "operator-validator",
}
#: Of those, under way and nothing to be mended.
UNDER_WAY = {"gpu-l40s-02", "mig-a100-02"}
#: Silent: what its pods said is old.
SILENT = ("cpu-02", "nfd-worker")


def case(fleet: Fleet) -> Case:
    """The fleet's objects, through what the mirror keeps of them."""
    objects = [
        {"kind": resource.kind, "apiVersion": resource.api_version, **one}
        for resource in ALL
        for one in fleet.store.all(resource)
    ]
    return made(objects, "2026-05-28T20:26:40Z", {})  # START


def states(fleet: Fleet) -> dict[tuple[str, str], str]:
    """(node, component) → state of all that is not quiet."""
    found = case(fleet)
    said = {("", name): one.state for name, one in found.of_cluster().items()}
    for node in found.nodes:
        said |= {(node, name): one.state for name, one in found.of_node(node).statements.items()}
    return {key: state for key, state in said.items() if state not in QUIET}


def first_causes(fleet: Fleet) -> dict[str, str]:
    found = case(fleet)
    causes = {node: found.of_node(node).first_cause for node in found.nodes}
    return {node: cause for node, cause in causes.items() if cause}


def of_dra(key: tuple[str, str]) -> bool:
    """Its proof is in slices, which a case does not have."""
    return key[1] == "dra-kubelet-plugin"


@pytest.mark.parametrize("seed", [1, 2])
def test_each_state_is_where_the_plan_has_it_and_all_else_is_ready(seed: int) -> None:
    fleet = Fleet(seed=seed, now=START)
    found = {key: state for key, state in states(fleet).items() if not of_dra(key)}
    assert found.pop(SILENT) == "unknown"
    assert found == PLANNED
    causes = {node: cause for node, cause in first_causes(fleet).items() if cause != "dra-kubelet-plugin"}
    assert causes == FIRST_CAUSES


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("committed_database")
def test_the_product_mirrors_and_reconciles_the_same(tmp_path: Path) -> None:
    # Its database has a clock of its own, by which the upgrade would have stood still for months.
    fleet = Fleet(seed=1)
    with serve(fleet, live=False) as server:
        call_command("cluster", "add", "demo", "--kubeconfig", str(server.kubeconfig(tmp_path / "kubeconfig")))
        call_command("sync", "--once")
    rows = Component.objects.exclude(state__in=QUIET).values_list("node_name", "name", "state")
    found = {(node, name): state for node, name, state in rows}
    assert found.pop(SILENT) == "unknown"
    assert found == PLANNED
    assert dict(Component.objects.filter(first_cause=True).values_list("node_name", "name")) == FIRST_CAUSES
    assert set(Component.objects.values_list("state", flat=True)) == {*QUIET, *PLANNED.values(), "unknown"}
    told = set(Finding.objects.filter(code="software-not-ready", ended_at=None).values_list("node_name", flat=True))
    # A change of the MIG layout may take a while.
    assert told == {"", *FIRST_CAUSES} - UNDER_WAY - {"mig-a100-01"}
    steps = dict(Component.objects.filter(name="driver").exclude(step="").values_list("node_name", "step"))
    assert [steps[kind.name.format(number)] for kind, number, _ in POOL] == [state for _, _, state in POOL]
    states_of = dict(Watch.objects.values_list("kind", "state"))
    served = {Kind.DEPLOYMENTS, Kind.SERVICES, Kind.CLUSTERPOLICIES, Kind.DEVICECONFIGS}
    assert {states_of[kind] for kind in served} & {"not-served", "not-needed", "refused"} == set()
    assert {states_of[kind] for kind in (Kind.NVIDIADRIVERS, Kind.GPUCLUSTERS, Kind.GPUDEVICEPLUGINS)} == {"not-served"}


def placed(fleet: Fleet) -> set[tuple[str, str, str]]:
    """(namespace, DaemonSet, node) of each pod that one owns."""
    sets = {one["metadata"]["uid"]: one["metadata"] for one in fleet.store.all(DAEMONSETS)}
    found = set()
    for pod in fleet.store.all(PODS):
        for owner in pod["metadata"].get("ownerReferences") or []:
            if owner["kind"] == "DaemonSet":
                mine = sets[owner["uid"]]
                found.add((mine["namespace"], mine["name"], pod["spec"]["nodeName"]))
    return found


def selected(fleet: Fleet) -> set[tuple[str, str, str]]:
    """The same by the product's own rules of selectors, affinities and tolerations."""
    nodes = [node_of(one) for one in fleet.store.all(NODES)]
    found = set()
    for raw in fleet.store.all(DAEMONSETS):
        daemonset = msgspec.convert(raw, DaemonSet)
        template = daemonset.spec.template if daemonset.spec else None
        spec = template.spec if template else None
        assert spec is not None
        metadata = daemonset.metadata
        found |= {
            (metadata.namespace, metadata.name, node.metadata.name) for node in nodes if not obstacles(spec, node)
        }
    return found


def test_a_daemonset_has_a_pod_on_each_node_that_it_selects_and_on_no_other(simulated: Fleet) -> None:
    for _ in range(16):
        # The node that does not report keeps the pods that it has.
        kept = {one for one in placed(simulated) if one[2] == SILENT[0]}
        assert kept
        assert placed(simulated) - kept == {one for one in selected(simulated) if one[2] != SILENT[0]}
        pass_time(simulated, 60, pace=5)


def upgrade_states(fleet: Fleet) -> list[str]:
    nodes = {one["metadata"]["name"]: one["metadata"]["labels"] for one in fleet.store.all(NODES)}
    return [nodes[kind.name.format(number)][STATE] for kind, number, _ in POOL]


def test_the_upgrade_goes_through_the_pool_two_at_a_time_and_begins_again(simulated: Fleet) -> None:
    seen: list[list[str]] = [upgrade_states(simulated)]
    assert seen[0] == [DONE, VALIDATION, RESTART, REQUIRED, REQUIRED]
    for _ in range(60 * 6):
        pass_time(simulated, 10, pace=10)
        now = upgrade_states(simulated)
        seen += [now] if now != seen[-1] else []
        assert sum(state not in (DONE, REQUIRED) for state in now) <= 2
    assert [DONE] * 5 in seen
    after = seen[seen.index([DONE] * 5) + 1 :]
    assert after[0].count(REQUIRED) >= 3
    assert {state for row in after for state in row} >= {REQUIRED, RESTART, VALIDATION, DONE}


def test_a_node_on_its_way_has_no_workloads_and_offers_its_cards_again(simulated: Fleet) -> None:
    name, machine = "mps-a10-01", simulated.world.machine("mps-a10-01")
    assert machine is not None
    offered: list[str] = []
    was_without = 0
    for _ in range(60 * 4):
        pass_time(simulated, 5, pace=5)
        node = simulated.store.get(NODES, "", name)
        state = node["metadata"]["labels"][STATE]
        resources = [node["status"]["allocatable"][one] for one in machine.supplies]
        holders = [pod for pod in simulated.world.places.values() if pod.node == name]
        if state == RESTART:
            assert set(resources) == {"0"}
            assert not holders
            was_without += 1
        if state in (RESTART, VALIDATION):
            assert node["spec"]["unschedulable"] is True
        offered = resources
    assert was_without
    assert "0" not in offered
    assert "unschedulable" not in simulated.store.get(NODES, "", name)["spec"]


def test_a_small_fleet_has_no_upgrade_and_no_custom_resource_that_it_has_no_node_for() -> None:
    fleet = Fleet(nodes=3, seed=1, now=START)
    with serve(fleet, live=False) as server:
        client = Client(server)
        groups = [group["name"] for group in client.get("/apis")["groups"]]
        assert "nvidia.com" not in groups
        assert client.request("GET", "/apis/nvidia.com/v1/clusterpolicies").status == 404
        assert client.request("GET", "/apis/nvidia.com").status == 404
        client.pool.clear()
    assert fleet.upgrade.state == {}


def test_a_kind_is_served_once_there_is_an_object_of_it(api: Client, simulated: Fleet) -> None:
    versions = api.get("/apis/nvidia.com")
    assert [one["version"] for one in versions["versions"]] == ["v1"]
    assert api.request("GET", "/apis/nvidia.com/v1alpha1").status == 404
    simulated.store.create(NVIDIADRIVERS, {"metadata": {"name": "default", "uid": "d-1"}, "spec": {}})
    versions = api.get("/apis/nvidia.com")
    assert [one["version"] for one in versions["versions"]] == ["v1", "v1alpha1"]
    assert [row["name"] for row in api.get("/apis/nvidia.com/v1alpha1")["resources"]] == ["nvidiadrivers"]
    [item] = api.get("/apis/nvidia.com/v1alpha1/nvidiadrivers")["items"]
    assert item["metadata"]["name"] == "default"


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/apis/nvidia.com/v1/clusterpolicies", {"cluster-policy"}),
        ("/apis/amd.com/v1alpha1/deviceconfigs", {"gpu-config"}),
        (
            "/apis/apps/v1/deployments",
            {
                *("gpu-operator", "gpushare-schd-extender", "hami-scheduler", "dra-driver-nvidia-gpu-controller"),
                *("gpu-operator-node-feature-discovery-master", "gpu-operator-node-feature-discovery-gc"),
            },
        ),
        (
            "/api/v1/namespaces/kube-system/services?fieldSelector=metadata.name%3Dgpushare-schd-extender",
            {"gpushare-schd-extender"},
        ),
    ],
)
def test_software_is_listed_and_watched(api: Client, path: str, names: set[str]) -> None:
    found = api.get(path)
    assert {one["metadata"]["name"] for one in found["items"]} == names
    kind = found["kind"].removesuffix("List")
    more = "&" if "?" in path else "?"
    watched = f"{path}{more}watch=true&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=0"
    events = [json.loads(line) for line in api.request("GET", watched).data.splitlines()]
    kinds = Counter(event["type"] for event in events)
    assert kinds["ADDED"] == len(names)
    assert kinds["BOOKMARK"] >= 1
    assert {event["object"]["kind"] for event in events} == {kind}


def test_pods_of_daemonsets_are_of_the_revision_that_their_set_counts(simulated: Fleet) -> None:
    sets: dict[str, dict[str, Any]] = {one["metadata"]["uid"]: one for one in simulated.store.all(DAEMONSETS)}
    old: Counter[str] = Counter()
    for raw in simulated.store.all(PODS):
        pod = msgspec.convert(raw, Pod)
        for owner in pod.metadata.ownerReferences or ():
            if owner.kind == "DaemonSet":
                images = [one["image"] for one in sets[owner.uid]["spec"]["template"]["spec"]["containers"]]
                old[owner.name] += [one.image for one in (pod.spec.containers if pod.spec else None) or ()] != images
    assert +old == {"nvidia-driver-daemonset": 2}
    driver = next(one for one in sets.values() if one["metadata"]["name"] == "nvidia-driver-daemonset")
    status = driver["status"]
    assert status["desiredNumberScheduled"] - status["updatedNumberScheduled"] == 2
    assert driver["spec"]["updateStrategy"] == {"type": "OnDelete"}
    assert driver["metadata"]["ownerReferences"][0]["kind"] == "ClusterPolicy"
