"""Huawei's npu-exporter (MindCluster). "MB" are MiB (a chip of 64 GiB has 65536); memory of vNPUs is in KB. Samples carry their
own times.

-1, 0xffffffff and 0x7fffffff stand for: not read. Chips with HBM have a DDR as well, so that memory counts which has a size.
Several containers at a chip are told as `not_displayed_for_multi_pod`. Source: Ascend/mind-cluster at 22bb3d9:
component/npu-exporter/collector.
"""

from __future__ import annotations

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.cards import Card
from exporters.engine.format import Format, Gauge, Identity, Metric, Row, Special, Target
from exporters.engine.holders import NoHolders, PodLabels
from exporters.engine.reader import Reader
from exporters.engine.readings import FAIL, PASS
from exporters.engine.values import KIB, MEGA, MIB, PERCENT


def _watch(name: str) -> Special:
    """1: healthy, 0: unhealthy."""

    def take(row: Row) -> None:
        if row.value in (0, 1):
            takes.watch(row, name, PASS if row.value else FAIL)
        else:
            takes.unknown_watch(row, name)

    return Special(take)


def _error_code(row: Row) -> None:
    """A code of MindCluster's own, beside the health status; 0 is none."""
    if row.value > 0 and row.value < 2**53 and row.value == int(row.value):
        takes.watch(row, row.name.removeprefix("npu_chip_info_"), FAIL, f"0x{int(row.value):X}")


def _finish(card: Card, reader: Reader) -> None:
    """A memory without a size is none that the chip has: its used 0 is no value. The rows of the other memory were kept apart."""
    parts = card.parts or {}
    totals, used = parts.pop(m.MEMORY_TOTAL.name, {}), parts.pop(m.MEMORY_USED.name, {})
    kind = next((kind for kind in ("hbm", "ddr") if kind in totals), "")
    if kind:
        card.values[m.MEMORY_TOTAL.name] = totals[kind]
    elif len(used) == 1 or ("hbm" in used and used["hbm"].value > 0):
        kind = min(used, key=("hbm", "ddr").index)
    if kind in used:
        card.values[m.MEMORY_USED.name] = used[kind]


_CONTAINER = takes.holder_memory(MIB)

_METRICS: dict[str, Metric] = {
    "npu_chip_info_hbm_used_memory": Gauge(m.MEMORY_USED, MIB, part="hbm"),
    "npu_chip_info_hbm_total_memory": Gauge(m.MEMORY_TOTAL, MIB, part="hbm", zero_is_none=True),
    "npu_chip_info_used_memory": Gauge(m.MEMORY_USED, MIB, part="ddr"),
    "npu_chip_info_total_memory": Gauge(m.MEMORY_TOTAL, MIB, part="ddr", zero_is_none=True),
    "npu_chip_info_overall_utilization": Gauge(m.UTILIZATION, PERCENT, order=0),
    "npu_chip_info_utilization": Gauge(m.UTILIZATION, PERCENT, order=1),
    "npu_chip_info_cube_utilization": Gauge(m.TENSOR_ACTIVE, PERCENT),
    "npu_chip_info_hbm_bandwidth_utilization": Gauge(m.DRAM_ACTIVE, PERCENT),
    "npu_chip_info_temperature": Gauge(m.TEMPERATURE),
    "npu_chip_info_hbm_temperature": Gauge(m.MEMORY_TEMPERATURE, zero_is_none=True),
    "npu_chip_info_power": Gauge(m.POWER),
    "npu_chip_info_aicore_current_freq": Gauge(m.SM_CLOCK, MEGA),
    "npu_chip_info_hbm_ecc_single_bit_error_cnt": Gauge(m.ECC_CORRECTED),
    "npu_chip_info_hbm_ecc_double_bit_error_cnt": Gauge(m.ECC_UNCORRECTED),
    "npu_chip_info_hbm_ecc_total_single_bit_error_cnt": Gauge(m.ECC_CORRECTED_EVER),
    "npu_chip_info_hbm_ecc_total_double_bit_error_cnt": Gauge(m.ECC_UNCORRECTED_EVER),
    "npu_chip_info_hbm_ecc_single_bit_isolated_pages_cnt": Gauge(m.RETIRED_CORRECTED),
    "npu_chip_info_hbm_ecc_double_bit_isolated_pages_cnt": Gauge(m.RETIRED_UNCORRECTED),
    "npu_chip_info_health_status": _watch("NPU"),
    "npu_chip_info_network_status": _watch("NETWORK"),
    "npu_chip_info_error_code": Special(_error_code),
    **{f"npu_chip_info_error_code_{number}": Special(_error_code) for number in range(1, 10)},
    "npu_chip_info_process_info": takes.process(m.PROCESS_MEMORY, "process_id", "container_name", MIB),
    "container_npu_used_memory": _CONTAINER,
    "container_npu_total_memory": takes.holder_limit(MIB),
    "vnpu_pod_used_memory": takes.holder_memory(KIB),
    "vnpu_pod_total_memory": takes.holder_limit(KIB),
    "npu_exporter_version_info": takes.version("exporterVersion"),
}

FORMAT = Format(
    name="ascend-npu-exporter",
    label="Ascend npu-exporter",
    metrics=_METRICS,
    identity=Identity(
        uuid=("vdie_id",), pci=("pcie_bus_info",), index=("id",), model=("model_name", "name"), instance=("v_dev_id",)
    ),
    pods=PodLabels(
        pod=("pod_name",), namespace=("namespace",), container=("container_name",), hidden="not_displayed_for_multi_pod"
    ),
    no_holders=NoHolders(exporters=r"npu-exporter(?:-.*)?", containers=frozenset(("npu-exporter",))),
    marks=frozenset(
        (
            "npu_chip_info_health_status",
            "npu_chip_info_temperature",
            "npu_chip_info_hbm_used_memory",
            "machine_npu_nums",
        )
    ),
    finish=_finish,
    target=Target(("app=npu-exporter",), 8082),
    verified="mind-cluster at 22bb3d9 (source and its test pages)",
    not_verified="a page of a machine",
)
