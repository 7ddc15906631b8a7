"""Alibaba Cloud's GPU exporter (ACK, "GPU monitoring 2.0"): the names that only it has, and those of the old node-gpu-exporter.

Its names of DCGM's fields are read by `dcgm_exporter`. On ACS `Hostname` is the pod's name, and `NodeName` the node's. Sources:
Alibaba Cloud's pages on metrics of ACK and ACS; a public stand-in of the exporter of an ACK cluster (help texts, labels);
kubeflow/arena at e30882c1: pkg/prometheus, for the old names, which it joins by node and number.
"""

from __future__ import annotations

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.format import Format, Gauge, Identity, Metric
from exporters.engine.holders import PodLabels
from exporters.engine.values import MIB, PERCENT
from exporters.shared import pods

_CUSTOM: dict[str, Metric] = {
    "DCGM_CUSTOM_DEV_FB_TOTAL": Gauge(m.MEMORY_TOTAL, MIB),
    "DCGM_CUSTOM_PROCESS_MEM_USED": takes.process(m.PROCESS_MEMORY, "ProcessId", "ProcessName", MIB),
    # Of containers that took cards by NVIDIA_VISIBLE_DEVICES=all, past the scheduler.
    "DCGM_CUSTOM_ILLEGAL_PROCESS_MEM_USED": takes.process(m.PROCESS_MEMORY, "ProcessId", "ProcessName", MIB),
}
#: With labels node_name, minor_number, uuid, namespace_name, pod_name, container_name, allocate_mode. With the mode "share"
#: arena adds up the used memory of a card's rows, else the last one counts; what they are is not known, so used memory is not
#: read.
_OLD: dict[str, Metric] = {
    "nvidia_gpu_memory_total_bytes": Gauge(m.MEMORY_TOTAL, order=1, dialect="node-gpu-exporter"),
    "nvidia_gpu_duty_cycle": Gauge(m.UTILIZATION, PERCENT, order=1, dialect="node-gpu-exporter"),
}

FORMAT = Format(
    name="ack-gpu-exporter",
    label="Alibaba Cloud ACK GPU exporter",
    metrics={**_CUSTOM, **_OLD},
    identity=Identity(uuid=("UUID", "uuid"), index=("gpu", "minor_number"), model=("modelName",)),
    pods=PodLabels(
        pod=("PodName", "pod_name", "pod"),
        namespace=("NamespaceName", "namespace_name", "namespace"),
        container=("ContainerName", "container_name", "container"),
    ),
    no_holders=pods.nvidia("ack-gpu-exporter", containers=("ack-gpu-exporter",)),
    marks=frozenset((*_CUSTOM, *_OLD)),
    verified="Alibaba Cloud's pages as of 2026-03, a public stand-in of it (labels), arena at e30882c1 (old names)",
    not_verified="a page of a live cluster; labels of the rows of processes; what used memory of the old exporter's rows is",
)
