"""AMD's device-metrics-exporter. "MB" are MiB (a card of 192 GiB has 196592), energy is in microjoules, an administrator may
set a prefix.

A card that is cut into partitions has power, temperature and activity on partition 0 only; the others say 0 there, which is no
value. Whether the memory of partitions is their own depends on the memory mode, so it is not added up. Source:
ROCm/device-metrics-exporter at afd0fe8 (v1.5.2): docs/configuration/metricslist.md,
pkg/amdgpu/gpuagent/gpuagent_gpu_metrics.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.cards import Card
from exporters.engine.format import Format, Gauge, Identity, Metric, Row, Special, Target
from exporters.engine.holders import NoHolders, PodLabels
from exporters.engine.measures import Measure
from exporters.engine.reader import Reader
from exporters.engine.readings import FAIL, PASS
from exporters.engine.values import MEGA, MIB, MICRO, PERCENT


def _health(row: Row) -> None:
    """1: healthy, 0: unhealthy, by the exporter's own checks and thresholds."""
    if row.value in (0, 1):
        takes.watch(row, "GPU", PASS if row.value else FAIL)
    else:
        takes.unknown_watch(row, "GPU")


def _gauges(
    table: Mapping[str, tuple[Measure, float]], order: int = 0, zero_is_none: bool = False
) -> dict[str, Metric]:
    return {
        name: Gauge(measure, scale, order=order, zero_is_none=zero_is_none) for name, (measure, scale) in table.items()
    }


_METRICS: dict[str, Metric] = {
    **_gauges(
        {
            "gpu_used_vram": (m.MEMORY_USED, MIB),
            "gpu_total_vram": (m.MEMORY_TOTAL, MIB),
            "gpu_free_vram": (m.MEMORY_FREE, MIB),
            "gpu_gfx_activity": (m.UTILIZATION, PERCENT),
            "gpu_umc_activity": (m.DRAM_ACTIVE, PERCENT),
            "gpu_ecc_correct_total": (m.ECC_CORRECTED, 1),
            "gpu_ecc_uncorrect_total": (m.ECC_UNCORRECTED, 1),
            "pcie_replay_count": (m.PCIE_REPLAYS, 1),
        }
    ),
    **_gauges(
        {
            "gpu_junction_temperature": (m.TEMPERATURE, 1),
            "gpu_memory_temperature": (m.MEMORY_TEMPERATURE, 1),
            "gpu_package_power": (m.POWER, 1),
            "gpu_energy_consumed": (m.ENERGY, MICRO),
        },
        zero_is_none=True,
    ),
    **_gauges(
        {"gpu_edge_temperature": (m.TEMPERATURE, 1), "gpu_average_package_power": (m.POWER, 1)},
        order=1,
        zero_is_none=True,
    ),
    "gpu_power_usage": Gauge(m.POWER, order=2, zero_is_none=True),
    "gpu_clock": Special(lambda row: _clock(row), (m.SM_CLOCK, m.MEMORY_CLOCK)),
    "gpu_health": Special(_health),
}
_CLOCKS = {
    "system": Gauge(m.SM_CLOCK, MEGA),
    "memory": Gauge(m.MEMORY_CLOCK, MEGA),
}


#: What is measured once for all partitions, and told with the first of them.
_OF_BOARD = (
    m.UTILIZATION,
    m.DRAM_ACTIVE,
    m.TEMPERATURE,
    m.MEMORY_TEMPERATURE,
    m.POWER,
    m.ENERGY,
    m.PCIE_REPLAYS,
    m.SM_CLOCK,
    m.MEMORY_CLOCK,
)


def _partition(labels: Mapping[str, str]) -> str:
    """The partition that a row is of; "" for a card that is not cut: its mode is SPX, and its only partition has the number 0
    or none.
    """
    mode, number = labels.get("gpu_compute_partition_type", ""), labels.get("gpu_partition_id", "")
    return number if mode not in ("", "spx", "none") and number.isdigit() else ""


def _finish(card: Card, reader: Reader) -> None:
    """What is of the board goes from partition 0 to the board; on the others it is no value."""
    if not card.parent_key:
        return
    for measure in _OF_BOARD:
        value = card.values.pop(measure.name, None)
        parts = (card.parts or {}).pop(measure.name, {})
        if card.instance != "0":
            continue
        if value is not None:
            reader.parent(card).put(measure, value.value, value.at, value.standing)
        for part, found in parts.items():
            reader.parent(card).put(measure, found.value, found.at, found.standing, part)


def _clock(row: Row) -> None:
    """A row for each clock of the card, with its type and number; of several of a type the highest."""
    gauge = _CLOCKS.get(row.labels.get("clock_type", ""))
    if gauge is None or row.card is None:
        return
    clock = takes.believed(row, gauge.measure, gauge.scale)
    if clock is not None:
        row.card.put(gauge.measure, clock, row.at, 0, f"clock:{row.labels.get('clock_index', '')[:16]}")


FORMAT = Format(
    name="amd-exporter",
    label="AMD device-metrics-exporter",
    metrics=_METRICS,
    identity=Identity(
        serial=("serial_number",),
        said=("gpu_uuid",),
        index=("gpu_id",),
        model=("card_model", "card_series"),
        profile=("gpu_compute_partition_type",),
    ),
    slice_of=_partition,
    finish=_finish,
    pods=PodLabels(uid="pod_uuid"),
    no_holders=NoHolders(
        exporters=r"(?:.*-)?(?:amdgpu-|amd-)?metrics-exporter(?:-ds)?(?:-[a-z0-9]{5})?|amd-exporter(?:-.*)?",
        containers=frozenset(("metrics-exporter-container",)),
    ),
    marks=frozenset(("gpu_total_vram", "gpu_used_vram", "gpu_gfx_activity", "gpu_package_power", "gpu_nodes_total")),
    prefixed=True,
    target=Target(("app.kubernetes.io/name=metrics-exporter",), 5000),
    verified="v1.5.2 (source and docs at afd0fe8)",
    not_verified="pages of cards in partitions; what used VRAM of a partition is in mode NPS1",
)
