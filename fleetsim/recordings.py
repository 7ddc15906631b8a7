"""Recorded logs of workloads, with the card's own figures filled in.

The texts follow the formats that the real programs print; names, sizes and UUIDs come from the simulated node, so that a
parser's facts agree with the cluster.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

from fleetsim.labels import driver_of
from fleetsim.machines import Machine
from fleetsim.models import T4, Model
from fleetsim.nodetypes import MCDM
from fleetsim.programs import Container, Program


@cache
def _template(log: Path) -> Template:
    return Template(log.read_text(encoding="utf-8"))


def text(log: Path, program: Program, machine: Machine, here: Container) -> str:
    """The log as this container on this machine would print it.

    Windows containers print `\\r\\n`: the line end is added by the caller. Raises KeyError on a placeholder without value.
    """
    values = {**_card(machine.kind.model or T4, here), "driver": here.driver, "cards": str(len(here.cards))}
    values["cuda"] = driver_of(machine.labels)[1]
    # A compute-only adapter says false for both: discovery derives "compute" from the graphics capability.
    values["display"] = "false" if machine.kind is MCDM else "true"
    return _template(log).substitute(values | dict(program.values(here) if program.values else {}))


def _card(model: Model, here: Container) -> dict[str, str]:
    vendor, device = model.pci
    size = here.memory_mib * 1024 * 1024
    return {
        "gpu": here.gpu,
        "gpu_column": f"{here.gpu:<18}",
        "family": model.family.title(),
        "compute": f"{model.compute[0]}.{model.compute[1]}",
        "cores": str(here.cores),
        "memory_mib": str(here.memory_mib),
        "memory_bytes": str(size),
        "memory_hex": hex(size),
        "memory_gib": f"{size / 2**30:.2f}",
        "pci_vendor": vendor,
        "pci_device": device,
        "pci_vendor_upper": vendor.upper(),
        "pci_device_upper": device.upper(),
    }
