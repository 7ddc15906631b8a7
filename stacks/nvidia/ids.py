"""Ids of devices: of NVIDIA's plugin (`GPU-<uuid>`, `MIG-<uuid>`, `GPU-<uuid>::<replica>`, and before driver 470
`MIG-GPU-<uuid of the card>/<gi>/<ci>`) and of Google's (`nvidia0`, `nvidia0/gi1`, `nvidia0/vgpu2`, `nvidia0/gi1/vgpu0`).

The card of a slice is known only where the id has it. Sources: NVIDIA/k8s-device-plugin v0.20.0, internal/rm; Google's
container-engine-accelerators 992db812, pkg/gpu/nvidia/gpusharing.
"""

from __future__ import annotations

import re

from stacks.engine.devices import Device

SLICE = "MIG-"
_UUID = re.compile(r"((?:GPU|MIG)-[0-9A-Za-z][0-9A-Za-z/-]{0,99})(?:::[0-9]+)?")
_OLD_SLICE = re.compile(r"MIG-(GPU-[0-9A-Za-z-]+)/[0-9]+/[0-9]+")
_NUMBERED = re.compile(r"nvidia([0-9]{1,4})(/gi[0-9]{1,3})?(?:/vgpu[0-9]+)?")


def device(resource_id: str) -> Device | None:
    """Read one id; None when it is of no known form."""
    match = _UUID.fullmatch(resource_id)
    if match:
        parent = _OLD_SLICE.fullmatch(match[1])
        return Device(match[1], uuid=match[1], parent=parent[1] if parent else None)
    match = _NUMBERED.fullmatch(resource_id)
    if match is None:
        return None
    number = int(match[1])
    if match[2]:
        return Device(f"{number}{match[2]}", number=number, parent=str(number))
    return Device(str(number), number=number)
