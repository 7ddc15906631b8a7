"""NVIDIA's dcgm-exporter: all versions, names in base units of 4.9 and of 1.x included, with or without virtual GPUs, MIG,
Prometheus between. Alibaba Cloud's exporter and others publish the same names, with labels of their own, and are read here too.

Sources: NVIDIA/dcgm-exporter at d5e5f51 (after 4.8.2: `internal/pkg/{rendermetrics,collector,transformation}`, `etc/*.csv`),
its release notes to 4.9.0, DCGM 4.6 `dcgm_fields.h`, go-dcgm's tests of base-unit fields, NVIDIA's field reference of DCGM 4.7.
"""

from __future__ import annotations

from exporters.engine.format import Format, Target
from exporters.shared import dcgm

FORMAT = Format(
    name="dcgm-exporter",
    label="NVIDIA dcgm-exporter",
    metrics={**dcgm.METRICS, **dcgm.LOWER},
    identity=dcgm.IDENTITY,
    pods=dcgm.PODS,
    no_holders=dcgm.NO_HOLDERS,
    marks=frozenset((*dcgm.METRICS, *dcgm.LOWER)),
    finish=dcgm.finish,
    slices_add=True,
    target=Target(
        ("app=nvidia-dcgm-exporter", "app=nvidia-dcgm-exporter-dra", "app.kubernetes.io/name=dcgm-exporter"), 9400
    ),
    verified="4.8.2 (source at d5e5f51), 4.9.0 (release notes and field reference)",
    not_verified="a page of 4.9.0 itself; labels of DCGM_EXP_XID_ERRORS_TOTAL beside xid",
)
