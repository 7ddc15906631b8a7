"""The state that all parts of the simulated cluster share, and the steps that scheduler and kubelet take with a pod.

Who decides what happens is elsewhere: `life.py` (teams), `jobs.py` (validation Jobs), `mistakes.py` (what is wrong).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from fleetsim import pods, teams
from fleetsim.chiplists import ChipLists
from fleetsim.claims import Claims
from fleetsim.containerlog import ContainerLog
from fleetsim.events import Recorder
from fleetsim.kai import percent
from fleetsim.machines import Machine
from fleetsim.reservations import Reservations
from fleetsim.resources import PODS
from fleetsim.scheduler import Scheduler
from fleetsim.status import ApiError
from fleetsim.store import Store
from fleetsim.systems import Place
from fleetsim.timeline import Timeline
from fleetsim.usage import Tenancies

Pod = dict[str, Any]
Key = tuple[str, str]

#: Seconds after which the reason of a pod that still waits is looked for again.
EXPLAIN_S = 30.0


class World:
    """One cluster. `places`: what each bound pod holds, by pod uid. `logs`: by (pod uid, container)."""

    def __init__(self, seed: int, now: float) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.store = Store()
        self.timeline = Timeline(now)
        self.machines: list[Machine] = []
        self.scheduler = Scheduler(self.rng, [], lambda pod, machine: {})
        self.events = Recorder(self.store)
        self.reservations = Reservations(self)
        self.claims = Claims(self)
        self.chips = ChipLists(self)
        self.tenancies = Tenancies(self)
        self.places: dict[str, Place] = {}
        self.logs: dict[tuple[str, str], ContainerLog] = {}
        #: Told of each pod that is gone.
        self.on_removed: list[Callable[[Pod], None]] = []
        self._next_ip = 0
        #: When the reason of a waiting pod was last written, by uid.
        self._explained: dict[str, float] = {}

    @property
    def now(self) -> float:
        return self.timeline.now

    def set_machines(self, machines: list[Machine]) -> None:
        self.machines = machines
        self.scheduler = Scheduler(self.rng, machines, self.claims.fit)
        for machine in machines:
            self.chips.write(machine)

    def machine(self, name: str) -> Machine | None:
        return self.scheduler.by_name.get(name)

    def pod(self, key: Key) -> Pod | None:
        """A copy of the pod, or None when it is gone."""
        try:
            return self.store.get(PODS, *key)
        except ApiError:
            return None

    def save(self, pod: Pod) -> None:
        self.store.replace(PODS, pod)

    def free_name(self, namespace: str, prefix: str, rng: Random | None = None) -> str:
        """A pod name of this prefix that nobody has. rng: other dice than the world's."""
        while True:
            name = f"{prefix}-{teams.letters(rng or self.rng, 5)}"
            if not self.store.has(PODS, namespace, name):
                return name

    def next_ip(self) -> str:
        self._next_ip += 1
        return f"10.{64 + self._next_ip // 65536 % 128}.{self._next_ip // 256 % 256}.{self._next_ip % 256}"

    def say(self, pod: Pod, reason: str, message: str, source: str = "kubelet") -> None:
        self.events.record(pod, "Pod", reason, message, self.now, source)

    def hold(self, pod: Pod, place: Place, at: float | None = None) -> None:
        """Account for what the pod holds from now on, or from `at` on."""
        uid = pod["metadata"]["uid"]
        machine = self.scheduler.by_name[place.node]
        supply = machine.supplies.get(place.resource)
        if supply is not None and place.parts:
            part = percent(pod)
            supply.hold(uid, place.parts, reported=not part)
            if part:
                self.reservations.join(pod, place, self.now if at is None else at)
            self.chips.write(machine)
        if pod["spec"].get("resourceClaims"):
            self.claims.allocate(pod, dict(place.claims), self.now if at is None else at)
        self.places[uid] = place
        self.tenancies.begin(pod, place, self.now if at is None else at)

    def release(self, pod: Pod) -> None:
        """Give back what the pod holds; nothing when it holds nothing."""
        uid = pod["metadata"]["uid"]
        self.claims.release(pod)
        self.tenancies.end(uid, self.now)
        place = self.places.pop(uid, None)
        machine = self.scheduler.by_name.get(place.node) if place else None
        if place is None or machine is None:
            return
        supply = machine.supplies.get(place.resource)
        if supply is not None:
            supply.release(uid)
            self.chips.write(machine)
        self.reservations.leave(uid, place)

    def reserve_and_bind(self, pod: Pod, place: Place) -> None:
        """The scheduler's two writes, as the extender does them: first the annotations, then the node."""
        machine = self.scheduler.by_name[place.node]
        self.hold(pod, place)
        if place.parts and (supply := machine.supplies.get(place.resource)):
            supply.system.reserve(pod, place, self.now)
            self.save(pod)
        pods.bind(pod, place.node, self.now)
        self.save(pod)

    def schedule(self, pod: Pod) -> bool:
        """Try once to bind the pod. When nothing fits, the reason is written into its condition, anew each half minute."""
        found = self.scheduler.find(pod)
        uid = pod["metadata"]["uid"]
        if found is not None:
            self._explained.pop(uid, None)
            self.reserve_and_bind(pod, found)
            return True
        if self.now - self._explained.get(uid, 0.0) >= EXPLAIN_S:
            self._explained[uid] = self.now
            pods.unschedulable(pod, self.scheduler.refusal(pod), self.now)
            self.save(pod)
        return False

    def create_containers(self, pod: Pod) -> None:
        """The kubelet takes the pod: the device plugin has answered, the containers wait for their image."""
        place = self.places.get(pod["metadata"]["uid"])
        machine = self.scheduler.by_name[pod["spec"]["nodeName"]]
        if place is not None and place.parts and (supply := machine.supplies.get(place.resource)):
            supply.system.assign(pod, self.now)
        pods.creating(pod, machine.ip, self.now)
        self.save(pod)

    def start_containers(self, pod: Pod) -> None:
        pods.running(pod, self.next_ip(), self.now, *self.devices_of(pod))
        self.save(pod)

    def devices_of(self, pod: Pod) -> tuple[list[str], str]:
        """(ids that the kubelet reports of the pod, their resource)."""
        place = self.places.get(pod["metadata"]["uid"])
        machine = self.scheduler.by_name.get(place.node) if place is not None else None
        supply = machine.supplies.get(place.resource) if machine is not None and place is not None else None
        return (supply.given.get(pod["metadata"]["uid"], []), place.resource) if supply and place else ([], "")

    def end(self, pod: Pod, exit_code: int, reason: str = "") -> None:
        """All containers ended: what the pod held is free again."""
        pods.finished(pod, exit_code, self.now, reason)
        self.close_logs(pod)
        self.release(pod)
        self.save(pod)

    def close_logs(self, pod: Pod) -> None:
        for container in pod["spec"]["containers"]:
            log = self.logs.get((pod["metadata"]["uid"], container["name"]))
            if log is not None and log.ended_at is None:
                log.ended_at = self.now

    def terminate(self, key: Key, delay: float) -> None:
        """Ask for deletion; the pod holds what it has until it is gone, `delay` seconds later."""
        pod = self.pod(key)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return
        pods.terminating(pod, self.now)
        self.save(pod)
        uid = pod["metadata"]["uid"]
        self.timeline.after(delay, lambda: self.remove(key, uid))

    def remove(self, key: Key, uid: str) -> None:
        """Take the pod out of the cluster, if it is still the one with this uid."""
        pod = self.pod(key)
        if pod is None or pod["metadata"]["uid"] != uid:
            return
        self.close_logs(pod)
        self.release(pod)
        self.store.remove(PODS, *key)
        self._explained.pop(uid, None)
        for container in pod["spec"]["containers"]:
            self.logs.pop((uid, container["name"]), None)
        for listener in self.on_removed:
            listener(pod)
