"""HAMi's scheduler: what is given out and allocated of each card. Promises, not measurements: a cross-check of what the
annotations say.

Core figures are percentages in spite of "ratio", memory is in bytes. Rows of containers name the pod and the number of a
container, init containers first. Source: Project-HAMi/HAMi at 4707fb0: cmd/scheduler/metrics.go; the old names are there with
--legacy-metrics.
"""

from __future__ import annotations

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.format import Format, Gauge, Identity, Metric
from exporters.engine.holders import NO_PODS
from exporters.engine.values import PERCENT

_NEW: dict[str, Metric] = {
    "hami_gpu_memory_limit_bytes": Gauge(m.MEMORY_GIVEN_OUT),
    "hami_gpu_memory_allocated_bytes": Gauge(m.MEMORY_ALLOCATED),
    "hami_gpu_core_allocated_ratio": Gauge(m.CORE_ALLOCATED, PERCENT),
    "hami_gpu_shared_count": Gauge(m.SHARERS),
}
_OLD: dict[str, Metric] = {
    "GPUDeviceMemoryLimit": Gauge(m.MEMORY_GIVEN_OUT, dialect="2.8"),
    "GPUDeviceMemoryAllocated": Gauge(m.MEMORY_ALLOCATED, dialect="2.8"),
    "GPUDeviceCoreAllocated": Gauge(m.CORE_ALLOCATED, PERCENT, dialect="2.8"),
    "GPUDeviceSharedNum": Gauge(m.SHARERS, dialect="2.8"),
}

FORMAT = Format(
    name="hami-scheduler",
    label="HAMi scheduler",
    metrics={**_NEW, **_OLD, "hami_build_info": takes.version("version")},
    identity=Identity(
        uuid=("device_uuid", "deviceuuid"), index=("device_index", "deviceidx"), model=("device_type", "devicetype")
    ),
    pods=NO_PODS,
    marks=frozenset((*_NEW, *_OLD)),
    verified="2.9 and later (source at 4707fb0), old names by the same source's --legacy-metrics",
)
