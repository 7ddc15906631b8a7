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
    def lanes(self) -> int:
        """CUDA cores of a multiprocessor, of the architectures that can be cut."""
        return 64 if self.compute == (8, 0) else 128

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
A10_24Q = Model("NVIDIA A10-24Q", 24576, "ampere", (8, 6), ("10de", "2236"), 9216)
A30 = Model("NVIDIA A30", 24576, "ampere", (8, 0), ("10de", "20b7"), 3584, True, "ESC4000A-E10")
A40 = Model("NVIDIA A40", 46068, "ampere", (8, 6), ("10de", "2235"), 10752, machine="ESC4000A-E10")
#: As Google's nodes have them: nothing labels their memory.
L4 = Model("NVIDIA L4", 23034, "ada-lovelace", (8, 9), ("10de", "27b8"), 7680)
A100_40 = Model("NVIDIA A100-SXM4-40GB", 40960, "ampere", (8, 0), ("10de", "20b0"), 6912, True)
#: A partition of such a card, of which there are eight.
MI300X_CPX = Model("AMD Instinct MI300X OAM", 24564, "", (0, 0), ("1002", "74a1"))
FLEX_170 = Model("Intel Data Center GPU Flex 170", 16384, "", (0, 0), ("8086", "56c0"))
ASCEND_910B = Model("Ascend 910B3", 65536, "", (0, 0), ("19e5", "d802"))
