"""windows_exporter's collector `gpu`: memory of each adapter and of its processes. Activity is counted as running time of
engines, whose rate needs two readings, so it is not given.

A card is named by `luid` (anew at each boot) and `phys`; slot and model are in `windows_gpu_info`. `device_id` is not unique
among equal cards in older builds, so it is no name. The software renderer is left out. Windows tells a bus and no PCI domain,
which is taken for 0. Source: prometheus-community/windows_exporter at 589ec15 (2026-08): docs/collector.gpu.md,
internal/collector/gpu.
"""

from __future__ import annotations

from collections.abc import Mapping

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.cards import Card
from exporters.engine.format import Format, Gauge, Identity, Metric, Row, Special
from exporters.engine.holders import NO_PODS
from exporters.engine.identity import normal_pci
from exporters.engine.reader import Reader

_SOFTWARE = "Microsoft Basic Render"


def _info(row: Row) -> None:
    """Name and slot. Numbers are decimal there."""
    if row.card is None:
        return
    row.reader.describe(row.card, row.labels)
    bus, function = row.labels.get("bus_number", ""), row.labels.get("function_number", "")
    if bus.isascii() and bus.isdigit() and len(bus) < 4 and int(bus) < 256:
        row.card.pci = normal_pci(f"{int(bus):x}:0.{function if function in tuple('01234567') else '0'}")


def _phys(labels: Mapping[str, str]) -> str:
    """Adapters that are linked have several cards under one luid; the first of them is taken for the adapter."""
    phys = labels.get("phys", "0")
    return "" if phys in ("", "0") else phys


def _finish(card: Card, reader: Reader) -> None:
    if (card.model or "").startswith(_SOFTWARE):
        reader.cards.pop(card.key, None)


_METRICS: dict[str, Metric] = {
    "windows_gpu_adapter_memory_dedicated_bytes": Gauge(m.MEMORY_USED),
    "windows_gpu_dedicated_video_memory_size_bytes": Gauge(m.MEMORY_TOTAL, zero_is_none=True),
    "windows_gpu_info": Special(_info),
    "windows_gpu_process_memory_dedicated_bytes": takes.process(m.PROCESS_MEMORY, "process_id", ""),
    "windows_exporter_build_info": takes.version("version"),
}

FORMAT = Format(
    name="windows-exporter",
    label="windows_exporter (gpu)",
    metrics=_METRICS,
    identity=Identity(index=("luid",), model=("name",)),
    pods=NO_PODS,
    marks=frozenset(("windows_gpu_info", "windows_gpu_adapter_memory_dedicated_bytes")),
    slice_of=_phys,
    finish=_finish,
    verified="at 589ec15 (source and docs)",
    not_verified="a page of a machine; linked adapters; PCI domains other than 0",
)
