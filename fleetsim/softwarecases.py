"""What is wrong, or under way, with the software of the demo's cluster: each state of a component, where it is to be seen.

| state | where |
| --- | --- |
| crash-looping | `L40S_WAITING`: something on the host holds the driver, which its manager cannot unload |
| waiting | the same node: each operand of the GPU Operator waits for the one before it |
| crash-looping | the first time-sliced node: the config-manager beside the device plugin |
| paused | the first A100 node in MIG mode: a change of the layout that has stood still for hours |
| pending | the KAI node: Feature Discovery's pod has no sandbox |
| not ready | `UNSERVED`: gpushare's plugin runs, and offers nothing |
| not ready | `ALIBABA_BEIJING`: the image of the DirectX plugin is of another region |
| missing | `WINDOWS_2025`: TensorWorks' plugins are built for another build |
| missing | the A30 node: the worker of Node Feature Discovery does not tolerate its taint |
| disabled | DCGM and the node status exporter, in the ClusterPolicy |
| pending, in the cluster | gpushare's extender: its node selector is that of Kubernetes before 1.24 |
| unknown, in the cluster | what kube-scheduler's configuration file says |
| outdated, paused, waiting | nodes whose driver is upgraded: `upgrade.py` |

Everything else is ready. A small fleet has those for which it has the node.
"""

from __future__ import annotations

from typing import Any

from fleetsim import pods
from fleetsim.clock import HOUR, MINUTE, rfc3339
from fleetsim.machines import Machine
from fleetsim.migtypes import MIG_MIXED_A100
from fleetsim.nodetypes import ALIBABA_BEIJING, L40S_WAITING, TIME_SLICED
from fleetsim.plugins import DRIVER, FEATURES, PLUGIN
from fleetsim.resources import NODES
from fleetsim.vendortypes import KAI
from fleetsim.world import World

Pod = dict[str, Any]

#: Since when all of this is so.
AGE_S = 3 * HOUR
DEPLOY = "nvidia.com/gpu.deploy."
#: What the MIG manager pauses while it changes the layout.
_MIG_CLIENTS = ("device-plugin", "gpu-feature-discovery", "dcgm", "dcgm-exporter")


def prepare(world: World) -> None:
    """Before anything runs on the nodes."""
    found = [machine for machine in world.machines if machine.kind is MIG_MIXED_A100]
    for machine in found[:1] if len(found) > 1 else ():
        machine.labels.update({f"{DEPLOY}{name}": "paused-for-mig-change" for name in _MIG_CLIENTS})
        machine.labels.update({"nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": "pending"})
        offer(world, machine, given=False)
        machine.supplies.clear()


def offer(world: World, machine: Machine, *, given: bool) -> None:
    """Write the node's labels, and whether its device plugin is there: without it the kubelet has 0 of each resource."""
    node = world.store.get(NODES, "", machine.name)
    node["metadata"]["labels"] = dict(machine.labels)
    for name, supply in machine.supplies.items():
        for field in ("capacity", "allocatable"):
            node["status"][field][name] = str(supply.ledger.node_total) if given else "0"
    world.store.replace(NODES, node)


def states_behind(world: World) -> tuple[str, ...]:
    """The GPU Operator's states that are not reached on all nodes."""
    if not any(machine.kind is L40S_WAITING for machine in world.machines):
        return ()
    return (
        *("state-driver", "state-container-toolkit", "state-operator-validation", "state-device-plugin"),
        *("state-dcgm-exporter", "gpu-feature-discovery"),
    )


def spoil(pod: Pod, daemonset: str, machine: Machine, now: float) -> None:
    """What is wrong with this pod of a DaemonSet; nothing with most."""
    since = now - AGE_S
    if (
        machine.kind is L40S_WAITING
        and "initContainers" in pod["spec"]
        and pod["metadata"]["namespace"] != "kube-system"
    ):
        _behind_the_driver(pod, daemonset, now)
    elif machine.kind is ALIBABA_BEIJING and daemonset == "directx-device-plugin-windows":
        _without_image(pod, since)
    elif machine.kind is KAI and machine.name.endswith("-01") and daemonset == FEATURES:
        _without_sandbox(pod, since)
    elif machine.kind is TIME_SLICED and machine.name.endswith("-01") and daemonset == PLUGIN:
        _crash_config_manager(pod, now)


def _behind_the_driver(pod: Pod, daemonset: str, now: float) -> None:
    since = now - AGE_S
    if daemonset != DRIVER:
        steps = [one["name"] for one in pod["spec"]["initContainers"]]
        pods.initializing(pod, "driver-validation" if "driver-validation" in steps else "toolkit-validation", since)
        return
    back_off = "back-off 5m0s restarting failed container=k8s-driver-manager"
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": back_off}}
    pods.initializing(pod, "k8s-driver-manager", since, state, restarts=31)
    ended = {"exitCode": 1, "reason": "Error", "finishedAt": rfc3339(now - 4 * MINUTE)}
    pod["status"]["initContainerStatuses"][0]["lastState"] = {"terminated": ended}


def _without_image(pod: Pod, since: float) -> None:
    image = pod["spec"]["containers"][0]["image"]
    message = f'Back-off pulling image "{image}": ErrImagePull: dial tcp: lookup registry-vpc: no such host'
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
    pod["status"]["phase"] = "Pending"
    pod["status"]["containerStatuses"] = [pods.init_row(one, waiting) for one in pod["spec"]["containers"]]
    pods.unready(pod, since)


def _without_sandbox(pod: Pod, since: float) -> None:
    """Scheduled, and nothing else: a volume cannot be mounted, which events say."""
    waiting = {"waiting": {"reason": "PodInitializing"}}
    pods.not_begun(pod)
    pod["status"]["initContainerStatuses"] = [pods.init_row(one, waiting) for one in pod["spec"]["initContainers"]]
    pods.set_condition(pod, "PodReadyToStartContainers", "False", since)
    pods.set_condition(
        pod, "Initialized", "False", since, "ContainersNotInitialized", "containers with incomplete status"
    )
    pods.unready(pod, since)


def _crash_config_manager(pod: Pod, now: float) -> None:
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
    pods.unready(pod, now - 35 * MINUTE)
