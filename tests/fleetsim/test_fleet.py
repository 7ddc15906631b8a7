"""The simulated fleet: no card is over-committed by accident, counts agree, life goes on, and a seed is a fleet."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import pytest

from fleetsim import Fleet
from fleetsim.fleetplan import NODES as NODES_OF_THE_FLEET
from fleetsim.mistakes import OVERCOMMITTED, OVERCOMMITTED_CARD
from fleetsim.resources import ALL, DAEMONSETS, NODES, PODS
from fleetsim.store import Store
from tests.fleetsim.conftest import START
from tests.sweeps import first_and_rest

Card = tuple[str, str]
MEM = "aliyun.com/gpu-mem"
#: Types whose ledgers count memory or percent of cards, while their resource counts devices.
NOT_BY_COUNT = ("hami-4090", "volcano-a40", "kai-l40s")


def holding(fleet: Fleet) -> list[dict[str, Any]]:
    """Pods that hold devices: bound, and not ended."""
    found = fleet.store.all(PODS)
    return [pod for pod in found if pod["spec"].get("nodeName") and pod["status"]["phase"] in ("Pending", "Running")]


def limit(pod: dict[str, Any], resource: str) -> int:
    return sum(int(one["resources"].get("limits", {}).get(resource, 0)) for one in pod["spec"]["containers"])


def promised(fleet: Fleet) -> dict[tuple[str, int], int]:
    """Memory units promised per (node, card), read from annotations alone as a client would."""
    cards: Counter[tuple[str, int]] = Counter()
    held = holding(fleet)
    reserved = {
        pod["metadata"]["labels"]["runai-gpu-group"]: pod["metadata"]["annotations"]["run.ai/reserve_for_gpu_index"]
        for pod in held
        if pod["metadata"]["namespace"] == "kai-resource-reservation"
    }
    for pod in held:
        annotations, node = pod["metadata"].get("annotations") or {}, pod["spec"]["nodeName"]
        if "ALIYUN_COM_GPU_MEM_IDX" in annotations:
            cards[node, int(annotations["ALIYUN_COM_GPU_MEM_IDX"])] += limit(pod, MEM)
        elif (
            text := annotations.get("scheduler.framework.gpushare.allocation", "{0:")
        ) != "{0:{1:4096}}" and text != "{0:":
            for container in json.loads(text).values():
                for card, units in container.items():
                    cards[node, int(card)] += units
        for key in ("hami.io/vgpu-devices-allocated", "volcano.sh/vgpu-ids-new"):
            machine = fleet.world.scheduler.by_name[node]
            for device in filter(None, annotations.get(key, "").rstrip(":;").split(":")):
                uuid, _, memory, _ = device.split(",")
                cards[node, machine.uuids.index(uuid)] += int(memory)
        for chip in filter(None, annotations.get("huawei.com/AscendReal", "").split(",")):
            cards[node, int(chip.removeprefix("Ascend910-"))] += 1
        if "gpu-fraction" in annotations:
            group = pod["metadata"]["labels"]["runai-gpu-group"]
            cards[node, machine.uuids.index(reserved[group])] += round(float(annotations["gpu-fraction"]) * 100)
    return dict(cards)


def check_no_card_is_over_committed(fleet: Fleet) -> None:
    over = {}
    for (node, card), units in promised(fleet).items():
        machine = fleet.world.scheduler.by_name[node]
        if card >= machine.kind.cards or units > machine.kind.units:
            over[node, card] = units
    assert over == {("gpu-v100-01", OVERCOMMITTED_CARD): sum(OVERCOMMITTED), ("gpu-t4-01", 4): 2}


def check_no_node_is_over_committed(fleet: Fleet) -> None:
    nodes = {node["metadata"]["name"]: node["status"]["allocatable"] for node in fleet.store.all(NODES)}
    asked: defaultdict[tuple[str, str], int] = defaultdict(int)
    resources = {name for machine in fleet.world.machines for name in machine.supplies}
    for pod in holding(fleet):
        for resource in resources:
            asked[pod["spec"]["nodeName"], resource] += limit(pod, resource)
    over = [key for key, amount in asked.items() if amount > int(nodes[key[0]].get(key[1], 0))]
    assert over == []


def check_the_ledgers_agree_with_the_pods(fleet: Fleet) -> None:
    bound: Counter[tuple[str, str]] = Counter()
    for pod in holding(fleet):
        machine = fleet.world.scheduler.by_name[pod["spec"]["nodeName"]]
        for resource in machine.supplies:
            bound[machine.name, resource] += limit(pod, resource)
    for machine in fleet.world.machines:
        for resource, supply in machine.supplies.items():
            if machine.kind.key not in NOT_BY_COUNT:
                held = supply.ledger.node_total - supply.ledger.node_free
                assert held == bound[machine.name, resource], (machine.name, resource)


def check_each_reservation_has_its_pods(fleet: Fleet) -> None:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for pod in holding(fleet):
        if group := pod["metadata"]["labels"].get("runai-gpu-group"):
            groups[group].append(pod["metadata"]["namespace"])
    assert groups
    for namespaces in groups.values():
        assert namespaces.count("kai-resource-reservation") == 1
        assert len(namespaces) > 1


def check_no_device_is_reported_twice(fleet: Fleet) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for pod in holding(fleet):
        for row in pod["status"].get("containerStatuses", []):
            for status in row.get("allocatedResourcesStatus", []):
                node = pod["spec"]["nodeName"]
                seen.update((node, device["resourceID"]) for device in status["resources"])
    assert seen
    assert max(seen.values()) == 1


@pytest.mark.sweep
def test_two_thousand_steps_break_no_promise_but_the_planted_ones() -> None:
    fleet = Fleet(seed=1, now=START)
    phases: Counter[str] = Counter()
    for step in range(2000):
        fleet.step(fleet.now + 2)
        if step % 40 == 0:
            check_no_card_is_over_committed(fleet)
            check_no_node_is_over_committed(fleet)
            check_the_ledgers_agree_with_the_pods(fleet)
            check_no_device_is_reported_twice(fleet)
            check_each_reservation_has_its_pods(fleet)
            phases.update(pod["status"]["phase"] for pod in fleet.store.all(PODS))
    assert set(phases) == {"Pending", "Running", "Succeeded", "Failed"}


@pytest.mark.sweep
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_other_seeds_break_none_either(seed: int) -> None:
    fleet = Fleet(seed=seed, now=START)
    for _ in range(300):
        fleet.step(fleet.now + 5)
    check_no_card_is_over_committed(fleet)
    check_no_node_is_over_committed(fleet)
    check_the_ledgers_agree_with_the_pods(fleet)


def dump(fleet: Fleet) -> str:
    return json.dumps({resource.plural: fleet.store.all(resource) for resource in ALL}, sort_keys=True)


def test_the_same_seed_and_steps_give_the_same_fleet() -> None:
    fleets = [Fleet(seed=seed, now=START) for seed in (7, 7, 8)]
    for fleet in fleets:
        for _ in range(200):
            fleet.step(fleet.now + 3)
    assert dump(fleets[0]) == dump(fleets[1])
    assert dump(fleets[0]) != dump(fleets[2])


def test_the_size_of_a_step_does_not_change_what_happens() -> None:
    fine, coarse = (Fleet(seed=7, now=START) for _ in range(2))
    for second in range(600):
        fine.step(START + second + 1)
    for minute in range(10):
        coarse.step(START + 60 * (minute + 1))
    assert dump(fine) == dump(coarse)


def test_a_long_sleep_is_not_caught_up_with() -> None:
    fleet = Fleet(seed=1, now=START)
    fleet.step(START + 10)
    version = fleet.store.version
    fleet.step(START + 8 * 3600)
    assert fleet.now == START + 8 * 3600
    assert fleet.store.version - version < 50


def test_time_does_not_go_back() -> None:
    fleet = Fleet(nodes=3, seed=1, now=START)
    fleet.step(START + 10)
    fleet.step(START - 10)
    assert fleet.now == START + 10


@pytest.mark.sweep
def test_about_two_thirds_are_allocated_over_time() -> None:
    fleet = Fleet(seed=5, now=START)
    shares = []
    for _ in range(60):
        fleet.step(fleet.now + 60)
        ledgers = [
            machine.ledger for machine in fleet.world.machines if machine.ledger is not None and machine.resource == MEM
        ]
        shares.append(sum(ledger.held_share for ledger in ledgers) / len(ledgers))
    assert 0.55 < sum(shares) / len(shares) < 0.75
    assert max(shares) - min(shares) > 0.01


def test_some_pods_always_wait_and_say_why() -> None:
    fleet = Fleet(seed=1, now=START)
    for _ in range(50):
        fleet.step(fleet.now + 60)
        waiting = [pod for pod in fleet.store.all(PODS) if not pod["spec"].get("nodeName")]
        known = [pod for pod in waiting if pod["status"].get("conditions")]
        assert len(known) >= 3
        for pod in known:
            [condition] = pod["status"]["conditions"]
            assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
            assert condition["message"].startswith(f"0/{NODES_OF_THE_FLEET} nodes are available: ")
    one_piece = [pod for pod in waiting if pod["metadata"]["labels"]["app"] == "vllm-20gib"]
    assert "1 Insufficient GPU Memory in one device" in one_piece[0]["status"]["conditions"][0]["message"]


def test_a_pod_goes_through_the_states_of_a_real_one() -> None:
    """What one gpushare v1 pod shows, event by event, from its creation to its end."""
    fleet = Fleet(seed=1, now=START)
    history: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    seen = fleet.store.version
    for step in range(2600):
        if step == 2400:  # those that came in ten minutes are not waited for any longer
            for pod in holding(fleet):
                if pod["metadata"]["uid"] in history and "deletionTimestamp" not in pod["metadata"]:
                    fleet.delete_pod(pod["metadata"]["namespace"], pod["metadata"]["name"], immediately=False)
        fleet.step(fleet.now + 0.25)
        before, seen = seen, fleet.store.version
        for entry in fleet.store.snapshot(PODS)[1] if seen > before else []:
            if entry.version > before:
                pod = fleet.store.get(PODS, entry.namespace, entry.key.split("/")[1])
                state = (
                    bool(pod["spec"].get("nodeName")),
                    (pod["metadata"].get("annotations") or {}).get("ALIYUN_COM_GPU_MEM_ASSIGNED"),
                    pod["status"]["phase"],
                    "deletionTimestamp" in pod["metadata"],
                )
                states = history[pod["metadata"]["uid"]]
                if not states or states[-1] != state:
                    states.append(state)
    whole = [states for states in history.values() if states[0] == (False, None, "Pending", False)]
    assert [
        (False, None, "Pending", False),
        (True, "false", "Pending", False),
        (True, "true", "Pending", False),
        (True, "true", "Running", False),
        (True, "true", "Running", True),
    ] in whole


def test_daemonsets_count_their_pods() -> None:
    fleet = Fleet(seed=1, now=START)
    pods = fleet.store.all(PODS)
    for daemonset in fleet.store.all(DAEMONSETS):
        uid = daemonset["metadata"]["uid"]
        own = [pod for pod in pods if any(row["uid"] == uid for row in pod["metadata"].get("ownerReferences", []))]
        ready = [
            pod
            for pod in own
            if ("Ready", "True") in {(row["type"], row["status"]) for row in pod["status"]["conditions"]}
        ]
        status = daemonset["status"]
        assert (status["desiredNumberScheduled"], status["numberReady"]) == (len(own), len(ready))


@pytest.mark.parametrize("nodes", first_and_rest([39, 1, 2, 5, 13, NODES_OF_THE_FLEET + 1, 300]))
def test_a_fleet_of_any_size_lives(nodes: int) -> None:
    fleet = Fleet(nodes=nodes, seed=1, now=START)
    version = fleet.store.version
    assert len(fleet.store.all(NODES)) == nodes
    for _ in range(40):
        fleet.step(fleet.now + 5)
    assert fleet.store.version > version


@pytest.mark.parametrize("owners", [None, "x", [], [None], ["x"], [{}], [{"uid": 7}], {"uid": "x"}])
def test_owners_of_any_shape_are_stored(owners: object) -> None:
    store = Store()
    store.create(PODS, {"metadata": {"namespace": "a", "name": "b", "ownerReferences": owners}})
    assert store.all(PODS, lambda one: one.owner == "")
    store.create(PODS, {"metadata": {"namespace": "a", "name": "c", "ownerReferences": [{"uid": "u"}]}})
    assert [pod["metadata"]["name"] for pod in store.all(PODS, lambda one: one.owner == "u")] == ["c"]


def test_a_fleet_needs_a_node() -> None:
    with pytest.raises(ValueError, match="at least one node"):
        Fleet(nodes=0)
