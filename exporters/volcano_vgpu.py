"""Volcano's vGPU: the monitor of its device plugin (the old names of HAMi's, without a node), and the scheduler's account.

The scheduler's rows of pods have no namespace, so they are not read. Sources: Project-HAMi/volcano-vgpu-device-plugin at 4fb76ba
(cmd/vgpu-monitor/metrics.go), volcano-sh/volcano pkg/scheduler/api/devices/nvidia/vgpu/metrics.go by the facts that are
collected of it.
"""

from __future__ import annotations

from exporters.engine import measures as m
from exporters.engine.format import Format, Gauge, Identity, Metric, Target
from exporters.engine.holders import PodLabels
from exporters.engine.values import MIB, PERCENT
from exporters.shared import pods
from exporters.shared import vgpu_monitor as shared

#: The scheduler's: MB in the help text, which are MiB as in all of this system.
_SCHEDULER: dict[str, Metric] = {
    "volcano_vgpu_device_memory_limit": Gauge(m.MEMORY_GIVEN_OUT, MIB),
    "volcano_vgpu_device_allocated_memory": Gauge(m.MEMORY_ALLOCATED, MIB),
    "volcano_vgpu_device_allocated_cores": Gauge(m.CORE_ALLOCATED, PERCENT),
    "volcano_vgpu_device_shared_number": Gauge(m.SHARERS),
}

FORMAT = Format(
    name="volcano-vgpu",
    label="Volcano vGPU",
    metrics={**shared.OLD_NAMES, **_SCHEDULER},
    identity=Identity(uuid=(*shared.UUIDS, "devID"), index=shared.INDEXES, model=shared.MODELS),
    pods=PodLabels(pod=("podname",), namespace=("podnamespace",), container=("ctrname",)),
    no_holders=pods.nvidia("volcano-device-plugin", containers=("vgpu-monitor",)),
    marks=frozenset(_SCHEDULER),
    shared=frozenset(shared.OLD_NAMES),
    target=Target(("name=volcano-device-plugin",), 9394),
    verified="volcano-vgpu-device-plugin at 4fb76ba (source)",
    not_verified="the scheduler's metrics in source; whether devID is a UUID on every version",
)
