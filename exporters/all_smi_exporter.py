"""lablup/all-smi in API mode: cards of many vendors, in one form. Utilisation is a percentage. Names no pods.

Labels are `gpu_uuid` and `gpu_index` (older ones `uuid` and `index`); `gpu` is the model, `instance` the host, which Prometheus
moves to `exported_instance`. Source: lablup/all-smi at b92ea0a (2026-08): API.md, src/api/metrics.
"""

from __future__ import annotations

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.cards import Card
from exporters.engine.format import Format, Gauge, Identity, Metric
from exporters.engine.holders import NO_PODS
from exporters.engine.reader import Reader
from exporters.engine.values import MEGA, PERCENT

_METRICS: dict[str, Metric] = {
    "all_smi_gpu_memory_used_bytes": Gauge(m.MEMORY_USED),
    "all_smi_gpu_memory_total_bytes": Gauge(m.MEMORY_TOTAL, zero_is_none=True),
    "all_smi_gpu_utilization": Gauge(m.UTILIZATION, PERCENT),
    "all_smi_gpu_temperature_celsius": Gauge(m.TEMPERATURE, zero_is_none=True),
    "all_smi_gpu_power_consumption_watts": Gauge(m.POWER, zero_is_none=True),
    "all_smi_gpu_frequency_mhz": Gauge(m.SM_CLOCK, MEGA, zero_is_none=True),
    "all_smi_gpu_power_limit_current_watts": Gauge(m.POWER_LIMIT),
    "all_smi_gpu_temperature_threshold_slowdown_celsius": Gauge(m.TEMPERATURE_SLOWDOWN),
    "all_smi_energy_consumed_joules_total": Gauge(m.ENERGY, when=(("scope", "gpu"),)),
    "all_smi_mig_instance_memory_used_bytes": Gauge(m.MEMORY_USED),
    "all_smi_mig_instance_memory_total_bytes": Gauge(m.MEMORY_TOTAL),
    "all_smi_mig_instance_utilization_gpu": Gauge(m.UTILIZATION, PERCENT),
    "all_smi_process_memory_used_bytes": takes.process(m.PROCESS_MEMORY, "pid", "name"),
    "all_smi_gpu_info": takes.describes(),
    "all_smi_build_info": takes.version("version"),
}


def _finish(card: Card, reader: Reader) -> None:
    """Where a vendor's tool says nothing of the memory, used and total are 0, and neither is a value."""
    used = card.values.get(m.MEMORY_USED.name)
    if used is not None and used.value == 0 and m.MEMORY_TOTAL.name not in card.values:
        del card.values[m.MEMORY_USED.name]


FORMAT = Format(
    name="all-smi",
    label="all-smi",
    metrics=_METRICS,
    identity=Identity(
        uuid=("gpu_uuid", "uuid", "device_uuid"),
        index=("gpu_index", "index", "device_id"),
        model=("gpu",),
        instance=("gpu_instance_id",),
        mig=("mig_uuid",),
        profile=("mig_profile",),
    ),
    pods=NO_PODS,
    marks=frozenset(("all_smi_gpu_info", "all_smi_gpu_memory_used_bytes", "all_smi_gpu_utilization")),
    slices_add=True,
    finish=_finish,
    verified="at b92ea0a (source)",
    not_verified="a page of a machine; labels before 0.20",
)
