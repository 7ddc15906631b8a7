"""The page of Google's GPU device plugin on GKE (port 2112). Rows of containers repeat the card's figure and are never added.

Its names are plain words, so only a page that is known to be its is read. With MIG it tells only what containers asked for;
figures are thrown away each minute, so a page right after that is short.
Source: GoogleCloudPlatform/container-engine-accelerators at 992db81 (2026-06): pkg/gpu/nvidia/metrics.
"""

from __future__ import annotations

from exporters.engine import measures as m
from exporters.engine.format import Format, Gauge, Identity, Metric, Target
from exporters.engine.values import PERCENT
from exporters.shared import pods

_METRICS: dict[str, Metric] = {
    "memory_used_gpu_node": Gauge(m.MEMORY_USED),
    "memory_total_gpu_node": Gauge(m.MEMORY_TOTAL),
    "duty_cycle_gpu_node": Gauge(m.UTILIZATION, PERCENT),
    "memory_used": Gauge(m.MEMORY_USED, order=1),
    "memory_total": Gauge(m.MEMORY_TOTAL, order=1),
    "duty_cycle": Gauge(m.UTILIZATION, PERCENT, order=1),
}

FORMAT = Format(
    name="gke-device-plugin",
    label="GKE device plugin",
    metrics=_METRICS,
    identity=Identity(uuid=("accelerator_id",), model=("model",)),
    marks=frozenset(("memory_used_gpu_node", "duty_cycle_gpu_node")),
    no_holders=pods.nvidia("nvidia-gpu-device-plugin"),
    bare=True,
    beside=frozenset(("request",)),
    target=Target(("k8s-app=nvidia-gpu-device-plugin",), 2112),
    verified="at 992db81 (source)",
    not_verified="a page of a live node",
)
