"""DaemonSet objects and their pods on every node, and the two sets whose pods are not ready on purpose.

On `L40S_WAITING` the image of the container toolkit cannot be pulled, so every operand behind it waits in its
toolkit-validation. On the first time-sliced node the config-manager beside the device plugin crashes in a loop.
"""

from __future__ import annotations

from random import Random
from typing import Any

from fleetsim import pods, teams
from fleetsim.clock import DAY, MINUTE, rfc3339
from fleetsim.machines import Machine
from fleetsim.nodetypes import L40S_WAITING, TIME_SLICED
from fleetsim.plugins import OPERANDS, PLUGINS, SYSTEM, DaemonSpec
from fleetsim.resources import DAEMONSETS, PODS
from fleetsim.usage import noise
from fleetsim.vendorplugins import EXPORTERS, VENDORS
from fleetsim.world import World

TOOLKIT = "nvidia-container-toolkit-daemonset"
DRIVER = "nvidia-driver-daemonset"
PLUGIN = "nvidia-device-plugin-daemonset"
VALIDATOR = "nvidia-operator-validator"

Rows = list[dict[str, Any]]


def create(world: World) -> None:
    """All DaemonSets that land somewhere, with one pod per node."""
    _create(world, SYSTEM + PLUGINS + VENDORS + OPERANDS, world.rng)
    # With dice of their own, so that a fleet is the same with them and without.
    _create(world, EXPORTERS, Random(noise.seed_of(world.seed, "exporters")))


def _create(world: World, specs: tuple[DaemonSpec, ...], rng: Random) -> None:
    for spec in specs:
        machines = [machine for machine in world.machines if spec.lands(machine)]
        if not machines:
            continue
        uid = teams.uid(rng)
        template = _pod_spec(spec)
        ready = 0
        for machine in machines:
            pod = _pod(world, spec, template, machine, uid, rng)
            ready += _is_ready(pod)
            world.store.create(PODS, pod)
        world.store.create(DAEMONSETS, _daemonset(world, spec, template, uid, len(machines), ready))


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
        "tolerations": [{"operator": "Exists"}],
    }
    if spec.claim:
        result["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": spec.claim.template}]
    if spec.inits:
        result["initContainers"] = [pods.container(name, spec.image) for name in spec.inits]
    if spec.selector:
        result["nodeSelector"] = dict(spec.selector)
    if spec.affinity:
        key, values = spec.affinity
        term = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        result["affinity"] = {"nodeAffinity": required}
    return result


def _daemonset(
    world: World, spec: DaemonSpec, template: dict[str, Any], uid: str, desired: int, ready: int
) -> dict[str, Any]:
    labels = spec.labels or {"app": spec.name}
    strategy = "OnDelete" if spec.on_delete else "RollingUpdate"
    return {
        "metadata": {
            "name": spec.name,
            "namespace": spec.namespace,
            "uid": uid,
            "generation": 1,
            "creationTimestamp": rfc3339(world.now - 60 * DAY),
            "labels": dict(labels),
        },
        "spec": {
            "selector": {"matchLabels": dict(labels)},
            "template": {"metadata": {"labels": dict(labels)}, "spec": template},
            "updateStrategy": {"type": strategy},
        },
        "status": {
            "currentNumberScheduled": desired,
            "desiredNumberScheduled": desired,
            "numberMisscheduled": 0,
            "numberReady": ready,
            "numberAvailable": ready,
            **({"numberUnavailable": desired - ready} if desired > ready else {}),
            "updatedNumberScheduled": desired,
            "observedGeneration": 1,
        },
    }


def _pod(
    world: World, spec: DaemonSpec, template: dict[str, Any], machine: Machine, owner_uid: str, rng: Random
) -> dict[str, Any]:
    age = rng.uniform(1, 39) * DAY
    at = world.now - age
    name = world.free_name(spec.namespace, spec.name, rng)
    pod = pods.new(spec.namespace, name, teams.uid(rng), template["containers"], at)
    revision = pods.digest(spec.name)[:10]
    pod["metadata"]["labels"] = {
        **(spec.labels or {"app": spec.name}),
        "controller-revision-hash": revision,
        "pod-template-generation": "1",
    }
    pod["metadata"]["ownerReferences"] = [pods.owner("DaemonSet", spec.name, owner_uid)]
    pod["spec"] = {**template, "schedulerName": "default-scheduler"}
    pods.bind(pod, machine.name, at)
    pods.creating(pod, machine.ip, at + 1)
    pods.running(pod, machine.ip, at + 20, [], "")
    if spec.inits:
        pod["status"]["initContainerStatuses"] = [_init_done(one, at) for one in template["initContainers"]]
    if spec.claim is not None:
        world.claims.make(pod, spec.claim, at)
        given = world.claims.fit(pod, machine)
        if not isinstance(given, str):
            world.claims.allocate(pod, given, at)
    _spoil(pod, spec, machine, world.now)
    return pod


def _init_done(one: dict[str, Any], at: float) -> dict[str, Any]:
    ended = {"exitCode": 0, "reason": "Completed", "startedAt": rfc3339(at + 1), "finishedAt": rfc3339(at + 12)}
    return _row(one, {"terminated": ended}, ready=True)


def _row(one: dict[str, Any], state: dict[str, Any], *, ready: bool, restarts: int = 0) -> dict[str, Any]:
    return {
        "name": one["name"],
        "image": one["image"],
        "imageID": "",
        "ready": ready,
        "restartCount": restarts,
        "state": state,
        "lastState": {},
    }


def _spoil(pod: dict[str, Any], spec: DaemonSpec, machine: Machine, now: float) -> None:
    if machine.kind is L40S_WAITING and spec.name == TOOLKIT:
        message = f'Back-off pulling image "{spec.image}": ErrImagePull: 403 Forbidden'
        _not_ready(pod, now, "ContainersNotReady")
        pod["status"]["phase"] = "Pending"
        waiting = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
        pod["status"]["containerStatuses"] = [_row(one, waiting, ready=False) for one in pod["spec"]["containers"]]
    elif machine.kind is L40S_WAITING and "toolkit-validation" in spec.inits:
        _wait_on_toolkit(pod, now)
    elif machine.kind is TIME_SLICED and machine.name.endswith("-01") and spec.name == PLUGIN:
        _crash_config_manager(pod, now)


def _not_ready(pod: dict[str, Any], now: float, reason: str) -> None:
    for kind in ("ContainersReady", "Ready"):
        pods.set_condition(pod, kind, "False", now - 35 * MINUTE, reason, "containers with unready status")


def _wait_on_toolkit(pod: dict[str, Any], now: float) -> None:
    since = now - 35 * MINUTE
    inits: Rows = []
    for one in pod["spec"]["initContainers"]:
        before = not any("toolkit" in row["name"] for row in inits) and one["name"] == "driver-validation"
        if before:
            inits.append(_init_done(one, since))
        elif one["name"] == "toolkit-validation":
            inits.append(_row(one, {"running": {"startedAt": rfc3339(since)}}, ready=False))
        else:
            inits.append(_row(one, {"waiting": {"reason": "PodInitializing"}}, ready=False))
    waiting = {"waiting": {"reason": "PodInitializing"}}
    pod["status"].update(
        {
            "phase": "Pending",
            "initContainerStatuses": inits,
            "containerStatuses": [_row(one, waiting, ready=False) for one in pod["spec"]["containers"]],
        }
    )
    message = "containers with incomplete status: [toolkit-validation]"
    pods.set_condition(pod, "Initialized", "False", since, "ContainersNotInitialized", message)
    _not_ready(pod, now, "ContainersNotReady")


def _crash_config_manager(pod: dict[str, Any], now: float) -> None:
    message = "back-off 5m0s restarting failed container=config-manager"
    for row in pod["status"]["containerStatuses"]:
        if row["name"] == "config-manager":
            ended = {"exitCode": 1, "reason": "Error", "finishedAt": rfc3339(now - 2 * MINUTE)}
            row.update(
                {
                    "ready": False,
                    "started": False,
                    "restartCount": 17,
                    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": message}},
                    "lastState": {"terminated": ended},
                }
            )
    _not_ready(pod, now, "ContainersNotReady")


def _is_ready(pod: dict[str, Any]) -> bool:
    return any(row["type"] == "Ready" and row["status"] == "True" for row in pod["status"]["conditions"])
