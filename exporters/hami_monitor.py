"""HAMi's vGPUmonitor, a DaemonSet: what each card uses by NVML, and each container by HAMi-core.

Names are those of 2.9 (#1644) and the old ones, which newer charts have only with `legacyMetrics`. The label `node` was lost
and came back (#2580). `device_uuid` of containers is cut at 40 characters, which is all of a UUID. Containers without HAMi-core
have no rows: not 0. Source: Project-HAMi/HAMi at 4707fb0 (2026-08): cmd/vGPUmonitor/metrics.go, pkg/metrics.
"""

from __future__ import annotations

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.format import Format, Gauge, Identity, Metric, Target
from exporters.engine.values import PERCENT
from exporters.shared import pods
from exporters.shared import vgpu_monitor as shared

_NEW: dict[str, Metric] = {
    "hami_host_gpu_memory_used_bytes": Gauge(m.MEMORY_USED),
    "hami_host_gpu_utilization_ratio": Gauge(m.UTILIZATION, PERCENT),
    "hami_vgpu_memory_used_bytes": takes.holder_memory(),
    "hami_vgpu_memory_limit_bytes": takes.holder_limit(),
    "hami_container_last_kernel_elapsed_seconds": takes.holder_idle(),
    "hami_mig_device_info": shared.slice_of(),
}
_BUILD = {"hami_build_info": takes.version("version")}

FORMAT = Format(
    name="hami-monitor",
    label="HAMi vGPUmonitor",
    metrics={**_NEW, **shared.OLD_NAMES, "MigInfo": shared.slice_of(), **_BUILD},
    identity=Identity(
        uuid=shared.UUIDS, index=shared.INDEXES, model=shared.MODELS, instance=("gpu_instance_id", "instanceid")
    ),
    pods=shared.PODS,
    no_holders=pods.nvidia("hami-device-plugin", containers=("vgpu-monitor",)),
    marks=frozenset((*_NEW, "MigInfo")),
    shared=frozenset(shared.OLD_NAMES),
    target=Target(("app.kubernetes.io/component=hami-device-plugin",), 9394),
    verified="2.9 and later (source at 4707fb0), old names by the same source's --legacy-metrics",
)
