"""The monitor of virtual GPUs that HAMi and Volcano's device plugin have in common, under its old names (HAMi up to 2.8).

Used memory of a container is what HAMi-core has counted of its allocations: without the CUDA context, and with what dead
processes have left. Utilisation is 0 to 100 whatever the name says. Source: Project-HAMi/HAMi cmd/vGPUmonitor,
volcano-vgpu-device-plugin cmd/vgpu-monitor.
"""

from __future__ import annotations

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.format import Gauge, Metric, Row, Special
from exporters.engine.holders import PodLabels
from exporters.engine.values import PERCENT

UUIDS = ("device_uuid", "deviceuuid")
INDEXES = ("device_index", "deviceidx")
MODELS = ("device_type", "devicetype")
PODS = PodLabels(
    pod=("podname", "pod"),
    namespace=("podnamespace", "namespace"),
    container=("ctrname", "container"),
)


_named = takes.slice_named("mig_uuid", "profile")


def _slice_of(row: Row) -> None:
    """A container has a MIG slice of the card, which the row names: the only place where its UUID and its number stand
    together.
    """
    key = row.reader.holder_of(row.labels)
    if row.card is not None and key is not None:
        row.card.holder(key, row.at, row.reader.told)
    _named.take(row)


def slice_of() -> Special:
    """`hami_mig_device_info`, `MigInfo`."""
    return Special(_slice_of)


OLD_NAMES: dict[str, Metric] = {
    "HostGPUMemoryUsage": Gauge(m.MEMORY_USED, dialect="2.8"),
    "HostCoreUtilization": Gauge(m.UTILIZATION, PERCENT, dialect="2.8"),
    "vGPU_device_memory_usage_in_bytes": takes.holder_memory(),
    "vGPU_device_memory_limit_in_bytes": takes.holder_limit(),
    "Device_last_kernel_of_container": takes.holder_idle(),
}
