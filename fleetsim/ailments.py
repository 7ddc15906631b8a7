"""What is said of the demo's cards by those who watch their health: conditions of nodes, and the kubelet of a device.

| who says it | what | where |
| --- | --- | --- |
| NVSentinel | a card close to its highest temperature | second H100 node, card 1 |
| NVSentinel | an Xid error 79 in the kernel log; the machine wants a restart | second H100 node, card 5 |
| kubelet | the same card's device is unhealthy, which a pod holds | second H100 node, card 5 |
| NVSentinel | nothing found | first H100 node |
| NVSentinel | the card that the plugin withholds has fallen off the bus | last A100 node, card 7 |
| GKE's device plugin | a critical Xid error 48 since the node was started | first GKE node of shared cards |
| node problem detector | nothing found | the AMD node |

The taint of a DRA device and the card that is withheld are among the mistakes; what exporters see of cards is in `usage/cases.py`.
Forms: NVIDIA/NVSentinel at 227932c (platform-connectors), GoogleCloudPlatform/container-engine-accelerators (health_check), the AMD
plugin of the node problem detector.
"""

from __future__ import annotations

import json
from typing import Any

from fleetsim.clock import HOUR, rfc3339
from fleetsim.machines import Machine
from fleetsim.migtypes import GKE_SHARED
from fleetsim.nodetypes import A100, H100, NodeType
from fleetsim.resources import NODES, PODS
from fleetsim.selectors import NODE_NAME
from fleetsim.systems import NVIDIA_GPU
from fleetsim.usage.cases import FALLEN, HOT
from fleetsim.vendortypes import AMD
from fleetsim.world import World


def sicken(world: World) -> None:
    """After the nodes are filled. A small fleet has what it has the node for."""
    first, second = (_nth(world, H100, number) for number in (0, 1))
    if first is not None:
        for check in ("GpuMemWatch", "GpuThermalWatch", "SysLogsXIDError"):
            _condition(world, first, check, "False", f"{check}IsHealthy", "No Health Failures", 90 * HOUR)
    if second is not None:
        _nvsentinel(
            world, second, "GpuThermalMarginWatch", HOT, "DCGM_FR_TEMP_MARGIN", "GPU is close to its limit", "NONE", 3
        )
        _nvsentinel(
            world, second, "SysLogsXIDError", FALLEN, "79", "Xid 79: GPU has fallen off the bus", "RESTART_BM", 2
        )
        _unhealthy_device(world, second, FALLEN)
    for machine in [one for one in world.machines if one.kind is A100][-1:]:
        text = "GPU has fallen off the bus"
        _nvsentinel(world, machine, "SysLogsGPUFallenOff", machine.kind.cards - 1, "79", text, "RESTART_BM", 20)
    shared = _nth(world, GKE_SHARED, 0)
    if shared is not None:
        boot = world.store.get(NODES, "", shared.name)["status"]["nodeInfo"]["bootID"]
        _condition(world, shared, "XidCriticalError", "True", json.dumps({"48": True}), boot, 5 * HOUR)
    amd = _nth(world, AMD, 0)
    if amd is not None:
        _condition(world, amd, "AMDGPUProblem", "False", "AMDGPUIsUp", "AMD GPU is up", 90 * HOUR)


def _nth(world: World, kind: NodeType, number: int) -> Machine | None:
    found = [machine for machine in world.machines if machine.kind is kind]
    return found[number] if number < len(found) else None


def _nvsentinel(
    world: World, machine: Machine, check: str, card: int, code: str, text: str, action: str, hours: float
) -> None:
    pci = f"0000:{0x1A + 0x10 * card:02x}:00"
    message = (
        f"ErrorCode:{code} GPU:{card} PCI:{pci} GPU_UUID:{machine.uuids[card]} {text} Recommended Action={action};"
    )
    _condition(world, machine, check, "True", f"{check}IsNotHealthy", message, hours * HOUR)


def _condition(world: World, machine: Machine, kind: str, status: str, reason: str, message: str, age: float) -> None:
    node = world.store.get(NODES, "", machine.name)
    node["status"]["conditions"].append(
        {
            "type": kind,
            "status": status,
            "lastHeartbeatTime": rfc3339(world.now),
            "lastTransitionTime": rfc3339(world.now - age),
            "reason": reason,
            "message": message,
        }
    )
    world.store.replace(NODES, node)


def _unhealthy_device(world: World, machine: Machine, card: int) -> None:
    """The kubelet's word on the device that a pod on this node holds."""
    for pod in world.store.all(PODS, lambda one: one.fields[NODE_NAME] == machine.name):
        if _mark(pod, machine.uuids[card]):
            world.store.replace(PODS, pod)
            return


def _mark(pod: dict[str, Any], device: str) -> bool:
    for container in pod["status"].get("containerStatuses", []):
        for item in container.get("allocatedResourcesStatus", []):
            for one in item["resources"] if item["name"] == NVIDIA_GPU else []:
                if one["resourceID"] == device:
                    one["health"] = "Unhealthy"
                    return True
    return False
