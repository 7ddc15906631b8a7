"""ResourceSlices as NVIDIA's driver of dynamic resource allocation publishes them, and the devices in them.

Where the driver may cut the cards, all that a card could be is listed at once, each device with what it would take of the card's
counters: since Kubernetes 1.35 one slice has the counters of all cards, and one more slice for each card its devices.
Source: kubernetes-sigs/dra-driver-nvidia-gpu 9593204, cmd/gpu-kubelet-plugin (driver.go, partitions.go, mig.go).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fleetsim.clock import DAY, rfc3339
from fleetsim.machines import Machine
from fleetsim.mig import SEVEN, Profile, profiles
from fleetsim.models import Model

DRIVER = "gpu.nvidia.com"
#: As the driver publishes versions: without the zero that 570.148.08 has.
_VERSION = "570.148.8"
_MIB = 1024 * 1024

Object = dict[str, Any]


@dataclass(frozen=True)
class Device:
    """One thing that a claim can be given. takes: of the counters of its card; empty where nothing else is the same card.

    memory: bytes. taint: key, value and effect, () for none.
    """

    pool: str
    name: str
    kind: str
    card: int
    memory: int
    profile: str = ""
    takes: dict[str, int] = field(default_factory=dict)
    taint: tuple[str, ...] = ()


def devices(machine: Machine) -> list[Device]:
    """What the driver of this node gives out, in the order in which it lists it."""
    model = machine.kind.model
    if model is None or not machine.kind.dra:
        return []
    found = []
    for card in range(machine.kind.cards):
        whole = Device(machine.name, f"gpu-{card}", "gpu", card, model.memory_mib * _MIB)
        if machine.kind.dra == "cards":
            found.append(whole)
            continue
        parts = [_instance(machine, card, one, start) for one in profiles(model) for start in one.starts]
        most = counters(model)
        found += sorted(
            [Device(machine.name, whole.name, "gpu", card, most["memory"], takes=most), *parts],
            key=lambda one: one.name,
        )
    return found


def counters(model: Model) -> dict[str, int]:
    """What a card has, which its instances share: the most that any of them has of each, and the memory slices."""
    largest = max(profiles(model), key=lambda one: one.slices)
    return _taken(largest) | {f"memory-slice-{number}": 1 for number in range(SEVEN)}


def _taken(one: Profile) -> dict[str, int]:
    copy, decoders, jpeg, ofa = one.engines
    return {
        "memory": one.memory_mib * _MIB,
        "multiprocessors": one.multiprocessors,
        "copy-engines": copy,
        "decoders": decoders,
        "encoders": 0,
        "jpeg-engines": jpeg,
        "ofa-engines": ofa,
    }


def _instance(machine: Machine, card: int, one: Profile, start: int) -> Device:
    name = f"gpu-{card}-mig-{one.name.replace('.', '').replace('+', '-')}-{one.number}-{start}"
    places = {f"memory-slice-{number}": 1 for number in range(start, start + one.size)}
    return Device(machine.name, name, "mig", card, one.memory_mib * _MIB, one.name, _taken(one) | places)


def slices(machine: Machine, found: list[Device], uids: list[str], letters: list[str], now: float) -> list[Object]:
    """The ResourceSlices of a node. uids, letters: for each slice its uid and the end of its name."""
    mine = [[one for one in found if one.card == card] for card in range(machine.kind.cards)]
    if machine.kind.dra == "cards":
        bodies: list[Object] = [{"devices": [_device(machine, one) for group in mine for one in group]}]
    else:
        bodies = [{"sharedCounters": [_counter_set(machine, card) for card in range(machine.kind.cards)]}]
        bodies += [{"devices": [_device(machine, one) for one in group]} for group in mine]
    pool = {"name": machine.name, "generation": 1, "resourceSliceCount": len(bodies)}
    return [
        {
            "metadata": {
                "name": f"{number:x}-{DRIVER}-{machine.name}-{letters[number]}",
                "generateName": f"{number:x}-{DRIVER}-{machine.name}-",
                "uid": uids[number],
                "generation": 1,
                "creationTimestamp": rfc3339(now - 12 * DAY),
                "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": machine.name, "controller": True}],
            },
            "spec": {"driver": DRIVER, "nodeName": machine.name, "pool": pool, **body},
        }
        for number, body in enumerate(bodies)
    ]


def _counter_set(machine: Machine, card: int) -> Object:
    assert machine.kind.model is not None, "a node of DRA has a model"
    return {"name": _set_name(card), "counters": _values(counters(machine.kind.model))}


def _set_name(card: int) -> str:
    return f"gpu-{card}-counter-set"


def _values(amounts: dict[str, int]) -> dict[str, Object]:
    return {name: {"value": _quantity(amount)} for name, amount in amounts.items()}


def _quantity(amount: int) -> str:
    """Canonical: bytes of whole MiB or GiB are written as these."""
    if amount and amount % (1024 * _MIB) == 0:
        return f"{amount // (1024 * _MIB)}Gi"
    return f"{amount // _MIB}Mi" if amount and amount % _MIB == 0 else str(amount)


def _device(machine: Machine, one: Device) -> Object:
    model = machine.kind.model
    assert model is not None, "a node of DRA has a model"
    texts = {"type": one.kind, "productName": model.name, "brand": "Nvidia", "architecture": model.family.title()}
    texts |= {"parentUUID": machine.uuids[one.card], "profile": one.profile} if one.profile else {}
    texts |= {} if one.profile else {"uuid": machine.uuids[one.card]}
    bus = f"0000:{0x1B + 0x20 * one.card:02x}:00.0"
    texts["resource.kubernetes.io/pciBusID"] = bus
    texts["resource.kubernetes.io/pcieRoot"] = f"pci0000:{0x15 + 0x20 * one.card:02x}"
    versions = {
        "cudaComputeCapability": f"{model.compute[0]}.{model.compute[1]}.0",
        "driverVersion": _VERSION,
        "cudaDriverVersion": "12.8.0",
    }
    capacity = {_camel(name): amount for name, amount in one.takes.items() if not name.startswith("memory-slice")}
    found: Object = {
        "name": one.name,
        "attributes": {name: {"string": value} for name, value in texts.items()}
        | {name: {"version": value} for name, value in versions.items()},
        "capacity": _values(capacity or {"memory": one.memory}),
    }
    if one.takes:
        found["consumesCounters"] = [{"counterSet": _set_name(one.card), "counters": _values(one.takes)}]
    if one.taint:
        key, value, effect = one.taint
        found["taints"] = [{"key": key, "value": value, "effect": effect}]
    return found


def _camel(name: str) -> str:
    """A counter's name as the capacity has it."""
    first, *rest = name.split("-")
    return first + "".join(word.title() for word in rest)
