"""Recorded logs of workloads, with the card's own figures filled in.

The texts follow the formats that the real programs print; names, sizes and UUIDs come from the simulated node, so that a
parser's facts agree with the cluster.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

from fleetsim.machines import Machine
from fleetsim.models import T4, Model
from fleetsim.nodes import CUDA
from fleetsim.nodetypes import MCDM
from fleetsim.programs import Program, container


@cache
def _template(log: Path) -> Template:
    return Template(log.read_text(encoding="utf-8"))


def text(log: Path, program: Program, machine: Machine, cards: list[int], args: tuple[str, ...] = ()) -> str:
    """The log as this machine would print it. cards: indexes of the cards that the container sees. args: of its command.

    Windows containers print `\\r\\n`: the line end is added by the caller. Raises KeyError on a placeholder without value.
    """
    here = container(machine, cards, args)
    values = {**_card(machine.kind.model or T4), "driver": here.driver, "cards": str(len(cards))}
    # A compute-only adapter says false for both: discovery derives "compute" from the graphics capability.
    values["display"] = "false" if machine.kind is MCDM else "true"
    return _template(log).substitute(values | dict(program.values(here) if program.values else {}))


def _card(model: Model) -> dict[str, str]:
    vendor, device = model.pci
    size = model.memory_mib * 1024 * 1024
    return {
        "gpu": model.name,
        "gpu_column": f"{model.name:<18}",
        "family": model.family.title(),
        "cuda": CUDA,
        "compute": f"{model.compute[0]}.{model.compute[1]}",
        "cores": str(model.cores),
        "memory_mib": str(model.memory_mib),
        "memory_bytes": str(size),
        "memory_hex": hex(size),
        "memory_gib": f"{size / 2**30:.2f}",
        "pci_vendor": vendor,
        "pci_device": device,
        "pci_vendor_upper": vendor.upper(),
        "pci_device_upper": device.upper(),
    }
