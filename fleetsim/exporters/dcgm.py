"""NVIDIA's dcgm-exporter: names and units up to 4.8, and those in base units from 4.9 on. Its table is the default one, with ECC and
clock events.

Rows of a device have the labels of the one container that the kubelet's list names for it. A card in MIG mode has no memory and no
activity of its own: these are rows of its instances. A card that has fallen off the bus has its last Xid and nothing else.
Format: NVIDIA/dcgm-exporter (rendermetrics, transformation, etc/default-counters.csv), DCGM's dcgm_fields.h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from fleetsim.exporters.page import Family, block, text
from fleetsim.exporters.seen import MIB, SeenCard, SeenNode
from fleetsim.labels import driver_of
from fleetsim.usage import Case

#: Code and message of the last Xid, by what is wrong with the card.
_XIDS = {
    Case.LOST: (79, "GPU has fallen off the bus"),
    Case.ECC: (94, "Contained memory error"),
    Case.APPLICATION: (31, "GPU memory page fault"),
}
_WINDOW = {"window_size_in_ms": "300000"}


@dataclass(frozen=True)
class _Column:
    """One metric of a card.

    of: "card" (never of an instance), "part" (of instances where there are some), "plain" (of cards that are not cut).
    """

    old: str
    new: str
    kind: str
    help: str
    take: Callable[[SeenCard, bool], float]
    of: str = "card"
    whole: bool = False


def _free(card: SeenCard) -> int:
    """So that free and used make up what there is, in whole MiB too."""
    return (card.use.room // MIB - card.value.memory_used // MIB) * MIB


def _memory(take: Callable[[SeenCard], int], card: SeenCard, base: bool) -> float:
    return take(card) if base else take(card) // MIB


def _reserved(card: SeenCard) -> int:
    return card.use.total - card.use.room


def _is(case: str, card: SeenCard, base: bool) -> float:
    return float(card.use.case == case)


def _clock(card: SeenCard, base: bool) -> float:
    return card.value.sm_clock if base else card.value.sm_clock / 1e6


def _memory_clock(card: SeenCard, base: bool) -> float:
    return card.use.figures.memory_mhz * (1e6 if base else 1)


def _utilization(card: SeenCard, base: bool) -> float:
    return round(card.value.utilization, 2) if base else round(card.value.utilization * 100)


_COLUMNS = (
    _Column("SM_CLOCK", "SM_CLOCK_HERTZ", "gauge", "Clock of the multiprocessors.", _clock),
    _Column("MEM_CLOCK", "MEMORY_CLOCK_HERTZ", "gauge", "Clock of the memory.", _memory_clock),
    _Column(
        "MEMORY_TEMP",
        "MEMORY_TEMP_CELSIUS",
        "gauge",
        "Memory temperature (in C).",
        lambda card, _: card.value.memory_temperature,
        whole=True,
    ),
    _Column(
        "GPU_TEMP",
        "GPU_TEMP_CELSIUS",
        "gauge",
        "GPU temperature (in C).",
        lambda card, _: card.value.temperature,
        whole=True,
    ),
    _Column(
        "SLOWDOWN_TEMP",
        "GPU_TEMP_SLOWDOWN_CELSIUS",
        "gauge",
        "Temperature at which the GPU slows down (in C).",
        lambda card, _: card.use.figures.slowdown,
        whole=True,
    ),
    _Column(
        "POWER_USAGE", "BOARD_POWER_WATTS", "gauge", "Power draw (in W).", lambda card, _: round(card.value.power, 3)
    ),
    _Column(
        "TOTAL_ENERGY_CONSUMPTION",
        "GPU_ENERGY_JOULES_TOTAL",
        "counter",
        "Energy since the driver was loaded.",
        lambda card, base: card.value.energy * (1 if base else 1000),
        whole=True,
    ),
    _Column(
        "PCIE_REPLAY_COUNTER",
        "PCIE_REPLAY_TOTAL",
        "counter",
        "PCIe retries.",
        lambda card, _: card.use.seed % 3,
        whole=True,
    ),
    _Column("GPU_UTIL", "GPU_UTIL_RATIO", "gauge", "GPU utilization.", _utilization, "plain"),
    _Column(
        "FB_FREE",
        "FB_FREE_BYTES",
        "gauge",
        "Frame buffer that is free.",
        partial(_memory, _free),
        "part",
        True,
    ),
    _Column(
        "FB_USED",
        "FB_USED_BYTES",
        "gauge",
        "Frame buffer that is used.",
        partial(_memory, lambda card: card.value.memory_used),
        "part",
        True,
    ),
    _Column(
        "FB_RESERVED",
        "FB_RESERVED_BYTES",
        "gauge",
        "Frame buffer that is reserved.",
        partial(_memory, _reserved),
        "part",
        True,
    ),
    _Column(
        "ECC_SBE_VOL_TOTAL",
        "ECC_SBE_VOL_TOTAL",
        "counter",
        "Single-bit errors since the driver was loaded.",
        lambda card, _: 3 * _is(Case.ECC, card, False),
        whole=True,
    ),
    _Column(
        "ECC_DBE_VOL_TOTAL",
        "ECC_DBE_VOL_TOTAL",
        "counter",
        "Double-bit errors since the driver was loaded.",
        partial(_is, Case.ECC),
        whole=True,
    ),
    _Column(
        "UNCORRECTABLE_REMAPPED_ROWS",
        "ROW_REMAP_UNCORRECTABLE_TOTAL",
        "counter",
        "Rows remapped for uncorrectable errors.",
        partial(_is, Case.ECC),
        whole=True,
    ),
    _Column(
        "CORRECTABLE_REMAPPED_ROWS",
        "ROW_REMAP_CORRECTABLE_TOTAL",
        "counter",
        "Rows remapped for correctable errors.",
        lambda card, _: 2 * _is(Case.ECC, card, False),
        whole=True,
    ),
    _Column(
        "ROW_REMAP_FAILURE",
        "ROW_REMAP_FAILED",
        "gauge",
        "Whether remapping of rows has failed.",
        lambda card, _: 0.0,
        whole=True,
    ),
    _Column(
        "ROW_REMAP_PENDING",
        "ROW_REMAP_PENDING",
        "gauge",
        "Whether rows wait to be remapped.",
        partial(_is, Case.ECC),
        whole=True,
    ),
)
_PROFILING = (
    _Column(
        "GR_ENGINE_ACTIVE",
        "GR_ENGINE_UTIL_RATIO",
        "gauge",
        "Part of time in which the graphics engine was active.",
        lambda card, _: round(card.value.activity, 6),
        "part",
    ),
    _Column(
        "PIPE_TENSOR_ACTIVE",
        "TENSOR_UTIL_RATIO",
        "gauge",
        "Part of cycles in which the tensor pipe was active.",
        lambda card, _: round(card.value.tensor, 6),
        "part",
    ),
    _Column(
        "DRAM_ACTIVE",
        "DRAM_UTIL_RATIO",
        "gauge",
        "Part of cycles in which the memory was active.",
        lambda card, _: round(card.value.dram, 6),
        "part",
    ),
)


def page(node: SeenNode, base: bool = False) -> str:
    """base: as 4.9 writes it, in base units."""
    families = [_family(node, column, "DCGM_FI_DEV_", base) for column in _COLUMNS]
    if base:
        families.append(_capacity(node))
    families += [_xid(node, base), *_clock_events(node, base)]
    families += [_family(node, column, "DCGM_FI_PROF_", base) for column in _PROFILING]
    return text(families)


def _family(node: SeenNode, column: _Column, prefix: str, base: bool) -> Family:
    made = Family(prefix + (column.new if base else column.old), column.kind, column.help, column.whole)
    for card in node.cards:
        if card.lost:
            continue
        parts = node.cut(card)
        if column.of == "card" or not parts:
            made.add(_labels(node, card, base), column.take(card, base))
        elif column.of == "part":
            for part in parts:
                made.add(_labels(node, part, base), column.take(part, base))
    return made


def _capacity(node: SeenNode) -> Family:
    made = Family("DCGM_FI_DEV_FB_CAPACITY_BYTES", "gauge", "Frame buffer in all.", True)
    for card in node.cards:
        if not card.lost:
            for one in node.cut(card) or (card,):
                made.add(_labels(node, one, True), one.use.total)
    return made


def _xid(node: SeenNode, base: bool) -> Family:
    name = "DCGM_FI_DEV_XID_ERROR" if base else "DCGM_FI_DEV_XID_ERRORS"
    made = Family(name, "gauge", "The last Xid error.", True)
    for card in node.cards:
        code, message = _XIDS.get(card.use.case, (0, "No Error"))
        made.add(_labels(node, card, base, {"err_code": code, "err_msg": message}), code)
    return made


def _clock_events(node: SeenNode, base: bool) -> list[Family]:
    """Counts of the last five minutes. 4.9 has totals in their place, which say nothing of now, so they are not collected there."""
    if base:
        return []
    made = Family("DCGM_EXP_CLOCK_EVENTS_COUNT", "gauge", "Clock events within the window.", True)
    for card in node.cards:
        if not card.lost:
            event, count = ("hw_thermal", 4) if card.value.throttled else ("gpu_idle", int(card.value.activity == 0))
            made.add(_labels(node, card, base, {"clock_event": event, **_WINDOW}), count)
    return [made]


def _labels(node: SeenNode, card: SeenCard, base: bool, more: dict[str, object] | None = None) -> str:
    labels: dict[str, object] = {
        "gpu": card.index,
        "UUID": card.uuid,
        "pci_bus_id": f"0000{card.pci.upper()}",
        "device": f"nvidia{card.index}",
        "modelName": node.model.name,
    }
    if card.spot.instance:
        labels |= {"GPU_I_PROFILE": card.spot.profile, "GPU_I_ID": _instance(card)}
    driver, _ = driver_of(node.machine.labels)
    labels |= {"hostname": node.name, "DCGM_FI_SYSTEM_DRIVER_VERSION" if base else "DCGM_FI_DRIVER_VERSION": driver}
    labels |= more or {}
    if card.labelled is not None and (card.spot.instance or not node.cut(card)):
        who = card.labelled
        labels |= {"container": who.container, "namespace": who.namespace, "pod": who.pod}
    return block(labels)


def _instance(card: SeenCard) -> str:
    """NVML's number. Of a device that is cut on demand it follows from where it lies, which ends its name."""
    if card.spot.instance.isdigit():
        return card.spot.instance
    start = int(card.spot.instance.rpartition("-")[2])
    return str({"1": 7, "2": 3, "3": 1, "4": 1}.get(card.spot.profile[0], 0) + start // int(card.spot.profile[0]))
