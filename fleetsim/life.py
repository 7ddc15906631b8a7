"""The teams' side of the demo: workloads come, wait, run and go, so that cards fill and empty around two thirds.

Each beat looks at one pool: below its target a workload is created, above it one ends. Nothing here over-commits a card:
only `scheduler.py` chooses cards.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sin
from typing import Any

from fleetsim import pods, teams
from fleetsim.kai import FRACTION
from fleetsim.machines import Machine
from fleetsim.resources import PODS
from fleetsim.systems import Place
from fleetsim.teams import Workload
from fleetsim.usage import past
from fleetsim.workloads import workloads
from fleetsim.world import Key, World

Pod = dict[str, Any]

#: Seconds between beats of a fleet of 40 nodes; a larger one beats faster, to a tenth of this.
BEAT_S = (10.0, 30.0)
#: The share of a pool that is held swings slowly by SWING on both sides of the usual one.
SWING, PERIOD_S = 0.06, 3600.0
#: Pending pods beyond which a pool creates no more.
MOST_WAITING = 2
RETRY_S = 5.0


class Life:
    """Creates, schedules, runs and ends the teams' pods of one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        #: Pods that run and may end, by pool; pods planted on purpose are not among them.
        self.running: dict[str, list[Key]] = {}
        self.waiting: dict[str, list[Key]] = {}
        self._taken: dict[str, int] = {}
        self._pools: list[str] = []

    def start(self) -> None:
        """Plan the first beat and the scheduler's retries."""
        self.look()
        self._plan_beat()
        self.world.timeline.after(RETRY_S, self._retry)

    def look(self) -> None:
        """Which nodes are open has changed."""
        self._pools = self.pools()

    def pools(self) -> list[str]:
        """Pools with life, each as often as it has nodes: a large pool beats more often."""
        return [machine.kind.pool for machine in self.world.machines if workloads(machine.kind) and machine.open]

    def held_share(self, pool: str) -> float:
        """Requested part of all open nodes of a pool, 0 to 1."""
        return self._held(m for m in self.world.scheduler.by_pool[pool] if m.open)

    def _held(self, machines: Iterable[Machine]) -> float:
        """Requested part of some nodes, 0 to 1: of all their resources together, or of what a driver gives to claims."""
        held = total = 0.0
        for machine in machines:
            for supply in machine.supplies.values():
                held += supply.ledger.node_total - supply.ledger.node_free
                total += supply.ledger.node_total
            taken, there = self.world.claims.held(machine.name)
            held, total = held + taken, total + there
        return held / total if total else 1.0

    def target(self, pool: str) -> float:
        """Share at which this pool aims now. Pools swing out of step."""
        phase = sum(pool.encode()) % 100
        return past.HELD + SWING * sin(self.world.now / PERIOD_S * 6.283 + phase)

    def new_pod(self, pool: str, now: float, machine: Machine | None = None) -> Pod:
        """A pod that a team of this pool would create. machine: one that it must go to (used to fill the fleet)."""
        kinds = [m.kind for m in self.world.scheduler.by_pool[pool][:1]]
        workload = self.world.rng.choice(workloads(kinds[0]))
        name, owner_name = self._free_name(workload)
        limits = self.world.rng.choice(workload.asks)
        containers = [
            pods.container("main" if index == 0 else f"side-{index}", workload.image, dict(one))
            for index, one in enumerate(limits)
        ]
        if workload.claims:
            containers[0]["resources"]["claims"] = [{"name": "gpu"}]
        restart = "Never" if workload.owner in ("Job", "PyTorchJob") else "Always"
        pod = pods.new(workload.namespace, name, teams.uid(self.world.rng), containers, now, restart)
        pod["metadata"]["labels"] = teams.labels_of(workload)
        pod["metadata"]["ownerReferences"] = [pods.owner(workload.owner, owner_name, teams.uid(self.world.rng))]
        pod["spec"]["nodeSelector"] = {"pool": pool}
        taints = (machine.kind if machine else kinds[0]).taints
        pod["spec"]["tolerations"] = pod["spec"]["tolerations"] + [
            {"key": key, "operator": "Equal", "value": value, "effect": effect} for key, value, effect in taints
        ]
        if workload.fractions:
            pod["metadata"]["annotations"] = {FRACTION: self.world.rng.choice(workload.fractions)}
        if workload.claims:
            ask = self.world.rng.choice(workload.claims)
            pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": ask.template}]
            self.world.claims.make(pod, ask, now)
        return pod

    def _free_name(self, workload: Workload) -> tuple[str, str]:
        while True:
            taken = self._taken.get(workload.name, 0)
            self._taken[workload.name] = taken + 1
            name, owner_name = teams.pod_name(self.world.rng, workload, taken)
            if not self.world.store.has(PODS, workload.namespace, name):
                return name, owner_name

    def settle(self) -> None:
        """Fill each pool to its target with pods that have run for a while: how the fleet is found at the start."""
        for pool in dict.fromkeys(self.pools()):
            machines = [machine for machine in self.world.scheduler.by_pool[pool] if machine.open]
            misses = 0
            while self.held_share(pool) < self.target(pool) - self.world.rng.uniform(0, 0.06) and misses < 4 * len(
                machines
            ):
                machine, age = self.world.rng.choice(machines), past.age(self.world.rng)
                pod = self.new_pod(pool, self.world.now - age, machine)
                misses += not self.place_running(pod, machine, age)

    def place_running(self, pod: Pod, machine: Machine, age: float) -> bool:
        """Put a pod on this node as if it had started `age` seconds ago. False when it does not fit."""
        world = self.world
        found = world.scheduler.fit(pod, machine)
        if not isinstance(found, Place):
            world.claims.release(pod)
            return False
        world.hold(pod, found, world.now - age)
        self._backdate(pod, found, machine, world.now - age)
        world.store.create(PODS, pod)
        self.running.setdefault(machine.kind.pool, []).append((pod["metadata"]["namespace"], pod["metadata"]["name"]))
        return True

    def _backdate(self, pod: Pod, place: Place, machine: Machine, at: float) -> None:
        if place.parts and (supply := machine.supplies.get(place.resource)):
            supply.system.reserve(pod, place, at + 1)
            supply.system.assign(pod, at + 2)
        pods.bind(pod, machine.name, at + 1)
        pods.creating(pod, machine.ip, at + 2)
        pods.running(pod, self.world.next_ip(), at + 6, *self.world.devices_of(pod))

    def place_finished(self, machine: Machine, age: float, exit_code: int) -> None:
        """A pod that ended on this node `age` seconds ago: it keeps node and annotations and holds nothing."""
        at = self.world.now - age
        pod = self.new_pod(machine.kind.pool, at - 900, machine)
        found = self.world.scheduler.fit(pod, machine)
        if not isinstance(found, Place):
            return
        self._backdate(pod, found, machine, at - 900)
        pod["spec"]["restartPolicy"] = "Never"
        pods.finished(pod, exit_code, at)
        self.world.store.create(PODS, pod)
        self._remove_later(pod, self.world.rng.uniform(300, 3600))

    def _remove_later(self, pod: Pod, delay: float) -> None:
        key, uid = (pod["metadata"]["namespace"], pod["metadata"]["name"]), pod["metadata"]["uid"]
        self.world.timeline.after(delay, lambda: self.world.remove(key, uid))

    def _plan_beat(self) -> None:
        slower = max(0.1, min(1.0, 40 / max(1, len(self.world.machines))))
        self.world.timeline.after(self.world.rng.uniform(*BEAT_S) * slower, self.beat)

    def beat(self) -> None:
        """One thing happens; a pool in which nothing can happen passes the beat on to another one."""
        for pool in self.world.rng.choices(self._pools, k=5) if self._pools else []:
            below = self.held_share(pool) < self.target(pool)
            if self._create(pool) if below else self._end_one(pool):
                break
        self._plan_beat()

    def _create(self, pool: str) -> bool:
        if len(self.waiting.get(pool, [])) >= MOST_WAITING:
            return False
        pod = self.new_pod(pool, self.world.now)
        self.world.store.create(PODS, pod)
        key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        self.world.timeline.after(self.world.rng.uniform(0.2, 0.8), lambda: self.try_schedule(pool, key))
        return True

    def try_schedule(self, pool: str, key: Key) -> None:
        """Bind the pod and let the kubelet go on, or leave it waiting with the reason."""
        pod = self.world.pod(key)
        if pod is None or "deletionTimestamp" in pod["metadata"] or pod["spec"].get("nodeName"):
            return
        waiting = self.waiting.setdefault(pool, [])
        if not self.world.schedule(pod):
            if key not in waiting:
                waiting.append(key)
                self.world.say(pod, "FailedScheduling", pod["status"]["conditions"][0]["message"], "default-scheduler")
            return
        if key in waiting:
            waiting.remove(key)
        uid = pod["metadata"]["uid"]
        self.world.timeline.after(self.world.rng.uniform(0.5, 1.2), lambda: self._kubelet(pool, key, uid))

    def _retry(self) -> None:
        """The scheduler tries waiting pods again, oldest first."""
        for pool, keys in self.waiting.items():
            self.waiting[pool] = [key for key in keys if self.world.pod(key) is not None]
            for key in list(self.waiting[pool]):
                self.try_schedule(pool, key)
        self.world.timeline.after(RETRY_S, self._retry)

    def _kubelet(self, pool: str, key: Key, uid: str) -> None:
        pod = self._alive(key, uid)
        if pod is not None:
            self.world.create_containers(pod)
            self.world.timeline.after(self.world.rng.uniform(1.5, 4.0), lambda: self._run(pool, key, uid))

    def _run(self, pool: str, key: Key, uid: str) -> None:
        pod = self._alive(key, uid)
        if pod is not None:
            self.world.start_containers(pod)
            self.running.setdefault(pool, []).append(key)

    def _alive(self, key: Key, uid: str) -> Pod | None:
        pod = self.world.pod(key)
        if pod is None or pod["metadata"]["uid"] != uid or "deletionTimestamp" in pod["metadata"]:
            return None
        return pod

    def _end_one(self, pool: str) -> bool:
        running = self.running.get(pool, [])
        if not running:
            return False
        key = running.pop(self.world.rng.randrange(len(running)))
        pod = self.world.pod(key)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return False
        if pod["spec"]["restartPolicy"] == "Never":
            self._finish(pod)
        else:
            self.world.terminate(key, self.world.rng.uniform(2.0, 5.0))
        return True

    def _finish(self, pod: Pod) -> None:
        code = self.world.rng.choices((0, 1, 137), (8, 1, 1))[0]
        self.world.end(pod, code, "OOMKilled" if code == 137 else "")
        self._remove_later(pod, self.world.rng.uniform(60, 300))
