"""utkuozdemir/nvidia_gpu_exporter: fields of nvidia-smi (Linux and Windows) or of NVML. UUIDs are in lower case and without
"GPU-".

It names no pods. On MIG the card has no utilisation, and its memory is that outside of slices at times, so slices are told by
their own rows. Under Windows' display model processes have no memory. Source: the exporter at e656cd8 (2026-08):
docs/METRICS.md and the pages that its own tests expect (`internal/integration/testdata`: H100, H200, L40S, RTX, MIG, Windows).
"""

from __future__ import annotations

from collections.abc import Mapping

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.format import Format, Gauge, Identity, Metric, Target
from exporters.engine.holders import NO_PODS
from exporters.engine.measures import Measure


def _smi(name: str) -> str:
    return f"nvidia_smi_{name}"


def _gauges(table: Mapping[str, Measure], order: int = 0) -> dict[str, Metric]:
    return {_smi(name): Gauge(measure, order=order) for name, measure in table.items()}


#: The reasons of clocks, as DCGM calls them.
_REASONS = {
    "gpu_idle": "gpu_idle",
    "applications_clocks_setting": "clocks_setting",
    "sw_power_cap": "power_cap",
    "hw_slowdown": "hw_slowdown",
    "sync_boost": "sync_boost",
    "sw_thermal_slowdown": "sw_thermal",
    "hw_thermal_slowdown": "hw_thermal",
    "hw_power_brake_slowdown": "hw_power_brake",
}

_METRICS: dict[str, Metric] = {
    **_gauges(
        {
            "memory_used_bytes": m.MEMORY_USED,
            "memory_total_bytes": m.MEMORY_TOTAL,
            "memory_free_bytes": m.MEMORY_FREE,
            "memory_reserved_bytes": m.MEMORY_RESERVED,
            "utilization_gpu_ratio": m.UTILIZATION,
            "temperature_gpu": m.TEMPERATURE,
            "power_draw_watts": m.POWER,
            "mig_memory_used_bytes": m.MEMORY_USED,
            "mig_memory_total_bytes": m.MEMORY_TOTAL,
            "mig_memory_free_bytes": m.MEMORY_FREE,
            "mig_memory_reserved_bytes": m.MEMORY_RESERVED,
            "mig_graphics_activity_ratio": m.GRAPHICS_ACTIVE,
            "mig_sm_activity_ratio": m.SM_ACTIVE,
            "mig_tensor_activity_ratio": m.TENSOR_ACTIVE,
            "temperature_memory": m.MEMORY_TEMPERATURE,
            "temperature_gpu_tlimit": m.TEMPERATURE_MARGIN,
            "enforced_power_limit_watts": m.POWER_LIMIT,
            "clocks_current_sm_clock_hz": m.SM_CLOCK,
            "clocks_current_memory_clock_hz": m.MEMORY_CLOCK,
            "energy_joules_total": m.ENERGY,
            "ecc_errors_corrected_volatile_total": m.ECC_CORRECTED,
            "ecc_errors_uncorrected_volatile_total": m.ECC_UNCORRECTED,
            "ecc_errors_corrected_aggregate_total": m.ECC_CORRECTED_EVER,
            "ecc_errors_uncorrected_aggregate_total": m.ECC_UNCORRECTED_EVER,
            "ecc_errors_uncorrected_aggregate_sram_threshold_exceeded": m.SRAM_EXCEEDED,
            "remapped_rows_correctable": m.REMAP_CORRECTED,
            "remapped_rows_uncorrectable": m.REMAP_UNCORRECTED,
            "remapped_rows_pending": m.REMAP_PENDING,
            "remapped_rows_failure": m.REMAP_FAILED,
            "retired_pages_single_bit_ecc_count": m.RETIRED_CORRECTED,
            "retired_pages_sbe": m.RETIRED_CORRECTED,
            "retired_pages_double_bit_count": m.RETIRED_UNCORRECTED,
            "retired_pages_dbe": m.RETIRED_UNCORRECTED,
            "retired_pages_pending": m.RETIRED_PENDING,
            "gpu_recovery_action": m.RECOVERY_ACTION,
        }
    ),
    **_gauges({"power_draw_instant_watts": m.POWER, "power_limit_watts": m.POWER_LIMIT}, order=1),
    _smi("xid_errors_total"): takes.xid_total(),
    _smi("xid_last_timestamp_seconds"): takes.xid_time(),
    **{
        _smi(f"clocks_{word}_reasons_{field}"): takes.clock_flag(reason)
        for word in ("event", "throttle")
        for field, reason in _REASONS.items()
    },
    _smi("compute_app_used_memory_bytes"): takes.process(m.PROCESS_MEMORY, "pid", "process_name"),
    _smi("mig_info"): takes.slice_named("mig_uuid", "profile"),
    _smi("gpu_info"): takes.describes(),
    _smi("last_collect_success"): takes.succeeded(),
    "nvidia_gpu_exporter_build_info": takes.version("version"),
}

FORMAT = Format(
    name="nvidia-gpu-exporter",
    label="nvidia_gpu_exporter (nvidia-smi)",
    metrics=_METRICS,
    identity=Identity(
        uuid=("uuid",), pci=("pci_bus_id",), index=("index",), model=("name",), instance=("gpu_instance_id",)
    ),
    slices_add=True,
    pods=NO_PODS,
    marks=frozenset((_smi("gpu_info"), _smi("memory_used_bytes"), _smi("memory_total_bytes"))),
    target=Target(("app.kubernetes.io/name=nvidia-gpu-exporter",), 9835),
    verified="1.14.0 (a page of it, built from its module, over a recorded nvidia-smi), e656cd8 (source and test pages)",
)
