"""What can be measured of a card: one declaration a measure, in base units, with the range that a value must be in to be
believed.

Names are those of readings, in the order in which they are best asked for. Memory is in bytes, shares are 0 to 1, clocks in
hertz.
"""

from __future__ import annotations

import msgspec

from wording.said import gettext_noop

BYTES, RATIO, CELSIUS, WATTS, HERTZ, JOULES, COUNT, FLAG, CODE, BITS = (
    "bytes",
    "ratio",
    "celsius",
    "watts",
    "hertz",
    "joules",
    "count",
    "flag",
    "code",
    "bits",
)
GAUGE, COUNTER = "gauge", "counter"
#: How rows of different parts of a card (links, memory modules, engines, sensors) are brought together.
HIGHEST, ADDED = "highest", "added"

_GIB = 2**30
#: No card has more memory. Counters that ran below 0 show 16 TiB and more.
MOST_MEMORY = 4 * 2**40
#: A share may be measured a little above 1; it is told as 1. More is none.
MOST_RATIO = 1.05
#: From here on a count is one of the numbers that stand for no value (0x7ffffff0 is the first of them).
_MOST_COUNT = 2**31 - 17


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is measured.

    low, high: the range of what is believed, both included. kind: GAUGE, or COUNTER (it only grows, until a reset).
    parts: HIGHEST or ADDED. apart: two rows of one moment that differ by more disagree; less is what changes between two scrapes.
    label: in English, the key of its translation.
    """

    name: str
    unit: str
    low: float
    high: float
    label: str
    kind: str = GAUGE
    parts: str = HIGHEST
    apart: float = 0.0


_all: dict[str, Measure] = {}


def _declare(measure: Measure) -> Measure:
    _all[measure.name] = measure
    return measure


def _memory(name: str, label: str, low: float = 0, apart: float = 8 * _GIB) -> Measure:
    return _declare(Measure(name=name, unit=BYTES, low=low, high=MOST_MEMORY, label=label, parts=ADDED, apart=apart))


def _share(name: str, label: str) -> Measure:
    return _declare(Measure(name=name, unit=RATIO, low=0, high=MOST_RATIO, label=label, apart=1.0))


def _count(name: str, label: str, parts: str = HIGHEST, apart: float = 100) -> Measure:
    return _declare(
        Measure(name=name, unit=COUNT, low=0, high=_MOST_COUNT, label=label, kind=COUNTER, parts=parts, apart=apart)
    )


def _flag(name: str, label: str) -> Measure:
    return _declare(Measure(name=name, unit=FLAG, low=0, high=1, label=label))


MEMORY_USED = _memory("memory_used", "Memory used")
#: A card without memory is one whose memory is not known, so 0 is none.
MEMORY_TOTAL = _memory("memory_total", "Card memory", low=1, apart=_GIB)
MEMORY_FREE = _memory("memory_free", "Memory free")
MEMORY_RESERVED = _memory("memory_reserved", "Memory reserved by driver and firmware", apart=_GIB)
#: The sum over the processes that the exporter sees: without what the driver needs and without those that it does not see.
PROCESS_MEMORY = _memory("process_memory", "Memory used by processes")

UTILIZATION = _share("utilization", "Utilization: share of time with any activity")
GRAPHICS_ACTIVE = _share("graphics_active", "Graphics engine activity")
SM_ACTIVE = _share("sm_active", "Multiprocessor activity")
TENSOR_ACTIVE = _share("tensor_active", "Tensor activity")
DRAM_ACTIVE = _share("dram_active", "Memory activity")

#: Sensors that are not there are told as 0 degrees, which no running card has.
TEMPERATURE = _declare(Measure(name="temperature", unit=CELSIUS, low=1, high=150, label="Chip temperature", apart=30))
MEMORY_TEMPERATURE = _declare(
    Measure(name="memory_temperature", unit=CELSIUS, low=1, high=150, label="Memory temperature", apart=30)
)
TEMPERATURE_SLOWDOWN = _declare(
    Measure(name="temperature_slowdown", unit=CELSIUS, low=1, high=200, label="Slowdown temperature")
)
TEMPERATURE_MARGIN = _declare(
    Measure(
        name="temperature_margin",
        unit=CELSIUS,
        low=-100,
        high=150,
        label="Degrees below the slowdown temperature",
        apart=30,
    )
)
#: A card that answers draws something: 0 is told where nothing is measured.
POWER = _declare(Measure(name="power", unit=WATTS, low=0.001, high=10_000, label="Power", apart=1_500))
POWER_LIMIT = _declare(Measure(name="power_limit", unit=WATTS, low=0.001, high=10_000, label="Power limit"))
ENERGY = _declare(
    Measure(
        name="energy",
        unit=JOULES,
        low=0,
        high=10**13,
        label="Energy since the driver was loaded",
        kind=COUNTER,
        apart=10**6,
    )
)
SM_CLOCK = _declare(Measure(name="sm_clock", unit=HERTZ, low=0, high=20e9, label="Multiprocessor clock", apart=20e9))
MEMORY_CLOCK = _declare(Measure(name="memory_clock", unit=HERTZ, low=0, high=20e9, label="Memory clock", apart=20e9))

ECC_CORRECTED = _count("ecc_corrected_volatile", "Corrected ECC errors (single bit) since the driver was loaded", ADDED)
ECC_UNCORRECTED = _count(
    "ecc_uncorrected_volatile", "Uncorrected ECC errors (double bit) since the driver was loaded", ADDED, apart=0
)
ECC_CORRECTED_EVER = _count(
    "ecc_corrected_aggregate", "Corrected ECC errors (single bit) in the lifetime of the card", ADDED
)
ECC_UNCORRECTED_EVER = _count(
    "ecc_uncorrected_aggregate", "Uncorrected ECC errors (double bit) in the lifetime of the card", ADDED, apart=0
)
REMAP_PENDING = _flag("row_remap_pending", gettext_noop("Row remapping pending until a reset"))
REMAP_FAILED = _flag("row_remap_failed", gettext_noop("Row remapping failed"))
REMAP_CORRECTED = _count("row_remap_correctable", "Rows remapped after corrected errors")
REMAP_UNCORRECTED = _count("row_remap_uncorrectable", "Rows remapped after uncorrected errors", apart=0)
RETIRED_CORRECTED = _count("retired_pages_single_bit", "Pages retired after single bit errors")
RETIRED_UNCORRECTED = _count("retired_pages_double_bit", "Pages retired after double bit errors", apart=0)
RETIRED_PENDING = _declare(
    Measure(name="retired_pages_pending", unit=COUNT, low=0, high=10**6, label="Pages pending retirement until a reset")
)
SRAM_EXCEEDED = _flag("sram_threshold_exceeded", gettext_noop("SRAM errors exceed the threshold"))
XID = _declare(Measure(name="xid", unit=CODE, low=0, high=9_999, label="Last Xid error", apart=9_999))
THROTTLE = _declare(
    Measure(name="throttle_reasons", unit=BITS, low=0, high=2**53, label="Throttle reasons", apart=2**53)
)
PCIE_REPLAYS = _count("pcie_replays", "PCIe replays")
NVLINK_CRC = _count("nvlink_crc_errors", "NVLink CRC errors", ADDED)
NVLINK_REPLAY = _count("nvlink_replay_errors", "NVLink replays", ADDED)
NVLINK_RECOVERY = _count("nvlink_recovery_errors", "NVLink recoveries", ADDED)
VGPU_LICENCE = _flag("vgpu_licence", "vGPU licence")
RECOVERY_ACTION = _declare(
    Measure(name="recovery_action", unit=CODE, low=0, high=9_999, label="Recovery that the driver requests")
)

#: What a scheduler has promised: claims of one tool, never measurements. They are a cross-check of the mirror's own account.
MEMORY_GIVEN_OUT = _memory("memory_given_out", "Memory that the stack offers", low=1, apart=_GIB)
MEMORY_ALLOCATED = _memory("memory_allocated", "Allocated memory")
CORE_ALLOCATED = _declare(
    Measure(name="core_allocated", unit=RATIO, low=0, high=100, label="Allocated share of the cores", apart=1)
)
SHARERS = _declare(
    Measure(name="sharers", unit=COUNT, low=0, high=10_000, label="Containers that share the card", apart=16)
)

#: All measures, by name.
MEASURES = dict(_all)
#: Those that are promises, not measured on the card.
ALLOCATIONS = frozenset(item.name for item in (MEMORY_GIVEN_OUT, MEMORY_ALLOCATED, CORE_ALLOCATED, SHARERS))
