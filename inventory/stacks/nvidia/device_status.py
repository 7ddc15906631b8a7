"""Which devices the kubelet gave to a container, where it says so: `allocatedResourcesStatus`.

Must not know how many cards a node has. Source: KEP-4680 (ResourceHealthStatus); device IDs of NVIDIA's plugin
(`GPU-<uuid>`, `MIG-<uuid>`, `GPU-<uuid>::<replica>`) and of GKE's (`nvidia0`, `nvidia0/gi1`, `nvidia0/vgpu2`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from inventory.stacks.engine.base import HEALTH_UNKNOWN, HEALTHY, UNHEALTHY
from kube.objects import Pod

_UUID = re.compile(r"((?:GPU|MIG)-[0-9A-Za-z][0-9A-Za-z/-]{0,99})(?:::[0-9]+)?")
_NUMBERED = re.compile(r"nvidia([0-9]{1,4})(?:/(?:gi|vgpu)[0-9]+)*")
_HEALTH = {"Healthy": HEALTHY, "Unhealthy": UNHEALTHY}


class Device(NamedTuple):
    """One device of a container. uuid: None where the ID carries a number; number: None where it carries a UUID."""

    uuid: str | None
    number: int | None
    health: str

    @property
    def key(self) -> str:
        """The key of its card."""
        return self.uuid if self.uuid is not None else str(self.number)


def device(resource_id: str, health: str | None) -> Device | None:
    """Read one resource ID; None when it is of no known form."""
    state = _HEALTH.get(health or "", HEALTH_UNKNOWN)
    match = _UUID.fullmatch(resource_id)
    if match:
        return Device(match[1], None, state)
    match = _NUMBERED.fullmatch(resource_id)
    return Device(None, int(match[1]), state) if match else None


def devices(pod: Pod, wanted: tuple[str, ...]) -> dict[tuple[str, bool, str], list[Device]]:
    """(container, init, resource) → its devices, in the kubelet's order. IDs of unknown form are left out.

    A container whose IDs are left out has fewer devices than it asked for: its caller sees that something is missing.
    """
    status = pod.status
    if status is None:
        return {}
    found: dict[tuple[str, bool, str], list[Device]] = {}
    for init, statuses in ((False, status.containerStatuses), (True, status.initContainerStatuses)):
        for container in statuses or ():
            for item in container.allocatedResourcesStatus or ():
                if item.name in wanted:
                    read = [device(entry.resourceID, entry.health) for entry in item.resources or ()]
                    known = [entry for entry in read if entry is not None]
                    found.setdefault((container.name, init, item.name), []).extend(known)
    return found
