"""DaemonSet objects and their pods: one on each node that selector, affinity and tolerations admit.

Made once; what moves later is moved by `upgrade.py`, which asks for single pods. What is wrong with pods is in `softwarecases.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from fleetsim import customresources, pods, softwarecases, teams
from fleetsim.clock import DAY, rfc3339
from fleetsim.constraints import admits, untolerated
from fleetsim.machines import Machine
from fleetsim.plugins import DISCOVERY, OPERANDS, PLUGINS, SYSTEM, DaemonSpec
from fleetsim.resources import DAEMONSETS, PODS
from fleetsim.selectors import NODE_NAME
from fleetsim.usage import noise
from fleetsim.vendorplugins import EXPORTERS, LABELLER, VENDORS
from fleetsim.world import World

Pod = dict[str, Any]


@dataclass(frozen=True)
class Placed:
    """A DaemonSet that is in the cluster. template: the specification of its pods. revision: hash of that."""

    spec: DaemonSpec
    uid: str
    template: dict[str, Any]
    revision: str


class DaemonSets:
    """Those of one fleet. placed: by name, those of the GPU Operator (names of others are not unique)."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.placed: dict[str, Placed] = {}

    def create(self) -> None:
        """All DaemonSets that land somewhere, with one pod per node."""
        self._create(SYSTEM + PLUGINS + VENDORS + OPERANDS, self.world.rng)
        # With dice of their own, so that a fleet is the same with them and without.
        self._create(EXPORTERS, self._dice("exporters"))
        self._create((DISCOVERY, LABELLER), self._dice("discovery"))

    def _dice(self, name: str) -> Random:
        return Random(noise.seed_of(self.world.seed, name))

    def _create(self, specs: tuple[DaemonSpec, ...], rng: Random) -> None:
        for spec in specs:
            template = _pod_spec(spec)
            machines = [machine for machine in self.world.machines if lands(template, machine)]
            if not machines:
                continue
            placed = Placed(spec, teams.uid(rng), template, pods.digest(spec.name)[:10])
            if spec.operator:
                self.placed[spec.name] = placed
            self.world.store.create(DAEMONSETS, _daemonset(self.world, placed))
            for machine in machines:
                self.world.store.create(PODS, self._pod(placed, machine, rng.uniform(1, 39) * DAY, rng))
            self.count(placed)

    def _pod(self, placed: Placed, machine: Machine, age: float, rng: Random) -> Pod:
        at = self.world.now - age
        pod = self.new(placed, machine, at, rng)
        if placed.spec.claim is not None:
            self.world.claims.make(pod, placed.spec.claim, at)
            given = self.world.claims.fit(pod, machine)
            if not isinstance(given, str):
                self.world.claims.allocate(pod, given, at)
        softwarecases.spoil(pod, placed.spec.name, machine, self.world.now)
        return pod

    def new(self, placed: Placed, machine: Machine, at: float, rng: Random) -> Pod:
        """A pod that was created at a time and is ready since shortly after. Not stored yet."""
        spec = placed.spec
        name = self.world.free_name(spec.namespace, spec.name, rng)
        pod = pods.new(spec.namespace, name, teams.uid(rng), placed.template["containers"], at)
        pod["metadata"]["labels"] = {
            **(spec.labels or {"app": spec.name}),
            "controller-revision-hash": placed.revision,
            "pod-template-generation": "1",
        }
        pod["metadata"]["ownerReferences"] = [pods.owner("DaemonSet", spec.name, placed.uid)]
        pod["spec"] = {**placed.template, "schedulerName": "default-scheduler"}
        pods.bind(pod, machine.name, at)
        pods.creating(pod, machine.ip, at + 1)
        pods.running(pod, machine.ip, at + 20, [], "")
        if spec.inits:
            pod["status"]["initContainerStatuses"] = [
                pods.init_done(one, at) for one in placed.template["initContainers"]
            ]
        return pod

    def of(self, machine: Machine) -> Iterator[tuple[Placed, Pod]]:
        """The pods of the operator's DaemonSets on a node."""
        by_uid = {placed.uid: placed for placed in self.placed.values()}
        for pod in self.world.store.all(
            PODS, lambda one: one.owner in by_uid and one.fields[NODE_NAME] == machine.name
        ):
            yield by_uid[pod["metadata"]["ownerReferences"][0]["uid"]], pod

    def count(self, placed: Placed) -> None:
        """Write how many pods it has into its status."""
        store, spec = self.world.store, placed.spec
        own = store.all(PODS, lambda one: one.owner == placed.uid)
        ready = sum(_is_ready(pod) for pod in own)
        updated = sum(pod["metadata"]["labels"]["controller-revision-hash"] == placed.revision for pod in own)
        found = store.get(DAEMONSETS, spec.namespace, spec.name)
        found["status"] = {
            "currentNumberScheduled": len(own),
            "desiredNumberScheduled": len(own),
            "numberMisscheduled": 0,
            "numberReady": ready,
            "numberAvailable": ready,
            **({"numberUnavailable": len(own) - ready} if len(own) > ready else {}),
            "updatedNumberScheduled": updated,
            "observedGeneration": 1,
        }
        store.replace(DAEMONSETS, found)


def lands(template: dict[str, Any], machine: Machine) -> bool:
    """Whether a DaemonSet with this specification has a pod on the node. Its pods tolerate a node that is cordoned or silent."""
    return admits(template, machine) and untolerated(template, machine.taints) is None


def _pod_spec(spec: DaemonSpec) -> dict[str, Any]:
    mains = [pods.container(name, spec.image) for name in spec.mains]
    if spec.args:
        mains[0]["command"] = list(spec.args)
    if spec.env:
        mains[0]["env"] = [{"name": name, "value": value} for name, value in spec.env]
    if spec.metrics:
        mains[-1]["ports"] = [{"name": "metrics", "containerPort": spec.metrics, "protocol": "TCP"}]
    if spec.claim:
        mains[0]["resources"]["claims"] = [{"name": "gpu"}]
    result: dict[str, Any] = {
        "containers": mains,
        "restartPolicy": "Always",
        "priorityClassName": "system-node-critical",
        "serviceAccountName": spec.name,
        **spec.more,
    }
    if spec.tolerations:
        result["tolerations"] = [dict(one) for one in spec.tolerations]
    if spec.claim:
        result["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": spec.claim.template}]
    if spec.inits:
        result["initContainers"] = [pods.container(name, spec.image_of(name)) for name in spec.inits]
    if spec.selector:
        result["nodeSelector"] = dict(spec.selector)
    if spec.affinity:
        terms = [
            {
                "matchExpressions": [
                    {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
                    for key, operator, values in term
                ]
            }
            for term in spec.affinity
        ]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        result["affinity"] = {"nodeAffinity": required}
    return result


def _daemonset(world: World, placed: Placed) -> dict[str, Any]:
    spec = placed.spec
    labels = spec.labels or {"app": spec.name}
    metadata: dict[str, Any] = {
        "name": spec.name,
        "namespace": spec.namespace,
        "uid": placed.uid,
        "generation": 1,
        "creationTimestamp": rfc3339(world.now - 60 * DAY),
        "labels": {**labels, **spec.chart, **(customresources.MANAGED if spec.operator else {})},
    }
    if spec.operator:
        metadata["ownerReferences"] = [customresources.policy_owner(world)]
        metadata["annotations"] = {"nvidia.com/last-applied-hash": str(int(pods.digest(spec.image)[:8], 16))}
    return {
        "metadata": metadata,
        "spec": {
            "selector": {"matchLabels": dict(labels)},
            "template": {"metadata": {"labels": dict(labels)}, "spec": placed.template},
            "updateStrategy": {"type": "OnDelete" if spec.on_delete else "RollingUpdate"},
        },
        "status": {},
    }


def _is_ready(pod: Pod) -> bool:
    return any(row["type"] == "Ready" and row["status"] == "True" for row in pod["status"]["conditions"])
