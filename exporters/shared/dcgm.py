"""The metrics that are named after DCGM's fields, with the units of each version; for all exporters that publish them.

Sources: dcgmlib/dcgm_fields.h of DCGM 4.6 (names, aliases, units), go-dcgm's test of base-unit fields and NVIDIA's field
reference of DCGM 4.7 (names in base units), etc/*.csv and internal/pkg of dcgm-exporter 4.8.2, its release notes of 4.9.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.cards import STALE_S, Card
from exporters.engine.format import Gauge, Identity, Metric, Row, Special
from exporters.engine.holders import PodLabels
from exporters.engine.measures import Measure
from exporters.engine.reader import Reader
from exporters.engine.readings import FAIL, PASS, POD, WARN, Value
from exporters.engine.values import MEGA, MIB, MILLI, PERCENT
from exporters.shared import pods

#: Dialects: names of dcgm-exporter 1.x, and those that only dcgm-exporter 4.9 (DCGM 4.7) and later has. "" is all between.
LOWER_CASE, BASE_UNITS = "1.x", "base-units"
#: With this version the exporter's own table gives names in base units.
_BASE_UNITS_FROM = (4, 9)
#: A card that nobody uses holds less than this; then pods at 0 are believed.
_IDLE_BYTES = 500 * 2**20

#: `DCGM_FI_DEV_GPU_UTIL_RATIO` is a percentage in DCGM 4.6 and a share from 4.7 on, so it is kept apart until all rows are read.
UNSURE_UTILIZATION = Measure(name="utilization_of_unsure_unit", unit=m.COUNT, low=0, high=100, label="", apart=100)

IDENTITY = Identity(
    uuid=("UUID", "uuid", "gpu_uuid"),
    pci=("pci_bus_id",),
    index=("gpu",),
    model=("modelName", "model_name"),
    instance=("GPU_I_ID",),
    profile=("GPU_I_PROFILE",),
)
PODS = PodLabels(
    pod=("pod_name", "pod"),
    namespace=("pod_namespace", "namespace"),
    container=("container_name", "container"),
    uid="pod_uid",
)

#: Alibaba Cloud's exporter and others publish these names too.
NO_HOLDERS = pods.nvidia(
    "dcgm-exporter", "ack-gpu-exporter", containers=("dcgm-exporter", "nvidia-dcgm-exporter", "ack-gpu-exporter")
)

_VERSION = re.compile(r"(?<![0-9.])([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]{1,3})?(?![0-9.])")
_HEALTH = {0: PASS, 10: WARN, 20: FAIL}
_FABRIC = {1: PASS, 2: FAIL, 3: WARN}


def _health(row: Row) -> None:
    """A row for each watch: 0, 10 or 20."""
    name, code = row.labels.get("health_watch", "").upper(), row.labels.get("health_error_code", "")
    if row.value in _HEALTH:
        takes.watch(row, name, _HEALTH[int(row.value)], "" if code == "DCGM_FR_OK" else code)
    else:
        takes.unknown_watch(row, name)


def _fabric(row: Row) -> None:
    """0: there is no fabric; 1: healthy, 2: unhealthy, 3: with less than it should have."""
    if row.value in _FABRIC:
        takes.watch(row, "FABRIC", _FABRIC[int(row.value)])
    elif row.value != 0:
        takes.unknown_watch(row, "FABRIC")


def _dev(name: str) -> str:
    return f"DCGM_FI_DEV_{name}"


def _gauges(table: Mapping[str, tuple[Measure, float]], order: int = 0, dialect: str = "") -> dict[str, Metric]:
    """Cards whose memory has no sensor say 0 degrees."""
    return {
        name: Gauge(
            measure,
            scale,
            order=order,
            zero_is_none=measure is m.MEMORY_TEMPERATURE,
            of_pod=measure is m.MEMORY_USED,
            dialect=dialect,
        )
        for name, (measure, scale) in table.items()
    }


def _links(table: Mapping[str, tuple[Measure, str]]) -> dict[str, Metric]:
    """Counters of the NVLinks: of the whole card, or a row for each link; kinds of errors that are counted apart are added."""
    return {name: Gauge(measure, part=kind, part_labels=("nvlink",)) for name, (measure, kind) in table.items()}


#: What is needed of each card comes first, so that it is there should the rest not be answered.
METRICS: dict[str, Metric] = {
    **_gauges(
        {
            _dev("FB_USED"): (m.MEMORY_USED, MIB),
            _dev("FB_FREE"): (m.MEMORY_FREE, MIB),
            _dev("FB_RESERVED"): (m.MEMORY_RESERVED, MIB),
            _dev("FB_TOTAL"): (m.MEMORY_TOTAL, MIB),
            _dev("GPU_UTIL"): (m.UTILIZATION, PERCENT),
            "DCGM_FI_PROF_GR_ENGINE_ACTIVE": (m.GRAPHICS_ACTIVE, 1),
            _dev("GPU_TEMP"): (m.TEMPERATURE, 1),
            _dev("POWER_USAGE"): (m.POWER, 1),
        }
    ),
    **_gauges(
        {
            _dev("FB_USED_BYTES"): (m.MEMORY_USED, 1),
            _dev("FB_FREE_BYTES"): (m.MEMORY_FREE, 1),
            _dev("FB_RESERVED_BYTES"): (m.MEMORY_RESERVED, 1),
            _dev("FB_CAPACITY_BYTES"): (m.MEMORY_TOTAL, 1),
        },
        dialect=BASE_UNITS,
    ),
    _dev("GPU_UTIL_RATIO"): Gauge(UNSURE_UTILIZATION),
    # The same units under the names of DCGM 4.6 and later.
    **_gauges(
        {
            _dev("GPU_TEMP_CELSIUS"): (m.TEMPERATURE, 1),
            _dev("BOARD_POWER_WATTS"): (m.POWER, 1),
            "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO": (m.GRAPHICS_ACTIVE, 1),
            "DCGM_FI_PROF_SM_ACTIVE": (m.SM_ACTIVE, 1),
            "DCGM_FI_PROF_SM_UTIL_RATIO": (m.SM_ACTIVE, 1),
            "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": (m.TENSOR_ACTIVE, 1),
            "DCGM_FI_PROF_TENSOR_UTIL_RATIO": (m.TENSOR_ACTIVE, 1),
            "DCGM_FI_PROF_DRAM_ACTIVE": (m.DRAM_ACTIVE, 1),
            "DCGM_FI_PROF_DRAM_UTIL_RATIO": (m.DRAM_ACTIVE, 1),
            _dev("MEMORY_TEMP"): (m.MEMORY_TEMPERATURE, 1),
            _dev("MEMORY_TEMP_CELSIUS"): (m.MEMORY_TEMPERATURE, 1),
            _dev("SLOWDOWN_TEMP"): (m.TEMPERATURE_SLOWDOWN, 1),
            _dev("GPU_TEMP_SLOWDOWN_CELSIUS"): (m.TEMPERATURE_SLOWDOWN, 1),
            _dev("GPU_TEMP_LIMIT"): (m.TEMPERATURE_MARGIN, 1),
            _dev("GPU_TEMP_MARGIN_CELSIUS"): (m.TEMPERATURE_MARGIN, 1),
            _dev("ENFORCED_POWER_LIMIT"): (m.POWER_LIMIT, 1),
            _dev("BOARD_POWER_LIMIT_ENFORCED_WATTS"): (m.POWER_LIMIT, 1),
            _dev("SM_CLOCK"): (m.SM_CLOCK, MEGA),
            _dev("SM_CLOCK_HERTZ"): (m.SM_CLOCK, 1),
            _dev("MEM_CLOCK"): (m.MEMORY_CLOCK, MEGA),
            _dev("MEMORY_CLOCK_HERTZ"): (m.MEMORY_CLOCK, 1),
            _dev("TOTAL_ENERGY_CONSUMPTION"): (m.ENERGY, MILLI),
            _dev("GPU_ENERGY_JOULES_TOTAL"): (m.ENERGY, 1),
            _dev("PCIE_REPLAY_COUNTER"): (m.PCIE_REPLAYS, 1),
            _dev("PCIE_REPLAY_TOTAL"): (m.PCIE_REPLAYS, 1),
            _dev("ROW_REMAP_FAILURE"): (m.REMAP_FAILED, 1),
            _dev("ROW_REMAP_FAILED"): (m.REMAP_FAILED, 1),
            _dev("ROW_REMAP_PENDING"): (m.REMAP_PENDING, 1),
            _dev("UNCORRECTABLE_REMAPPED_ROWS"): (m.REMAP_UNCORRECTED, 1),
            _dev("ROW_REMAP_UNCORRECTABLE_TOTAL"): (m.REMAP_UNCORRECTED, 1),
            _dev("CORRECTABLE_REMAPPED_ROWS"): (m.REMAP_CORRECTED, 1),
            _dev("ROW_REMAP_CORRECTABLE_TOTAL"): (m.REMAP_CORRECTED, 1),
            _dev("ECC_SBE_VOL_TOTAL"): (m.ECC_CORRECTED, 1),
            _dev("ECC_DBE_VOL_TOTAL"): (m.ECC_UNCORRECTED, 1),
            _dev("ECC_SBE_AGG_TOTAL"): (m.ECC_CORRECTED_EVER, 1),
            _dev("ECC_DBE_AGG_TOTAL"): (m.ECC_UNCORRECTED_EVER, 1),
            _dev("RETIRED_SBE"): (m.RETIRED_CORRECTED, 1),
            _dev("PAGE_RETIRED_SBE_TOTAL"): (m.RETIRED_CORRECTED, 1),
            _dev("RETIRED_DBE"): (m.RETIRED_UNCORRECTED, 1),
            _dev("PAGE_RETIRED_DBE_TOTAL"): (m.RETIRED_UNCORRECTED, 1),
            _dev("RETIRED_PENDING"): (m.RETIRED_PENDING, 1),
            _dev("PAGE_RETIRED_PENDING"): (m.RETIRED_PENDING, 1),
            _dev("THRESHOLD_SRM"): (m.SRAM_EXCEEDED, 1),
            _dev("SRAM_EXCEEDED"): (m.SRAM_EXCEEDED, 1),
            _dev("VGPU_LICENSE_STATUS"): (m.VGPU_LICENCE, 1),
            _dev("GET_GPU_RECOVERY_ACTION"): (m.RECOVERY_ACTION, 1),
            _dev("GPU_RECOVERY_ACTION"): (m.RECOVERY_ACTION, 1),
        }
    ),
    **_gauges(
        {
            _dev("POWER_USAGE_INSTANT"): (m.POWER, 1),
            _dev("BOARD_POWER_RAW_WATTS"): (m.POWER, 1),
            _dev("POWER_MGMT_LIMIT"): (m.POWER_LIMIT, 1),
            _dev("BOARD_POWER_LIMIT_REQUESTED_WATTS"): (m.POWER_LIMIT, 1),
        },
        order=1,
    ),
    **_links(
        {
            _dev("NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"): (m.NVLINK_CRC, "flit"),
            _dev("NVLINK_CRC_FLIT_ERROR_TOTAL"): (m.NVLINK_CRC, "flit"),
            _dev("NVLINK_CRC_DATA_ERROR_COUNT_TOTAL"): (m.NVLINK_CRC, "data"),
            _dev("NVLINK_CRC_DATA_ERROR_TOTAL"): (m.NVLINK_CRC, "data"),
            _dev("NVLINK_REPLAY_ERROR_COUNT_TOTAL"): (m.NVLINK_REPLAY, ""),
            _dev("NVLINK_REPLAY_ERROR_TOTAL"): (m.NVLINK_REPLAY, ""),
            _dev("NVLINK_REPLAY_TOTAL"): (m.NVLINK_REPLAY, ""),
            _dev("NVLINK_RECOVERY_ERROR_COUNT_TOTAL"): (m.NVLINK_RECOVERY, ""),
            _dev("NVLINK_RECOVERY_ERROR_TOTAL"): (m.NVLINK_RECOVERY, ""),
            _dev("NVLINK_RECOVERY_TOTAL"): (m.NVLINK_RECOVERY, ""),
            _dev("NVLINK_CRC_ERROR_TOTAL"): (m.NVLINK_CRC, ""),
        }
    ),
    _dev("XID_ERRORS"): takes.xid_last(),
    _dev("XID_ERROR"): takes.xid_last(),
    "DCGM_EXP_XID_ERRORS_COUNT": takes.xid_window(),
    "DCGM_EXP_XID_ERRORS_TOTAL": takes.xid_total(),
    _dev("CLOCK_THROTTLE_REASONS"): takes.clock_bits(),
    _dev("CLOCKS_EVENT_REASONS"): takes.clock_bits(),
    "DCGM_EXP_CLOCK_EVENTS_COUNT": takes.clock_events(),
    "DCGM_EXP_CLOCK_EVENTS_TOTAL": takes.clock_events(),
    "DCGM_FI_EXP_CLOCK_THROTTLE_REASONS_COUNT": takes.clock_events(),
    "DCGM_EXP_GPU_HEALTH_STATUS": Special(_health),
    _dev("FABRIC_HEALTH_SUMMARY"): Special(_fabric),
}
#: Of dcgm-exporter 1.x and of today's exporter with its compatibility names.
LOWER: dict[str, Metric] = {
    **_gauges(
        {
            "dcgm_fb_used": (m.MEMORY_USED, MIB),
            "dcgm_fb_free": (m.MEMORY_FREE, MIB),
            "dcgm_gpu_utilization": (m.UTILIZATION, PERCENT),
            "dcgm_fi_prof_gr_engine_active": (m.GRAPHICS_ACTIVE, 1),
            "dcgm_fi_prof_sm_active": (m.SM_ACTIVE, 1),
            "dcgm_fi_prof_pipe_tensor_active": (m.TENSOR_ACTIVE, 1),
            "dcgm_fi_prof_dram_active": (m.DRAM_ACTIVE, 1),
            "dcgm_gpu_temp": (m.TEMPERATURE, 1),
            "dcgm_memory_temp": (m.MEMORY_TEMPERATURE, 1),
            "dcgm_power_usage": (m.POWER, 1),
            "dcgm_total_energy_consumption": (m.ENERGY, MILLI),
            "dcgm_sm_clock": (m.SM_CLOCK, MEGA),
            "dcgm_memory_clock": (m.MEMORY_CLOCK, MEGA),
            "dcgm_pcie_replay_counter": (m.PCIE_REPLAYS, 1),
            "dcgm_ecc_sbe_volatile_total": (m.ECC_CORRECTED, 1),
            "dcgm_ecc_dbe_volatile_total": (m.ECC_UNCORRECTED, 1),
            "dcgm_ecc_sbe_aggregate_total": (m.ECC_CORRECTED_EVER, 1),
            "dcgm_ecc_dbe_aggregate_total": (m.ECC_UNCORRECTED_EVER, 1),
            "dcgm_retired_pages_sbe": (m.RETIRED_CORRECTED, 1),
            "dcgm_retired_pages_dbe": (m.RETIRED_UNCORRECTED, 1),
            "dcgm_retired_pages_pending": (m.RETIRED_PENDING, 1),
        },
        dialect=LOWER_CASE,
    ),
    **_links(
        {
            "dcgm_nvlink_flit_crc_error_count_total": (m.NVLINK_CRC, "flit"),
            "dcgm_nvlink_data_crc_error_count_total": (m.NVLINK_CRC, "data"),
            "dcgm_nvlink_replay_error_count_total": (m.NVLINK_REPLAY, ""),
            "dcgm_nvlink_recovery_error_count_total": (m.NVLINK_RECOVERY, ""),
        }
    ),
    "dcgm_xid_errors": takes.xid_last(LOWER_CASE),
}


def finish(card: Card, reader: Reader) -> None:
    """What can be said of a card once all its rows are read."""
    _utilization(card, reader)
    _figures_of_pods(card, reader)
    _total(card)


def _utilization(card: Card, reader: Reader) -> None:
    """`GPU_UTIL_RATIO`, by the exporter's version, by other names that only one version has, and by the value itself."""
    found = card.values.pop(UNSURE_UTILIZATION.name, None)
    if card.disagree is not None:
        card.disagree.discard(UNSURE_UTILIZATION.name)
    if card.refused is not None and UNSURE_UTILIZATION.name in card.refused:
        card.refuse(m.UTILIZATION.name, card.refused.pop(UNSURE_UTILIZATION.name))
    if found is None or m.UTILIZATION.name in card.values:
        return
    raw = found.value
    version = _exporter_version(reader.context.version)
    if version is not None or card.dialect == BASE_UNITS:
        is_share = card.dialect == BASE_UNITS or (version is not None and version >= _BASE_UNITS_FROM)
    elif raw == 1:
        card.refuse(m.UTILIZATION.name, "unit-ambiguous")
        reader.told.tell("unit-ambiguous", "DCGM_FI_DEV_GPU_UTIL_RATIO 1", card.key)
        return
    else:
        is_share = raw < 1
    value = raw if is_share else raw * PERCENT
    if value > m.UTILIZATION.high:
        card.refuse(m.UTILIZATION.name, "implausible")
        reader.told.tell("implausible", f"utilization {raw!r}", card.key)
        return
    card.put(m.UTILIZATION, min(value, 1.0), found.at, found.standing)


def _exporter_version(text: str) -> tuple[int, int] | None:
    """ "4.6.0-4.8.3-distroless", "4.8.3-4.6.0", "4.9.0" → of the exporter, whose number is the higher one of the two."""
    found = [(int(major), int(minor)) for major, minor in _VERSION.findall(text[:80])]
    return max(found) if found else None


def _figures_of_pods(card: Card, reader: Reader) -> None:
    """Used memory of pods, where the rows prove that it is theirs.

    With virtual GPUs the exporter writes a row of the card without a pod beside rows with the sum over each pod's processes; it
    needs the host's processes and a token for that. Without them rows of pods say 0, or the card's own figure. All containers
    of a pod show the same.
    """
    rows = card.pod_rows
    of_card = card.values.get(m.MEMORY_USED.name)
    if not rows or of_card is None or of_card.standing & 1:
        return
    fresh = {key: value for key, (value, moment) in rows.items() if abs(moment - of_card.at) <= STALE_S}
    proved = any(value > 0 for value in fresh.values()) or of_card.value < _IDLE_BYTES
    for key, value in fresh.items():
        held = (card.held or {}).get(key)
        if held is None:
            continue
        if proved and held.uid:
            held.memory, held.memory_of = value, POD
        else:
            reader.told.tell("holder-unproved", "/".join(key), card.key)


def _total(card: Card) -> None:
    """The card's memory where its total is not exported: it is used, free and reserved together, each in whole MiB."""
    values = card.values
    if m.MEMORY_TOTAL.name in values:
        return
    used, free = values.get(m.MEMORY_USED.name), values.get(m.MEMORY_FREE.name)
    reserved = values.get(m.MEMORY_RESERVED.name)
    if used is None or free is None or reserved is None:
        return
    oldest, newest = min(used.at, free.at, reserved.at), max(used.at, free.at, reserved.at)
    total = used.value + free.value + reserved.value
    if newest - oldest <= STALE_S and m.MEMORY_TOTAL.low <= total <= m.MEMORY_TOTAL.high:
        values[m.MEMORY_TOTAL.name] = Value(total, oldest)
        card.derived += (m.MEMORY_TOTAL.name,)
