"""The demo's scheduler: finds a node and its cards for a pod, or says why there is none in kube-scheduler's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random
from typing import Any

from fleetsim.claims import Given
from fleetsim.constraints import admits, untolerated
from fleetsim.kai import percent
from fleetsim.machines import Machine
from fleetsim.nodetypes import T4_MIB
from fleetsim.systems import GPU_CORE, GPU_COUNT, Place, pod_total
from fleetsim.volcano import CORES, MEMORY

Pod = dict[str, Any]

#: Asked for beside a main resource; no accounting of their own.
_SIDE = {
    *(GPU_CORE, GPU_COUNT, "nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"),
    *(MEMORY, CORES),
}


def extended_resources(pod: Pod) -> list[str]:
    """Extended resources that the pod's containers ask for, sorted."""
    found: set[str] = set()
    for container in pod["spec"].get("containers") or []:
        resources = container.get("resources") or {}
        limits = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
        found.update(name for name, amount in limits.items() if "/" in name and str(amount) not in ("", "0"))
    return sorted(found)


class Scheduler:
    """Places pods on machines. It writes nothing: the caller reserves, holds and binds. claims: devices for a pod's claims."""

    def __init__(self, rng: Random, machines: list[Machine], claims: Callable[[Pod, Machine], Given | str]) -> None:
        self.rng = rng
        self.claims = claims
        self.machines = machines
        self.by_name = {machine.name: machine for machine in machines}
        self.by_pool: dict[str, list[Machine]] = {}
        for machine in machines:
            self.by_pool.setdefault(machine.kind.pool, []).append(machine)

    def find(self, pod: Pod) -> Place | None:
        """A place, or None when no node fits."""
        candidates = list(self._candidates(pod))
        self.rng.shuffle(candidates)
        for machine in candidates:
            found = self.fit(pod, machine)
            if isinstance(found, Place):
                return found
        return None

    def _candidates(self, pod: Pod) -> Iterable[Machine]:
        selector = pod["spec"].get("nodeSelector") or {}
        if "kubernetes.io/hostname" in selector:
            machine = self.by_name.get(str(selector["kubernetes.io/hostname"]))
            return [machine] if machine else []
        return self.by_pool.get(str(selector["pool"]), []) if "pool" in selector else self.machines

    def fit(self, pod: Pod, machine: Machine) -> Place | str:
        """Place on this machine, or the reason why not."""
        spec = pod["spec"]
        if machine.cordoned:
            return "node(s) were unschedulable"
        if not machine.ready:
            return "node(s) had untolerated taint {node.kubernetes.io/unreachable: }"
        taint = untolerated(spec, machine.taints)
        if taint is not None:
            return f"node(s) had untolerated taint {{{taint[0]}: {taint[1]}}}"
        if not admits(spec, machine):
            return "node(s) didn't match Pod's node affinity/selector"
        found = devices(pod, machine)
        if isinstance(found, str) or not spec.get("resourceClaims"):
            return found
        given = self.claims(pod, machine)
        return given if isinstance(given, str) else replace(found, claims=given)

    def refusal(self, pod: Pod) -> str:
        """The message of the PodScheduled condition: every node is asked why not, so it takes time in a large fleet."""
        reasons: Counter[str] = Counter()
        for machine in self.machines:
            found = self.fit(pod, machine)
            if isinstance(found, str):
                reasons[found] += 1
        total = len(self.machines)
        text = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
        return (
            f"0/{total} nodes are available: {text}. preemption: 0/{total} nodes are available: "
            f"{total} No preemption victims found for incoming pod."
        )


def devices(pod: Pod, machine: Machine) -> Place | str:
    """Devices for the pod on this machine, or which resource is short there. Selectors and taints are not looked at."""
    wanted = extended_resources(pod)
    main = [name for name in wanted if name in machine.supplies]
    strange = [name for name in wanted if name not in machine.supplies and name not in _SIDE]
    if strange or len(main) > 1:
        return f"Insufficient {(strange or main)[0]}"
    if not main and percent(pod):
        main = [machine.resource]
    if not main:
        return f"Insufficient {wanted[0]}" if wanted else Place(machine.name, {}, machine.uuids, machine.kind.units)
    supply = machine.supplies.get(main[0])
    if supply is None:
        return f"Insufficient {main[0]}"
    if GPU_CORE in wanted and machine.kind is not T4_MIB:
        return f"Insufficient {GPU_CORE}"
    system, ledger = supply.system, supply.ledger
    parts = system.pick(ledger, pod)
    if parts:
        return Place(machine.name, parts, supply.uuids, supply.units, main[0])
    enough = ledger.node_free >= pod_total(pod, main[0])
    return system.refusal if enough and system.refusal else f"Insufficient {main[0]}"
