"""Cards of other vendors that HAMi gives out and registers on the node, each vendor by one row of the table.

The register and the pods' record have the forms of `records`; memory in them is MiB, whatever unit requests have. A resource's name
is a setting of HAMi, so a vendor is known by its register. A vendor that HAMi gives out without a register has a module of its
own beside this system: its own plugin is told the card by an annotation of the vendor, or chooses it itself.
Sources: Project-HAMi/HAMi v2.10.0, pkg/device; for what the plugins write, Project-HAMi/amd-device-plugin 808784f1,
biren-device-plugin 331ee2b and dcu-vgpu-device-plugin.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kube.objects import Node
from stacks.engine.base import HEALTH_UNKNOWN, HEALTHY, MEMORY, SHARES, UNHEALTHY, WHOLE
from stacks.engine.labels import MIB
from stacks.engine.names import annotations_of
from stacks.hami.records import REGISTER, Registered


class Vendor(NamedTuple):
    """name: whose cards they are; "" where other systems give out the same. register: annotation of the node. record: of pods.
    resource: that counts slots.

    memory: asks for a part of a card, in units of so many bytes; "" where nobody can, so that the record has no amounts. further:
    what else is asked for with them. checked: whether the plugin looks before it calls a card healthy; some call all of them so.
    placeholder: MiB that it writes where it does not know a card's memory. cores: whether cores of record and register are a
    number of them, no percent.
    npu: they are no GPUs.
    """

    name: str
    register: str
    record: str
    resource: str
    memory: str = ""
    unit: int = MIB
    further: tuple[str, ...] = ()
    checked: bool = True
    placeholder: int = 0
    cores: bool = False
    npu: bool = False

    @property
    def resources(self) -> tuple[str, ...]:
        """All that is asked for."""
        return tuple(name for name in (self.resource, self.memory, *self.further) if name)

    def mode(self, card: Registered) -> str:
        """How the card is given out."""
        return MEMORY if self.memory else WHOLE if card.shares == 1 else SHARES

    def memory_of(self, card: Registered) -> int | None:
        """The card's memory in bytes."""
        return card.memory if not self.placeholder or card.memory != self.placeholder * MIB else None

    def health_of(self, card: Registered) -> str:
        """What the register says of the card's health."""
        return UNHEALTHY if not card.healthy else HEALTHY if self.checked else HEALTH_UNKNOWN


#: What begins the names of the vendors' resources.
PREFIXES = ("hygon.com/", "kunlunxin.com/", "iluvatar.ai/", "birentech.com/", "vastaitech.com/", "huawei.com/ascend")
#: Names that another system owns where there is no register.
TAKEN = ("huawei.com/Ascend310P", "amd.com/gpu", "birentech.com/gpu", "vastaitech.com/va")

_ANY = re.compile(r"hami\.io/node-(?:([A-Za-z0-9.-]{1,63})-register|register-([A-Za-z0-9.-]{1,63}))")
_ASCEND = re.compile(r"Ascend[0-9]{3}[A-Z]?[0-9]?(?:-[0-9])?")
#: Names of chips: MR-V100, BI-V150.
_ILUVATAR = re.compile(r"(?:MR|BI)-V[0-9]{2,3}[A-Z]?")


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
    if (fixed := _FIXED.get(word)) is not None:
        return fixed._replace(register=register)
    if _ASCEND.fullmatch(word):
        name = f"huawei.com/{word}"
        return Vendor("ascend", register, _record(word), name, f"{name}-memory", further=(f"{name}-core",), npu=True)
    if _ILUVATAR.fullmatch(word):
        name = f"iluvatar.ai/{word}"
        further = (f"{name}.vCore",)
        return Vendor("iluvatar", register, _record(word), f"{name}-vgpu", f"{name}.vMem", 256 * MIB, further)
    return None


def _record(word: str) -> str:
    return f"hami.io/{word}-devices-allocated"


#: Word of the register → its vendor.
_FIXED = {
    "dcu": Vendor(
        "hygon",
        "",
        _record("dcu"),
        "hygon.com/dcunum",
        "hygon.com/dcumem",
        further=("hygon.com/dcucores",),
        checked=False,
    ),
    "xpu": Vendor("kunlun", "", _record("xpu"), "kunlunxin.com/vxpu", "kunlunxin.com/vxpu-memory", npu=True),
    "biren": Vendor("biren", "", _record("Biren"), "birentech.com/gpu", checked=False, placeholder=65024),
    "va": Vendor("vastai", "", _record("Vastai"), "vastaitech.com/va"),
    "amd": Vendor(
        "amd",
        "",
        _record("amd"),
        "amd.com/gpu",
        "amd.com/gpumem",
        further=("amd.com/gpucores",),
        checked=False,
        cores=True,
    ),
}
