"""Cards of other vendors that HAMi gives out and registers on the node, each vendor by one row of the table.

The register and the pods' record have the forms of `records`; memory in them is MiB, whatever unit requests have. A resource's name
is a setting of HAMi, so a vendor is known by its register. Vendors without a register (HAMi counts the node's capacity, with memory
that is a constant) are not read here. Source: Project-HAMi/HAMi v2.10.0, pkg/device.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from inventory.stacks.engine.labels import MIB
from inventory.stacks.engine.names import annotations_of
from inventory.stacks.hami.records import REGISTER
from kube.objects import Node


class Vendor(NamedTuple):
    """register: annotation of the node. record: of pods. resource: that counts slots; memory: part of a card, in units of so many
    bytes; further: what else is asked for with them."""

    register: str
    record: str
    resource: str
    memory: str
    unit: int = MIB
    further: tuple[str, ...] = ()

    @property
    def resources(self) -> tuple[str, ...]:
        """All that is asked for."""
        return self.resource, self.memory, *self.further


#: What begins the names of the vendors' resources.
PREFIXES = ("hygon.com/", "kunlunxin.com/", "iluvatar.ai/", "birentech.com/", "vastaitech.com/", "huawei.com/ascend")
#: Names that another system owns where there is no register.
TAKEN = ("huawei.com/Ascend310P",)

_ANY = re.compile(r"hami\.io/node-(?:([A-Za-z0-9.-]{1,63})-register|register-([A-Za-z0-9.-]{1,63}))")
_ASCEND = re.compile(r"Ascend[0-9]{3}[A-Z]?[0-9]?(?:-[0-9])?")
#: Names of chips: MR-V100, BI-V150.
_ILUVATAR = re.compile(r"(?:MR|BI)-V[0-9]{2,3}[A-Z]?")
#: Word of the register → (word of the record, resource, memory, core).
_FIXED = {
    "dcu": ("dcu", "hygon.com/dcunum", "hygon.com/dcumem", "hygon.com/dcucores"),
    "xpu": ("xpu", "kunlunxin.com/vxpu", "kunlunxin.com/vxpu-memory", "kunlunxin.com/vxpu-cores"),
    "biren": ("Biren", "birentech.com/gpu", "birentech.com/memory", "birentech.com/cores"),
    "va": ("Vastai", "vastaitech.com/va", "vastaitech.com/memory", "vastaitech.com/cores"),
}


def vendors_of(node: Node) -> tuple[list[Vendor], list[str]]:
    """(the vendors that have registered cards of the node, registers of others), in the order of their annotations' names."""
    known: list[Vendor] = []
    strange: list[str] = []
    for name in sorted(annotations_of(node)):
        match = _ANY.fullmatch(name) if name != REGISTER else None
        if match is not None:
            found = _vendor(name, match[1] or match[2])
            if found is not None:
                known.append(found)
            else:
                strange.append(name)
    return known, strange


def _vendor(register: str, word: str) -> Vendor | None:
    if word in _FIXED:
        of_record, resource, memory, core = _FIXED[word]
        return Vendor(register, _record(of_record), resource, memory, MIB, (core,))
    if _ASCEND.fullmatch(word):
        name = f"huawei.com/{word}"
        return Vendor(register, _record(word), name, f"{name}-memory", MIB, (f"{name}-core",))
    if _ILUVATAR.fullmatch(word):
        name = f"iluvatar.ai/{word}"
        return Vendor(register, _record(word), f"{name}-vgpu", f"{name}.vMem", 256 * MIB, (f"{name}.vCore",))
    return None


def _record(word: str) -> str:
    return f"hami.io/{word}-devices-allocated"
