"""Recorded logs of validation workloads, with the card's own figures filled in. Files: `logs/<suite>.<outcome>.log`.

The texts follow the formats that the real programs print; names, sizes and UUIDs come from the simulated node, so that a
parser's facts agree with the cluster.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

from fleetsim.machines import Machine
from fleetsim.models import T4, Model
from fleetsim.nodes import CUDA, DRIVER
from fleetsim.nodetypes import MCDM

_FOLDER = Path(__file__).parent / "logs"
WINDOWS_DRIVER = "512.78"
#: Nodes whose driver was never upgraded; no label says so.
OLD_DRIVERS = {"gpu-t4-04": "470.82.01"}
BODIES = 59392


@cache
def _template(name: str) -> Template:
    return Template((_FOLDER / f"{name}.log").read_text(encoding="utf-8"))


def exists(name: str) -> bool:
    """Whether there is a recording of this name ("<suite>.<outcome>")."""
    return (_FOLDER / f"{name}.log").is_file()


def text(name: str, machine: Machine, cards: list[int], bodies: int = BODIES) -> str:
    """The log as this machine would print it. cards: indexes of the cards that the container sees.

    Windows containers print `\\r\\n`: the line end is added by the caller. Raises KeyError on a placeholder without value.
    """
    model = machine.kind.model or T4
    values = {**_card(model), **_nbody(model, bodies), **_lists(machine, model, cards)}
    values["driver"] = driver(machine)
    # A compute-only adapter says false for both: discovery derives "compute" from the graphics capability.
    values["display"] = "false" if machine.kind is MCDM else "true"
    return _template(name).substitute(values)


def driver(machine: Machine) -> str:
    """The driver version of this machine."""
    return WINDOWS_DRIVER if machine.kind.windows else OLD_DRIVERS.get(machine.name, DRIVER)


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
        "smi_memory": f"{f'4MiB / {model.memory_mib}MiB':>20}",
        "pci_vendor": vendor,
        "pci_device": device,
        "pci_vendor_upper": vendor.upper(),
        "pci_device_upper": device.upper(),
    }


def _nbody(model: Model, bodies: int) -> dict[str, str]:
    gflops = model.cores * 1.684
    interactions = gflops / 20
    milliseconds = bodies * bodies * 10 / (interactions * 1e6) if interactions else 0.0
    return {
        "bodies": str(bodies),
        "nbody_ms": f"{milliseconds:.3f}",
        "nbody_interactions": f"{interactions:.3f}",
        "nbody_gflops": f"{gflops:.3f}",
    }


def _lists(machine: Machine, model: Model, cards: list[int]) -> dict[str, str]:
    compute = f"{model.compute[0]}.{model.compute[1]}"
    mig = "Disabled" if model.mig_capable else "[N/A]"
    rows = [
        f"{place}, {machine.uuids[card]}, {model.name}, {model.memory_mib} MiB, 4 MiB, "
        f"00000000:{0x1A + 4 * card:02X}:00.0, {DRIVER}, {compute}, {mig}"
        for place, card in enumerate(cards)
    ]
    ranks = [
        f"#  Rank {place:2d} Group  0 Pid  {13919 + place} on {machine.name:>10} device {place:2d} "
        f"[0000:{0x1A + 4 * card:02x}:00] {model.name}"
        for place, card in enumerate(cards)
    ]
    return {"smi_rows": "\n".join(rows), "nccl_ranks": "\n".join(ranks), "cards": str(len(cards))}
