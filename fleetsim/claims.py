"""Dynamic resource allocation in the demo: claims are made for pods, given devices when a pod is bound, and taken away with it.

The parts of three programs: the resource claim controller makes and deletes claims, kube-scheduler allocates and reserves them, and
a driver publishes what there is (see `dra.py`). Source: kubernetes/kubernetes 1.36, pkg/controller/resourceclaim and
pkg/scheduler/framework/plugins/dynamicresources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fleetsim import dra, teams
from fleetsim.asks import Ask
from fleetsim.clock import rfc3339
from fleetsim.dra import DRIVER, Device
from fleetsim.machines import Machine
from fleetsim.resources import RESOURCECLAIMS, RESOURCESLICES

if TYPE_CHECKING:
    from fleetsim.world import World

Pod = dict[str, Any]
Claim = dict[str, Any]
#: Claim name → the devices that it would get.
Given = dict[str, list[Device]]

#: kube-scheduler's words for a node that has not all that the claims of a pod ask for.
REFUSAL = "cannot allocate all claims"
FINALIZER = "resource.kubernetes.io/delete-protection"
CLASSES = {"gpu.nvidia.com": "gpu", "mig.nvidia.com": "mig"}
_PROFILE = re.compile(r"device\.attributes\['gpu\.nvidia\.com'\]\.profile == '([^']+)'")
_MEMORY = re.compile(r"device\.capacity\['gpu\.nvidia\.com'\]\.memory\.compareTo\(quantity\('([0-9]+)Gi'\)\) >= 0")


def claim(namespace: str, name: str, uid: str, ask: Ask, now: float) -> Claim:
    """A claim that nothing has been given to."""
    request: dict[str, Any] = {"deviceClassName": ask.device_class}
    if ask.selectors:
        request["selectors"] = [{"cel": {"expression": text}} for text in ask.selectors]
    request |= {"allocationMode": "ExactCount", "count": ask.count} if ask.count else {"allocationMode": "All"}
    request |= {"adminAccess": True} if ask.admin else {}
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": uid, "creationTimestamp": rfc3339(now)},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": request}]}},
        "status": {},
    }


class Claims:
    """All claims and devices of one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._devices: dict[str, list[Device]] = {}
        self._holders: dict[tuple[str, str], str] = {}

    def publish(self, machine: Machine, taints: Mapping[str, tuple[str, ...]]) -> None:
        """The driver of this node lists what it gives out. taints: device → key, value and effect."""
        found = dra.devices(machine)
        if not found:
            return
        found = [_tainted(one, taints.get(one.name, ())) for one in found]
        self._devices[machine.name] = found
        number = 1 if machine.kind.dra == "cards" else machine.kind.cards + 1
        uids = [teams.uid(self.world.rng) for _ in range(number)]
        letters = [teams.letters(self.world.rng, 5) for _ in range(number)]
        for one in dra.slices(machine, found, uids, letters, self.world.now):
            self.world.store.create(RESOURCESLICES, one)

    def held(self, node: str) -> tuple[float, float]:
        """(what claims hold of the node's cards, what there is), in bytes of memory."""
        mine = self._devices.get(node, [])
        taken = sum(one.memory for one in mine if (node, one.name) in self._holders)
        return taken, sum(one.memory for one in mine if one.kind == "gpu")

    def make(self, pod: Pod, ask: Ask, now: float) -> None:
        """The controller makes the claim of a pod that names a template, before anybody schedules the pod."""
        metadata = pod["metadata"]
        namespace, prefix = metadata["namespace"], f"{metadata['name']}-gpu"
        name = f"{prefix}-{teams.letters(self.world.rng, 5)}"
        made = claim(namespace, name, teams.uid(self.world.rng), ask, now)
        made["metadata"] |= {
            "generateName": f"{prefix}-",
            "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": metadata["name"],
                    "uid": metadata["uid"],
                    "controller": True,
                }
            ],
        }
        self.world.store.create(RESOURCECLAIMS, made)
        pod["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": name}]

    def of(self, pod: Pod) -> list[Claim] | None:
        """The claims of a pod; None while one of them is not there."""
        made = {one["name"]: one["resourceClaimName"] for one in pod["status"].get("resourceClaimStatuses") or []}
        names = [
            one.get("resourceClaimName") or made.get(one["name"], "") for one in pod["spec"].get("resourceClaims") or []
        ]
        namespace, store = pod["metadata"]["namespace"], self.world.store
        if not all(store.has(RESOURCECLAIMS, namespace, name) for name in names):
            return None
        return [store.get(RESOURCECLAIMS, namespace, name) for name in names]

    def devices_of(self, pod: Pod) -> list[Device]:
        """What the claims of a pod were given, admin access aside."""
        results = [row for one in self.of(pod) or [] for row in _results(one) if not row.get("adminAccess")]
        known = {(row["pool"], row["device"]) for row in results}
        return [one for pool in {pool for pool, _ in known} for one in self._devices[pool] if (pool, one.name) in known]

    def fit(self, pod: Pod, machine: Machine) -> Given | str:
        """The devices for all claims of the pod on this machine, or why there are none."""
        claims = self.of(pod)
        if claims is None:
            return REFUSAL
        given: Given = {}
        for one in claims:
            allocated = _results(one)
            if allocated:
                if allocated[0]["pool"] != machine.name:
                    return "node(s) didn't match the node selector of an allocated claim"
                continue
            found = self._choose(one, machine, [device for group in given.values() for device in group])
            if found is None:
                return REFUSAL
            given[one["metadata"]["name"]] = found
        return given

    def _choose(self, one: Claim, machine: Machine, chosen: list[Device]) -> list[Device] | None:
        """The first devices, in the driver's order, that the request admits and that are free."""
        request = one["spec"]["devices"]["requests"][0]["exactly"]
        mine = self._devices.get(machine.name, [])
        admitted = [device for device in mine if _admits(request, device)]
        if request.get("adminAccess"):
            return admitted or None
        found: list[Device] = []
        for device in admitted:
            if len(found) < request["count"] and self._free(device, [*chosen, *found]):
                found.append(device)
        return found if len(found) == request["count"] else None

    def _free(self, device: Device, chosen: list[Device]) -> bool:
        if (device.pool, device.name) in self._holders or device in chosen or device.taint[2:] == ("NoSchedule",):
            return False
        mine = self._devices[device.pool]
        held = [*(one for one in mine if (one.pool, one.name) in self._holders), *chosen]
        total = next((one.takes for one in mine if one.kind == "gpu" and one.card == device.card), {})
        taken = [one.takes for one in (*held, device) if one.card == device.card]
        return all(sum(one.get(name, 0) for one in taken) <= total.get(name, 0) for name in device.takes)

    def allocate(self, pod: Pod, given: Given, now: float) -> None:
        """The scheduler writes the devices into the claims that have none, and that the pod uses all of them."""
        for one in self.of(pod) or []:
            devices = given.get(one["metadata"]["name"], [])
            if devices:
                one["metadata"]["finalizers"] = [FINALIZER]
                one["status"]["allocation"] = _allocation(one, devices, now)
            consumer = {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
            one["status"].setdefault("reservedFor", []).append(consumer)
            self.world.store.replace(RESOURCECLAIMS, one)
            if not one["spec"]["devices"]["requests"][0]["exactly"].get("adminAccess"):
                for device in devices:
                    self._holders[device.pool, device.name] = one["metadata"]["uid"]

    def release(self, pod: Pod) -> None:
        """The pod has ended or is gone: its own claims are deleted, others are taken back when it was their last user."""
        for one in self.of(pod) or []:
            users = [row for row in one["status"].get("reservedFor") or [] if row["uid"] != pod["metadata"]["uid"]]
            owned = any(row["uid"] == pod["metadata"]["uid"] for row in one["metadata"].get("ownerReferences") or [])
            if users:
                one["status"]["reservedFor"] = users
                self.world.store.replace(RESOURCECLAIMS, one)
                continue
            uid = one["metadata"]["uid"]
            self._holders = {key: holder for key, holder in self._holders.items() if holder != uid}
            if owned:
                self.world.store.remove(RESOURCECLAIMS, one["metadata"]["namespace"], one["metadata"]["name"])
            else:
                one["metadata"].pop("finalizers", None)
                one["status"] = {}
                self.world.store.replace(RESOURCECLAIMS, one)


def _tainted(device: Device, taint: tuple[str, ...]) -> Device:
    return Device(**{**vars(device), "taint": taint}) if taint else device


def _admits(request: dict[str, Any], device: Device) -> bool:
    """Class and selectors; a selector of a form that is not known admits nothing."""
    texts = [row["cel"]["expression"] for row in request.get("selectors") or []]
    return CLASSES.get(request["deviceClassName"]) == device.kind and all(_holds(text, device) for text in texts)


def _holds(text: str, device: Device) -> bool:
    if match := _PROFILE.fullmatch(text):
        return device.profile == match[1]
    match = _MEMORY.fullmatch(text)
    return match is not None and device.memory >= int(match[1]) * 2**30


def _results(one: Claim) -> list[dict[str, Any]]:
    return list(((one["status"].get("allocation") or {}).get("devices") or {}).get("results") or [])


def _allocation(one: Claim, devices: Iterable[Device], now: float) -> dict[str, Any]:
    request = one["spec"]["devices"]["requests"][0]
    admin = {"adminAccess": True} if request["exactly"].get("adminAccess") else {}
    found = list(devices)
    results = [
        {"request": request["name"], "driver": DRIVER, "pool": device.pool, "device": device.name, **admin}
        for device in found
    ]
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [found[0].pool]}]}
    return {
        "devices": {"results": results},
        "nodeSelector": {"nodeSelectorTerms": [term]},
        "allocationTimestamp": rfc3339(now),
    }
