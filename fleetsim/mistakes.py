"""What is wrong in the demo's cluster, on purpose: the mistakes that real clusters show, each once and always the same.

| what | where |
| --- | --- |
| a card over-committed, 36 of 31 GiB | first V100 node, card 2 |
| a card promised by memory and as a whole | first edge node: gpushare and NVIDIA's plugin on one card |
| card index out of range (4 of 0..3) | first T4 node |
| a bound pod without a card | second T4 node (last one of a small fleet) |
| assumed three hours ago and never assigned (two GPU containers, which gpushare v1 cannot serve) | third T4 node |
| NVIDIA_VISIBLE_DEVICES=all set by hand | second V100 node |
| an allocation annotation that is no JSON | first ACK A10 node |
| allocatable below capacity (7 of 8) | last A100 node |
| gpu-mem without gpu-count | the P100 node |
| GPU label without a resource | `nodetypes.UNSERVED`, `L40S_WAITING`, `ALIBABA_BEIJING` |
| software that is not ready | `softwarecases.py` |
| GiB and MiB nodes in one cluster | `nodetypes.py` |
| a device that its driver has tainted, after an XID error | second DRA node, the last card |

What waits for claims, or shares one, is in `claimcases.py`.

No mistakes, but just as lasting: the second H100 node is full, so that a run on it stays unschedulable; the last ACK
Windows node and the first AKS node have a holder of their one device.

A small fleet has those for which it has the node. Pods of mistakes never end by themselves.
"""

from __future__ import annotations

from typing import Any

from fleetsim import pods, teams
from fleetsim.clock import DAY, HOUR, rfc3339, unix
from fleetsim.ledger import Parts
from fleetsim.life import Life
from fleetsim.machines import Machine
from fleetsim.nodes import conditions
from fleetsim.nodetypes import (
    A10_GIB,
    A10_MIB,
    A100,
    AKS,
    ALIBABA_DIRECTX,
    ALIBABA_WINDOWS,
    CPU,
    EDGE_GIB,
    H100,
    P100_GIB,
    T4_GIB,
    V100_GIB,
    NodeType,
)
from fleetsim.resources import NODES, PODS
from fleetsim.systems import GPU_COUNT, GPU_MEM, NVIDIA_GPU, V2, Place, v1_annotations
from fleetsim.world import World

Pod = dict[str, Any]

#: Node → device → key, value and effect of the taint that its driver has put on it.
TAINTED = {"dra-h100-02": {"gpu-3": ("gpu.nvidia.com/xid", "79", "NoSchedule")}}
#: The over-committed card: its index and what it was promised, GiB.
OVERCOMMITTED_CARD, OVERCOMMITTED = 2, (16, 12, 8)


def plant(world: World, life: Life) -> None:
    """Put all mistakes and the pods that wait for ever into an empty fleet, before its nodes are filled."""
    for action in (_overcommit, _promise_twice, _wrong_index, _no_card, _never_assigned, _visible_devices, _no_json):
        action(world)
    _fill_for_ever(world)
    _lose_a_card(world)
    _no_count(world)
    _wait_for_one_piece(world, life)
    _wait_for_too_many(world, life)
    _wait_without_toleration(world, life)


def disturb(world: World) -> None:
    """After the nodes are filled: the last V100 node is cordoned (when there are two), the last CPU node is silent."""
    cordoned = _nodes(world, V100_GIB)[1:][-1:]
    for machine in cordoned:
        machine.cordoned = True
        node = world.store.get(NODES, "", machine.name)
        node["spec"]["unschedulable"] = True
        node["spec"]["taints"] = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
        # As `kubectl cordon` leaves it.
        node["metadata"]["managedFields"] = [
            {
                "manager": "kubectl-cordon",
                "operation": "Update",
                "apiVersion": "v1",
                "time": rfc3339(world.now - 2 * DAY),
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:unschedulable": {}}},
            }
        ]
        world.store.replace(NODES, node)
    for machine in _nodes(world, CPU)[-1:]:
        machine.ready = False
        node = world.store.get(NODES, "", machine.name)
        since = world.now - 5 * HOUR
        node["status"]["conditions"] = conditions(world.now, since, "Unknown")
        node["spec"]["taints"] = [
            {"key": "node.kubernetes.io/unreachable", "effect": effect, "timeAdded": rfc3339(since)}
            for effect in ("NoSchedule", "NoExecute")
        ]
        world.store.replace(NODES, node)


def _nodes(world: World, kind: NodeType) -> list[Machine]:
    return [machine for machine in world.machines if machine.kind is kind]


def _nth(world: World, kind: NodeType, number: int) -> Machine | None:
    """The node of this type with this number (from 0), the last one when there are fewer, None when there is none."""
    machines = _nodes(world, kind)
    return machines[min(number, len(machines) - 1)] if machines else None


def new_pod(world: World, namespace: str, name: str, limits: list[dict[str, str]], age: float, owner: str) -> Pod:
    containers = [
        pods.container("main" if index == 0 else f"side-{index}", f"registry.demo/{namespace}/{name}:1", one)
        for index, one in enumerate(limits)
    ]
    full = world.free_name(namespace, name)
    pod = pods.new(namespace, full, teams.uid(world.rng), containers, world.now - age)
    pod["metadata"]["labels"] = {"app": name, "team": namespace}
    pod["metadata"]["annotations"] = {}
    pod["metadata"]["ownerReferences"] = [pods.owner(owner, name, teams.uid(world.rng))]
    return pod


def run(world: World, pod: Pod, machine: Machine, age: float) -> None:
    at = world.now - age
    pods.bind(pod, machine.name, at + 1)
    pods.creating(pod, machine.ip, at + 2)
    pods.running(pod, world.next_ip(), at + 6, *world.devices_of(pod))
    world.store.create(PODS, pod)


def _hold(world: World, pod: Pod, machine: Machine, parts: Parts, loose: int = 0) -> None:
    supply = machine.supplies.get(machine.resource)
    if supply is not None:
        supply.hold(pod["metadata"]["uid"], parts, loose)
    place = Place(machine.name, parts, machine.uuids, machine.kind.units, machine.resource)
    world.places[pod["metadata"]["uid"]] = place
    world.tenancies.begin(pod, place, unix(pod["metadata"]["creationTimestamp"]))


def _v1_pod(world: World, name: str, machine: Machine, units: int, card: int, age: float) -> Pod:
    pod = new_pod(world, "team-llm", name, [{GPU_MEM: str(units)}], age, "ReplicaSet")
    annotations = v1_annotations(card, units, machine.kind.units, world.now - age + 2, assigned=True)
    pod["metadata"]["annotations"] = annotations
    return pod


def _overcommit(world: World) -> None:
    machine = _nth(world, V100_GIB, 0)
    if machine is None:
        return
    for number, units in enumerate(OVERCOMMITTED):
        pod = _v1_pod(
            world,
            ("vllm-chat", "vllm-code", "reranker-hot")[number],
            machine,
            units,
            OVERCOMMITTED_CARD,
            (9 - number) * DAY,
        )
        _hold(world, pod, machine, {OVERCOMMITTED_CARD: (units, 0)})
        run(world, pod, machine, (9 - number) * DAY)


def _promise_twice(world: World) -> None:
    machine = _nth(world, EDGE_GIB, 0)
    if machine is None:
        return
    node = world.store.get(NODES, "", machine.name)
    for field in ("capacity", "allocatable"):
        node["status"][field][NVIDIA_GPU] = "1"
    world.store.replace(NODES, node)
    by_memory = _v1_pod(world, "gateway-ocr", machine, 6, 0, 12 * DAY)
    _hold(world, by_memory, machine, {0: (6, 0)})
    run(world, by_memory, machine, 12 * DAY)
    whole = new_pod(world, "team-vision", "edge-recorder", [{NVIDIA_GPU: "1"}], 3 * DAY, "StatefulSet")
    run(world, whole, machine, 3 * DAY)


def _wrong_index(world: World) -> None:
    machine = _nth(world, T4_GIB, 0)
    if machine is None:
        return
    pod = _v1_pod(world, "asr-moved", machine, 2, machine.kind.cards, 20 * DAY)
    _hold(world, pod, machine, {}, loose=2)
    run(world, pod, machine, 20 * DAY)


def _no_card(world: World) -> None:
    machine = _nth(world, T4_GIB, 1)
    if machine is None:
        return
    pod = new_pod(world, "team-search", "pinned-by-hand", [{GPU_MEM: "3"}], 6 * DAY, "ReplicaSet")
    _hold(world, pod, machine, {}, loose=3)
    run(world, pod, machine, 6 * DAY)


def _never_assigned(world: World) -> None:
    machine = _nth(world, T4_GIB, 2)
    if machine is None:
        return
    at = world.now - 3 * HOUR
    pod = new_pod(world, "team-speech", "two-stage-asr", [{GPU_MEM: "2"}, {GPU_MEM: "2"}], 3 * HOUR, "ReplicaSet")
    pod["metadata"]["annotations"] = v1_annotations(0, 4, machine.kind.units, at + 1, assigned=False)
    _hold(world, pod, machine, {0: (4, 0)})
    world.tenancies.end(pod["metadata"]["uid"], at)  # its containers never begin
    pods.bind(pod, machine.name, at + 1)
    pods.creating(pod, machine.ip, at + 2)
    world.store.create(PODS, pod)


def _visible_devices(world: World) -> None:
    machine = _nth(world, V100_GIB, 1)
    if machine is None:
        return
    pod = _v1_pod(world, "debug-all-gpus", machine, 5, 0, 30 * HOUR)
    pod["spec"]["containers"][0]["env"] = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
    _hold(world, pod, machine, {0: (5, 0)})
    run(world, pod, machine, 30 * HOUR)


def _no_json(world: World) -> None:
    machine = _nth(world, A10_MIB, 0)
    if machine is None:
        return
    pod = new_pod(world, "team-search", "index-restored", [{GPU_MEM: "4096"}], 2 * DAY, "StatefulSet")
    pod["metadata"]["annotations"] = {
        f"{V2}.allocation": "{0:{1:4096}}",
        f"{V2}.assigned": "true",
        f"{V2}.assume-time": str(int((world.now - 2 * DAY) * 1e9)),
    }
    _hold(world, pod, machine, {}, loose=4096)
    run(world, pod, machine, 2 * DAY)


def _fill_for_ever(world: World) -> None:
    for machine in _nodes(world, ALIBABA_WINDOWS)[1:][-1:] + _nodes(world, AKS)[:1]:
        pod = new_pod(world, "render-farm", "cad-stream", [{machine.resource: "1"}], 4 * DAY, "StatefulSet")
        _hold(world, pod, machine, {0: (1, 0)})
        run(world, pod, machine, 4 * DAY)
    for machine in _nodes(world, H100)[1:2]:
        pod = new_pod(
            world, "team-llm", "pretrain-30b-worker", [{NVIDIA_GPU: str(machine.kind.cards)}], 8 * DAY, "PyTorchJob"
        )
        _hold(world, pod, machine, dict.fromkeys(range(machine.kind.cards), (1, 0)))
        run(world, pod, machine, 8 * DAY)


def _lose_a_card(world: World) -> None:
    machine = _nth(world, A100, 10_000)
    if machine is None or machine.ledger is None:
        return
    machine.ledger.disable(machine.kind.cards - 1)
    node = world.store.get(NODES, "", machine.name)
    node["status"]["allocatable"][NVIDIA_GPU] = str(machine.kind.cards - 1)
    world.store.replace(NODES, node)


def _no_count(world: World) -> None:
    machine = _nth(world, P100_GIB, 0)
    if machine is None:
        return
    machine.supplies.clear()
    node = world.store.get(NODES, "", machine.name)
    for field in ("capacity", "allocatable"):
        node["status"][field][GPU_COUNT] = "0"
    world.store.replace(NODES, node)


def wait(world: World, life: Life, pod: Pod) -> None:
    """A pod that the scheduler tries again and again and that never fits."""
    world.store.create(PODS, pod)
    key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
    life.try_schedule("planted", key)


def _wait_for_one_piece(world: World, life: Life) -> None:
    """Both cards of the A10 node have 11 GiB free: 22 in all, and no card has 20 in one piece."""
    machine = _nth(world, A10_GIB, 0)
    if machine is None:
        return
    for card in range(machine.kind.cards):
        anchor = _v1_pod(world, f"chat-anchor-{card}", machine, 11, card, 25 * DAY)
        _hold(world, anchor, machine, {card: (11, 0)})
        run(world, anchor, machine, 25 * DAY)
    pod = new_pod(world, "team-llm", "vllm-20gib", [{GPU_MEM: "20"}], 5 * HOUR, "ReplicaSet")
    pod["spec"]["nodeSelector"] = {"pool": machine.kind.pool}
    wait(world, life, pod)


def _wait_for_too_many(world: World, life: Life) -> None:
    pod = new_pod(world, "team-llm", "pretrain-70b", [{NVIDIA_GPU: "16"}], 26 * HOUR, "PyTorchJob")
    wait(world, life, pod)


def _wait_without_toleration(world: World, life: Life) -> None:
    pod = new_pod(world, "qa-windows", "uitest-no-toleration", [{ALIBABA_DIRECTX: "1"}], 40 * 60, "Job")
    pod["spec"]["nodeSelector"] = {"kubernetes.io/os": "windows"}
    wait(world, life, pod)
