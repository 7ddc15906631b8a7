"""The simulated fleet: built once from a size and a seed, then stepped through time.

fleet = Fleet(seed=1)
fleet.step(now)        # all that is due by `now` (unix seconds) happens
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random
from typing import Any

from fleetsim import ailments, claimcases, customresources, deployments, mistakes, nodes, softwarecases, teams
from fleetsim.clock import DAY, HOUR, rfc3339
from fleetsim.containerlog import ContainerLog, ordinary
from fleetsim.daemonsets import DaemonSets
from fleetsim.fleetplan import NODES as STANDARD_NODES
from fleetsim.fleetplan import plan
from fleetsim.jobs import Jobs
from fleetsim.life import Life
from fleetsim.machines import Machine, supplies_of
from fleetsim.nodetypes import NodeType
from fleetsim.programs import Program
from fleetsim.resources import NAMESPACES, NODES, PODS, PRIORITYCLASSES
from fleetsim.systems import GPU_MEM
from fleetsim.upgrade import Upgrade
from fleetsim.usage import CardUse, Spot, noise
from fleetsim.workloads import workloads
from fleetsim.world import World

#: A longer gap between steps is slept through, not caught up with (a laptop that was closed).
LONGEST_GAP_S = 120.0
HEARTBEAT_S = 60.0


class Fleet:
    """A cluster of `nodes` nodes. The same nodes, seed, start time and steps give the same cluster, object by object.

    now: start time in unix seconds (the clock's, when None). programs: what Jobs can run; another image cannot be pulled.
    """

    def __init__(
        self, nodes: int = STANDARD_NODES, seed: int = 1, now: float | None = None, programs: Sequence[Program] = ()
    ) -> None:
        self.world = World(seed, time.time() if now is None else now)
        self.life = Life(self.world)
        self.jobs = Jobs(self.world, programs)
        daemonsets = DaemonSets(self.world)
        self.upgrade = Upgrade(self.world, self.life, daemonsets)
        self.store = self.world.store
        _create_namespaces(self.world)
        _create_priority_class(self.world)
        self.world.set_machines([_create_machine(self.world, *row) for row in _numbered(plan(nodes))])
        for machine in self.world.machines:
            self.world.claims.publish(machine, mistakes.TAINTED.get(machine.name, {}))
        softwarecases.prepare(self.world)
        self.upgrade.prepare()
        mistakes.plant(self.world, self.life)
        claimcases.plant(self.world, self.life)
        self.life.settle()
        self._leave_finished_pods()
        daemonsets.create()
        customresources.create(self.world)
        deployments.create(self.world)
        mistakes.disturb(self.world)
        ailments.sicken(self.world)
        self.life.start()
        self.upgrade.start()
        self.world.timeline.after(HEARTBEAT_S, self._heartbeat)

    @property
    def now(self) -> float:
        """The fleet's time, unix seconds."""
        return self.world.now

    def step(self, now: float | None = None) -> None:
        """Let everything happen that is due by `now` (the clock's, when None)."""
        until = time.time() if now is None else now
        with self.store.changed:
            if until - self.world.now > LONGEST_GAP_S:
                self.world.timeline.skip(until - self.world.now - 1.0)
            self.world.timeline.run(until)
            self.store.changed.notify_all()

    def log_of(self, pod: dict[str, Any], container: str) -> ContainerLog | None:
        """What this container printed; None when it has not started or is gone."""
        uid = pod["metadata"]["uid"]
        with self.store.changed:
            log = self.world.logs.get((uid, container))
            if log is not None:
                return log
            here = self.world.pod((pod["metadata"]["namespace"], pod["metadata"]["name"]))
        if here is None or here["metadata"]["uid"] != uid or self.jobs.owns(here):
            return None
        return ordinary(here, container)

    def uses(
        self, since: float | None = None, machines: Sequence[Machine] | None = None
    ) -> list[tuple[Machine, Spot, CardUse]]:
        """Each card and slice with those who have and had it: what `usage.value` wants, to be asked for any moment.

        since: made up tenants fill the time from then on of which nothing is remembered, so that a history can be written.
        machines: of these alone.
        """
        with self.store.changed:
            return [
                (machine, spot, self.world.tenancies.use(machine, spot, since))
                for machine in (self.world.machines if machines is None else machines)
                if machine.kind.model is not None
                for spot in self.world.tenancies.spots(machine)
            ]

    def delete_pod(self, namespace: str, name: str, immediately: bool) -> dict[str, Any]:
        """DELETE of a pod: it terminates for some seconds, or goes at once. Returns its last state."""
        with self.store.changed:
            pod = self.store.get(PODS, namespace, name)
            if immediately:
                self.world.remove((namespace, name), pod["metadata"]["uid"])
            else:
                self.world.terminate((namespace, name), 2.0)
                pod = self.store.get(PODS, namespace, name)
            return pod

    def marked(self, node: dict[str, Any]) -> None:
        """The taints of a node or its cordon were changed by a client: the scheduler goes by them from now on."""
        machine = self.world.machine(node["metadata"]["name"])
        if machine is not None:
            machine.cordoned = bool(node["spec"].get("unschedulable"))
            taints = [
                one for one in node["spec"].get("taints") or () if one["key"] != "node.kubernetes.io/unschedulable"
            ]
            machine.taints = tuple((one["key"], one.get("value") or "", one["effect"]) for one in taints)

    def _leave_finished_pods(self) -> None:
        machines = [m for m in self.world.machines if m.resource == GPU_MEM and m.open and workloads(m.kind)]
        for number, machine in enumerate(machines[:6]):
            self.life.place_finished(machine, self.world.rng.uniform(0.2, 20) * HOUR, number % 3 % 2)

    def _heartbeat(self) -> None:
        """Some kubelets post their status, as real ones do each five minutes."""
        machines = [machine for machine in self.world.machines if machine.ready]
        for machine in self.world.rng.sample(machines, min(len(machines), 4)):
            node = self.store.get(NODES, "", machine.name)
            for row in node["status"]["conditions"]:
                row["lastHeartbeatTime"] = rfc3339(self.now)
            self.store.replace(NODES, node)
        self.world.timeline.after(HEARTBEAT_S, self._heartbeat)


def _numbered(kinds: list[NodeType]) -> list[tuple[NodeType, int, int]]:
    """Each type with the number of the node in the fleet (from 0) and within its type (from 1)."""
    seen: dict[str, int] = {}
    rows = []
    for number, kind in enumerate(kinds):
        seen[kind.key] = seen.get(kind.key, 0) + 1
        rows.append((kind, number, seen[kind.key]))
    return rows


def _create_machine(world: World, kind: NodeType, number: int, within: int) -> Machine:
    name = kind.name.format(within)
    uuids = [f"GPU-{teams.uid(world.rng)}" for _ in range(kind.cards)]
    parts = [f"MIG-{teams.uid(world.rng)}" for _ in range(kind.slices_total)]
    node = nodes.build(kind, name, number, teams.uid(world.rng), uuids, world.now)
    world.store.create(NODES, node)
    return Machine(name, kind, number, uuids, node["metadata"]["labels"], kind.taints, supplies_of(kind, uuids, parts))


def _create_namespaces(world: World) -> None:
    further = Random(noise.seed_of(world.seed, "namespaces"))
    for name in teams.NAMESPACES + teams.FURTHER_NAMESPACES:
        metadata = {
            "name": name,
            "uid": teams.uid(world.rng if name in teams.NAMESPACES else further),
            "creationTimestamp": rfc3339(world.now - 200 * DAY),
            "labels": {"kubernetes.io/metadata.name": name},
        }
        world.store.create(NAMESPACES, {"metadata": metadata, "spec": {}, "status": {"phase": "Active"}})


def _create_priority_class(world: World) -> None:
    """That of runs which policies start, as deploy/launcher-role.yaml has it."""
    metadata = {
        "name": "gpudash-policy",
        "uid": teams.uid(Random(noise.seed_of(world.seed, "priority classes"))),
        "creationTimestamp": rfc3339(world.now - 200 * DAY),
    }
    values = {"value": -1000, "preemptionPolicy": "Never", "globalDefault": False}
    world.store.create(PRIORITYCLASSES, {"metadata": metadata, **values})
