"""What the Ascend device plugin and the scheduler write on a pod: the chips and parts of chips that it has. Nothing here raises."""

from __future__ import annotations

import re

from stacks.engine.devices import Device
from stacks.engine.names import too_long

#: What the pod really has; what the kubelet picked may be another chip. What the scheduler chose stands under the resource's name.
REAL, KUBELET = "huawei.com/AscendReal", "huawei.com/kltDev"
_CHIP = re.compile(r"(?:Ascend(?:910|310P|310)-|npu-)?([0-9]{1,4})")
#: Cores, number of the part, physical id of its chip.
_VIRTUAL = re.compile(r"Ascend(?:910|310P)-[0-9]{1,2}c[a-z0-9.]{0,24}-([0-9]{1,6})-([0-9]{1,4})")
#: Physical id and template: 0-vir02.
_TEMPLATE = re.compile(r"([0-9]{1,4})-vir[0-9]{2}[a-z0-9_]{0,24}")
_MOST_NAMED = 256


def names(value: str) -> list[Device] | None:
    """Each once, in order; None where the text is not of this form."""
    parts = [] if too_long(value) else [part.strip() for part in value.split(",") if part.strip()]
    if not parts or len(parts) > _MOST_NAMED:
        return None
    found = [_name(part) for part in parts]
    return [item for item in dict.fromkeys(found) if item is not None] if None not in found else None


def _name(part: str) -> Device | None:
    """A chip by its physical id, or a part with the chip that it is of."""
    if match := _VIRTUAL.fullmatch(part):
        return Device(part, parent=str(int(match[2])))
    match = _CHIP.fullmatch(part) or _TEMPLATE.fullmatch(part)
    return Device(str(int(match[1]))) if match else None
