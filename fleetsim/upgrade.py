"""A driver upgrade that goes through a pool of nodes, two at a time, and begins again some minutes after its end.

Nodes are taken in the order of `POOL`. On each: cordoned, its pods leave, the operands pause while the driver is replaced, the
operator's validator runs, uncordoned. A run of a validation is waited for. At the beginning one is done, one is validated, one has
its operands paused, two are next. Labels and annotations: NVIDIA/k8s-operator-libs pkg/upgrade, NVIDIA/k8s-driver-manager.
"""

from __future__ import annotations

from random import Random
from typing import Any

from fleetsim import labels, pods, softwarecases
from fleetsim.clock import MINUTE
from fleetsim.customresources import AT_ONCE
from fleetsim.daemonsets import DaemonSets, lands
from fleetsim.life import Life
from fleetsim.machines import Machine
from fleetsim.migtypes import MIG_MIXED_A100, MIG_SINGLE
from fleetsim.nodetypes import L40S, MPS, NodeType
from fleetsim.plugins import DRIVER, VALIDATOR
from fleetsim.resources import NODES, PODS
from fleetsim.selectors import NODE_NAME
from fleetsim.usage import noise
from fleetsim.world import World

Pod = dict[str, Any]

STATE = "nvidia.com/gpu-driver-upgrade-state"
REQUIRED, WAITS, LEAVING, RESTART, VALIDATION, DONE = (
    *("upgrade-required", "wait-for-jobs-required", "pod-deletion-required", "pod-restart-required"),
    *("validation-required", "upgrade-done"),
)
#: Type, number within the type, and how far the node is at the beginning.
POOL: tuple[tuple[NodeType, int, str], ...] = (
    (L40S, 1, DONE),
    (MIG_MIXED_A100, 2, VALIDATION),
    (L40S, 2, RESTART),
    (MIG_SINGLE, 1, REQUIRED),
    (MPS, 1, REQUIRED),
)
PAUSED = "paused-for-driver-upgrade"
#: What the driver manager pauses.
_OPERANDS = (
    *("container-toolkit", "device-plugin", "gpu-feature-discovery", "dcgm", "dcgm-exporter", "operator-validator"),
    "mig-manager",
)
#: The driver is being replaced, and validated, for so long.
REPLACED_S, VALIDATED_S = 4 * MINUTE, 3 * MINUTE
#: All nodes are done for so long; then their driver is the old one again, as after an image of the host was put back.
REST_S = 15 * MINUTE
_LOOK_S = 5.0
#: Runs of validations.
_RUNS = "gpudash-validations"


class Upgrade:
    """Of one fleet; of a fleet without all nodes of the pool nothing. state: machine's name → how far it is."""

    def __init__(self, world: World, life: Life, daemonsets: DaemonSets) -> None:
        self.world, self.life, self.daemonsets = world, life, daemonsets
        self.state: dict[str, str] = {}
        self._since: dict[str, float] = {}
        self._machines: list[Machine] = []
        self._rng = Random(noise.seed_of(world.seed, "upgrade"))
        self._done_at = 0.0

    def prepare(self) -> None:
        """Before anything runs on the nodes: where pods would not be, none is to come."""
        by_name = {machine.name: machine for machine in self.world.machines}
        wanted = [(by_name.get(kind.name.format(number)), state) for kind, number, state in POOL]
        for machine, state in wanted if all(machine for machine, _ in wanted) else ():
            assert machine is not None
            self._machines.append(machine)
            self._enter(machine, state, self.world.now - MINUTE)
            if state == REQUIRED:
                machine.labels.update(labels.driver_labels(new=False))
            if state in (RESTART, VALIDATION):
                self._cordon(machine, True)
            if state == RESTART:
                machine.labels.update(labels.driver_labels(new=False))
                self._pause(machine, True)
            softwarecases.offer(self.world, machine, given=state != RESTART)

    def start(self) -> None:
        """With all pods there: those of nodes on the way are not as those of others."""
        if not self._machines:
            return
        for machine in self._machines:
            if self.state[machine.name] == REQUIRED:
                self._old_driver(machine)
            elif self.state[machine.name] == RESTART:
                self._replace_driver(machine)
            elif self.state[machine.name] == VALIDATION:
                self._validate(machine)
        self._count()
        self.world.timeline.after(_LOOK_S, self._look)

    # Steps.

    def _look(self) -> None:
        before = dict(self.state)
        for machine in self._machines:
            self._go_on(machine)
        self._take_next()
        if before != self.state:
            self._count()
        self._begin_again()
        self.world.timeline.after(_LOOK_S, self._look)

    def _go_on(self, machine: Machine) -> None:
        state, since = self.state[machine.name], self.world.now - self._since[machine.name]
        if state in (WAITS, LEAVING) and not self._leave(machine):
            self._enter(machine, RESTART)
            self._pause(machine, True)
            softwarecases.offer(self.world, machine, given=False)
            self._drop_paused(machine)
            self._replace_driver(machine)
        elif state == RESTART and since >= REPLACED_S:
            self._enter(machine, VALIDATION)
            self._pause(machine, False)
            machine.labels.update(labels.driver_labels(new=True))
            self._new_driver(machine)
            softwarecases.offer(self.world, machine, given=True)
            self._restore(machine)
            self._validate(machine)
        elif state == VALIDATION and since >= VALIDATED_S:
            self._enter(machine, DONE)
            softwarecases.offer(self.world, machine, given=True)
            self._renew(machine, VALIDATOR)
            self._cordon(machine, False)
            self._done_at = self.world.now

    def _take_next(self) -> None:
        for machine in self._machines:
            busy = sum(state not in (REQUIRED, DONE) for state in self.state.values())
            if self.state[machine.name] == REQUIRED and busy < AT_ONCE:
                self._cordon(machine, True)
                self._enter(machine, LEAVING)
                self._leave(machine)
                softwarecases.offer(self.world, machine, given=True)

    def _begin_again(self) -> None:
        if set(self.state.values()) != {DONE} or self.world.now - self._done_at < REST_S:
            return
        for machine in self._machines:
            self._enter(machine, REQUIRED)
            machine.labels.update(labels.driver_labels(new=False))
            softwarecases.offer(self.world, machine, given=True)
            self._old_driver(machine)
        self._count()

    def _enter(self, machine: Machine, state: str, at: float | None = None) -> None:
        self.state[machine.name] = machine.labels[STATE] = state
        self._since[machine.name] = self.world.now if at is None else at

    # Nodes.

    def _cordon(self, machine: Machine, cordoned: bool) -> None:
        machine.cordoned = cordoned
        node = self.world.store.get(NODES, "", machine.name)
        taints = [one for one in node["spec"].get("taints", []) if one["key"] != "node.kubernetes.io/unschedulable"]
        node["spec"].pop("unschedulable", None)
        if cordoned:
            node["spec"]["unschedulable"] = True
            taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        node["spec"].pop("taints", None)
        if taints:
            node["spec"]["taints"] = taints
        self.world.store.replace(NODES, node)
        self.life.look()

    def _pause(self, machine: Machine, paused: bool) -> None:
        for name in _OPERANDS:
            if f"{softwarecases.DEPLOY}{name}" in machine.labels:
                machine.labels[f"{softwarecases.DEPLOY}{name}"] = PAUSED if paused else "true"

    def _leave(self, machine: Machine) -> bool:
        """Ask all pods with devices to go; runs are waited for. Whether any is still there."""
        there = self.world.store.all(PODS, lambda one: one.fields[NODE_NAME] == machine.name)
        found = [pod for pod in there if self._holds(pod, machine)]
        runs = [pod for pod in found if pod["metadata"]["namespace"] == _RUNS]
        if runs and self.state[machine.name] != WAITS:
            self._enter(machine, WAITS)
            softwarecases.offer(self.world, machine, given=True)
        for pod in found:
            if pod not in runs:
                self.world.terminate((pod["metadata"]["namespace"], pod["metadata"]["name"]), self._rng.uniform(8, 25))
        return bool(found)

    def _holds(self, pod: Pod, machine: Machine) -> bool:
        place = self.world.places.get(pod["metadata"]["uid"])
        return place is not None and place.node == machine.name

    # Pods.

    def _of(self, machine: Machine, name: str) -> Pod | None:
        return next((pod for placed, pod in self.daemonsets.of(machine) if placed.spec.name == name), None)

    def _drop_paused(self, machine: Machine) -> None:
        for placed, pod in list(self.daemonsets.of(machine)):
            if not lands(placed.template, machine):
                self._remove(pod)

    def _remove(self, pod: Pod) -> None:
        metadata = pod["metadata"]
        self.world.remove((metadata["namespace"], metadata["name"]), metadata["uid"])

    def _renew(self, machine: Machine, name: str) -> Pod:
        """In the place of its pod there, a new one that is ready. Stored."""
        before = self._of(machine, name)
        if before is not None:
            self._remove(before)
        pod = self.daemonsets.new(self.daemonsets.placed[name], machine, self.world.now - MINUTE / 2, self._rng)
        self.world.store.create(PODS, pod)
        return pod

    def _restore(self, machine: Machine) -> None:
        """The pods of all operands that have none there."""
        there = {placed.spec.name for placed, _ in self.daemonsets.of(machine)}
        for name, placed in self.daemonsets.placed.items():
            if name not in there and lands(placed.template, machine):
                self._renew(machine, name)

    def _new_driver(self, machine: Machine) -> None:
        self._renew(machine, DRIVER)

    def _replace_driver(self, machine: Machine) -> None:
        """The new pod's driver manager waits until nothing uses the old driver."""
        pod = self._renew(machine, DRIVER)
        pods.initializing(pod, "k8s-driver-manager", self._since[machine.name])
        self.world.save(pod)

    def _old_driver(self, machine: Machine) -> None:
        """The pod is older than the template of its DaemonSet, which replaces none by itself."""
        pod = self._of(machine, DRIVER)
        if pod is None:
            return
        old = self.daemonsets.placed[DRIVER].spec.image.replace(labels.NEW_DRIVER, labels.DRIVER)
        pod["metadata"]["labels"]["controller-revision-hash"] = pods.digest(old)[:10]
        for one in (*pod["spec"]["containers"], *pod["status"]["containerStatuses"]):
            one["image"] = old
        self.world.save(pod)

    def _validate(self, machine: Machine) -> None:
        """The validator's pod runs its CUDA workload."""
        pod = self._renew(machine, VALIDATOR)
        pods.initializing(pod, "cuda-validation", self._since[machine.name])
        self.world.save(pod)

    def _count(self) -> None:
        for placed in self.daemonsets.placed.values():
            self.daemonsets.count(placed)
