"""KAI's reservation pods: one takes a card whole, and the pods of its group share it.

Format: kai-scheduler/KAI-Scheduler, pkg/binder/binding/resourcereservation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fleetsim import pods, teams
from fleetsim.machines import Machine
from fleetsim.resources import PODS
from fleetsim.systems import Place, Pod
from fleetsim.usage.value import Who

if TYPE_CHECKING:
    from fleetsim.world import World

NAMESPACE = "kai-resource-reservation"
GROUP, CARD = "runai-gpu-group", "run.ai/reserve_for_gpu_index"


@dataclass
class _Group:
    """The pods that share one card. members: their uids."""

    name: str
    reservation: Pod
    members: set[str]


class Reservations:
    """The reservation pods of one world: one for each card that is shared, as long as a pod of its group is there."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._groups: dict[tuple[str, int], _Group] = {}

    def join(self, pod: Pod, place: Place, at: float) -> None:
        """The pod shares its card from now on. at: when its reservation is made, where there is none yet."""
        card = next(iter(place.parts))
        group = self._groups.get((place.node, card))
        if group is None:
            name = teams.uid(self.world.rng)
            group = _Group(name, self._reserve(self.world.scheduler.by_name[place.node], card, name, at), set())
            self._groups[place.node, card] = group
        group.members.add(pod["metadata"]["uid"])
        pod["metadata"].setdefault("labels", {})[GROUP] = group.name

    def of(self, node: str, card: int) -> Who | None:
        """The container that has taken this card for others; None where none has."""
        group = self._groups.get((node, card))
        if group is None:
            return None
        metadata, (container,) = group.reservation["metadata"], group.reservation["spec"]["containers"]
        return Who(metadata["namespace"], metadata["name"], container["name"], metadata["uid"])

    def leave(self, uid: str, place: Place) -> None:
        """The pod gives its part back; the last one of a group takes the reservation along."""
        for card in place.parts:
            group = self._groups.get((place.node, card))
            if group is None or uid not in group.members:
                continue
            group.members.discard(uid)
            if not group.members:
                del self._groups[place.node, card]
                metadata = group.reservation["metadata"]
                self.world.remove((metadata["namespace"], metadata["name"]), metadata["uid"])

    def _reserve(self, machine: Machine, card: int, group: str, at: float) -> Pod:
        uuid = machine.uuids[card]
        limits = {machine.resource: "1"}
        container = pods.container(
            "resource-reservation", "ghcr.io/kai-scheduler/kai-scheduler/gpu-reservation", limits
        )
        name = self.world.free_name(NAMESPACE, f"gpu-reservation-{machine.name}")
        pod: dict[str, Any] = pods.new(NAMESPACE, name, teams.uid(self.world.rng), [container], at)
        pod["metadata"]["labels"] = {"app": NAMESPACE, GROUP: group}
        pod["metadata"]["annotations"] = {CARD: uuid}
        pods.bind(pod, machine.name, at)
        pods.creating(pod, machine.ip, at)
        pods.running(pod, self.world.next_ip(), at + 1, [uuid], machine.resource)
        self.world.store.create(PODS, pod)
        return pod
