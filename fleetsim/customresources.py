"""What the operators of the demo's cluster are told, and what they say of it: ClusterPolicy of NVIDIA's, DeviceConfig of AMD's.

No operator runs: the objects say what the rest of the fleet shows. Forms: NVIDIA/gpu-operator v25.10.1 (api/nvidia/v1),
ROCm/gpu-operator v1.5.1 (api/v1alpha1).
"""

from __future__ import annotations

from random import Random
from typing import Any

from fleetsim import softwarecases, teams
from fleetsim.clock import DAY, rfc3339
from fleetsim.labels import NEW_DRIVER
from fleetsim.machines import Machine
from fleetsim.plugins import GPU_TOLERATED, INFERENCE_TOLERATED, OPERATOR, OPERATOR_NS
from fleetsim.resources import CLUSTERPOLICIES, DEVICECONFIGS
from fleetsim.usage import noise
from fleetsim.vendorplugins import AMD_CONFIG, AMD_NS
from fleetsim.world import World

POLICY = "cluster-policy"
#: Labels of what the operator makes.
MANAGED = {"app.kubernetes.io/managed-by": "gpu-operator", "helm.sh/chart": f"gpu-operator-{OPERATOR}"}
#: How many nodes get another driver at once.
AT_ONCE = 2


def create(world: World) -> None:
    """Each where it has a node."""
    if any(machine.kind.operator for machine in world.machines):
        world.store.create(CLUSTERPOLICIES, _policy(world))
    amd = [machine for machine in world.machines if _is_amd(machine)]
    if amd:
        world.store.create(DEVICECONFIGS, _device_config(world, amd))


def policy_owner(world: World) -> dict[str, Any]:
    """The owner reference of what the GPU Operator makes."""
    return {
        "apiVersion": CLUSTERPOLICIES.api_version,
        "kind": CLUSTERPOLICIES.kind,
        "name": POLICY,
        "uid": _uid(world, POLICY),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _uid(world: World, name: str) -> str:
    """With dice of its own: who refers to it may be made before it."""
    return teams.uid(Random(noise.seed_of(world.seed, name)))


def _policy(world: World) -> dict[str, Any]:
    on, off = {"enabled": True}, {"enabled": False}
    upgrade = {"autoUpgrade": True, "maxParallelUpgrades": AT_ONCE, "maxUnavailable": "25%"}
    return {
        "metadata": {
            "name": POLICY,
            "uid": _uid(world, POLICY),
            "generation": 4,
            "creationTimestamp": rfc3339(world.now - 60 * DAY),
            "labels": {
                "app.kubernetes.io/component": "gpu-operator",
                "app.kubernetes.io/version": OPERATOR,
                "helm.sh/chart": f"gpu-operator-{OPERATOR}",
            },
        },
        "spec": {
            "operator": {},
            "daemonsets": {"tolerations": [GPU_TOLERATED, INFERENCE_TOLERATED]},
            "driver": {**on, "repository": "nvcr.io/nvidia", "image": "driver", "version": NEW_DRIVER}
            | {"upgradePolicy": upgrade},
            "toolkit": {**on},
            "devicePlugin": {**on, "config": {"name": "device-plugin-config", "default": "any"}},
            "dcgm": {**off},
            "dcgmExporter": {**on},
            "gfd": {**on},
            "mig": {"strategy": "mixed"},
            "migManager": {**on, "config": {"name": "default-mig-parted-config", "default": "all-disabled"}},
            "nodeStatusExporter": {**off},
            "validator": {**on},
            "sandboxWorkloads": {**off},
        },
        "status": {
            "state": "notReady" if (behind := softwarecases.states_behind(world)) else "ready",
            "namespace": OPERATOR_NS,
            "conditions": _conditions(world, behind),
        },
    }


def _conditions(world: World, behind: tuple[str, ...]) -> list[dict[str, Any]]:
    """behind: states of the operator whose DaemonSets are not ready on all nodes."""
    if not behind:
        since, done = (
            rfc3339(world.now - 20 * DAY),
            "ClusterPolicy is ready as all resources have been successfully reconciled",
        )
        return [
            {"type": "Ready", "status": "True", "lastTransitionTime": since, "reason": "Reconciled", "message": done},
            {"type": "Error", "status": "False", "lastTransitionTime": since, "reason": "Ready", "message": ""},
        ]
    since = rfc3339(world.now - softwarecases.AGE_S)
    message = f"ClusterPolicy is not ready, states not ready: [{' '.join(behind)}]"
    return [
        {"type": "Ready", "status": "False", "lastTransitionTime": since, "reason": "Error", "message": ""},
        {
            "type": "Error",
            "status": "True",
            "lastTransitionTime": since,
            "reason": "OperandNotReady",
            "message": message,
        },
    ]


def _is_amd(machine: Machine) -> bool:
    return "amd.com/gpu.driver-version" in machine.labels


def _device_config(world: World, machines: list[Machine]) -> dict[str, Any]:
    number = len(machines)
    all_there = {"nodesMatchingSelectorNumber": number, "desiredNumber": number, "availableNumber": number}
    modules = {
        machine.name: {
            "containerImage": f"registry.demo/amdgpu-driver:ubuntu-22.04-{machine.labels['amd.com/gpu.driver-version']}",
            "kernelVersion": "5.15.0-130-generic",
            "lastTransitionTime": rfc3339(world.now - 20 * DAY),
            "status": "Install-Complete",
        }
        for machine in machines
    }
    return {
        "metadata": {
            "name": AMD_CONFIG,
            "namespace": AMD_NS,
            "uid": _uid(world, AMD_CONFIG),
            "generation": 1,
            "creationTimestamp": rfc3339(world.now - 60 * DAY),
        },
        "spec": {
            "driver": {"enable": True, "version": machines[0].labels["amd.com/gpu.driver-version"]},
            "devicePlugin": {"enableDevicePlugin": True, "enableNodeLabeller": True},
            "metricsExporter": {"enable": False},
            "selector": {"feature.node.kubernetes.io/amd-gpu": "true"},
        },
        "status": {"driver": dict(all_there), "devicePlugin": dict(all_there), "nodeModuleStatus": modules},
    }
