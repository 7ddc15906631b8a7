"""The GPU models of the demo's fleet: names as each label and tool writes them, and memory in MiB."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """One GPU model.

    name: as NVML says it. memory_mib: as GPU Feature Discovery labels it. family, compute: GFD's gpu.family, gpu.compute.*.
    pci: PCI vendor and device id, as Windows and Vulkan print it.
    """

    name: str
    memory_mib: int
    family: str = ""
    compute: tuple[int, int] = (0, 0)
    pci: tuple[str, str] = ("10de", "0000")
    cores: int = 0
    mig_capable: bool = False
    machine: str = ""

    @property
    def label(self) -> str:
        """As label values have it: spaces become dashes."""
        return self.name.replace(" ", "-")


T4 = Model("Tesla T4", 15360, "turing", (7, 5), ("10de", "1eb8"), 2560, machine="PowerEdge-R740")
V100 = Model("Tesla V100-SXM2-32GB", 32510, "volta", (7, 0), ("10de", "1db5"), 5120, machine="NF5468M5")
A10 = Model("NVIDIA A10", 23028, "ampere", (8, 6), ("10de", "2236"), 9216, machine="ESC4000A-E10")
P100 = Model("Tesla P100-PCIE-16GB", 16276, "pascal", (6, 0), ("10de", "15f8"), 3584, machine="PowerEdge-C4130")
K80 = Model("Tesla K80", 11441, "kepler", (3, 7), ("10de", "102d"), 2496, machine="X10DRG-O+-CPU")
H100 = Model("NVIDIA H100 80GB HBM3", 81559, "hopper", (9, 0), ("10de", "2330"), 16896, True, "DGXH100")
A100 = Model(
    "NVIDIA A100-SXM4-80GB", 81920, "ampere", (8, 0), ("10de", "20b2"), 6912, True, "DGXA100-920-23687-2530-000"
)
L40S = Model("NVIDIA L40S", 46068, "ada-lovelace", (8, 9), ("10de", "26b9"), 18176, machine="ESC8000A-E12")
RTX4090 = Model(
    "NVIDIA GeForce RTX 4090", 24564, "ada-lovelace", (8, 9), ("10de", "2684"), 16384, machine="WS-C621E-SAGE"
)
MI210 = Model("AMD Instinct MI210", 65520, "", (0, 0), ("1002", "740f"))
GRID_T4_8Q = Model("NVIDIA GRID T4-8Q", 7611, "turing", (7, 5), ("10de", "1eb8"), 2560)
GRID_T4_16Q = Model("NVIDIA GRID T4-16Q", 16384, "turing", (7, 5), ("10de", "1eb8"), 2560)
A10_24Q = Model("NVIDIA A10-24Q", 24576, "ampere", (8, 6), ("10de", "2236"), 9216)
