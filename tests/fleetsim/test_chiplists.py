"""What Ascend's device plugin tells of chips in the simulated fleet: at any time those that no pod holds."""

from __future__ import annotations

import json

from fleetsim import Fleet
from fleetsim.ascend import CHIPS
from fleetsim.resources import CONFIGMAPS, NODES, PODS
from tests.fleetsim.client import Client
from tests.fleetsim.conftest import pass_time

LISTS = "/api/v1/namespaces/kube-system/configmaps"


def free(fleet: Fleet) -> dict[str, set[str]]:
    """Node → the chips that its list names as free."""
    found = {}
    for one in fleet.store.all(CONFIGMAPS, lambda one: one.namespace == "kube-system"):
        told = json.loads(one["data"]["DeviceInfoCfg"])["DeviceInfo"]["DeviceList"]
        found[one["metadata"]["name"].removeprefix("mindx-dl-deviceinfo-")] = set(filter(None, told[CHIPS].split(",")))
    return found


def held(fleet: Fleet) -> dict[str, set[str]]:
    """Node → the chips that its pods were given, or are about to get."""
    found: dict[str, set[str]] = {}
    for pod in fleet.store.all(PODS):
        chosen = (pod["metadata"].get("annotations") or {}).get(CHIPS, "")
        if chosen and pod["status"]["phase"] in ("Pending", "Running"):
            found.setdefault(pod["spec"]["nodeName"], set()).update(chosen.split(","))
    return found


def test_each_node_tells_the_chips_that_no_pod_holds(simulated: Fleet) -> None:
    total = {
        node["metadata"]["name"]: int(node["status"]["capacity"][CHIPS])
        for node in simulated.store.all(NODES)
        if CHIPS in node["status"]["capacity"]
    }
    told = set()
    for _ in range(20):
        rest, taken = free(simulated), held(simulated)
        assert rest.keys() == total.keys()
        for node, chips in rest.items():
            assert chips.isdisjoint(taken.get(node, set()))
            assert len(chips) + len(taken.get(node, ())) == total[node]
        told.add(json.dumps(sorted(map(sorted, rest.values()))))
        pass_time(simulated, 60, pace=5.0)
    assert len(told) > 1, "pods come and go, and the lists with them"


def test_they_are_served_by_their_label_and_by_name(api: Client, simulated: Fleet) -> None:
    (node,) = free(simulated)
    for query in ("labelSelector=mx-consumer-cim%3Dtrue", f"fieldSelector=metadata.name%3Dmindx-dl-deviceinfo-{node}"):
        assert [one["metadata"]["name"] for one in api.get(f"{LISTS}?{query}")["items"]] == [
            f"mindx-dl-deviceinfo-{node}"
        ]
    assert api.get(f"{LISTS}?fieldSelector=metadata.name%3Dother")["items"] == []
