"""Exporters that know no pods or repeat the card's figure for each: nvidia_gpu_exporter, and the page of GKE's device plugin.

Formats: utkuozdemir/nvidia_gpu_exporter (docs/METRICS.md), GoogleCloudPlatform/container-engine-accelerators
(pkg/gpu/nvidia/metrics).
"""

from __future__ import annotations

from fleetsim.exporters.page import Family, block, text
from fleetsim.exporters.seen import SeenNode
from fleetsim.labels import CUDA, DRIVER
from fleetsim.usage import Tenant


def smi(node: SeenNode) -> str:
    """A page of nvidia_gpu_exporter. Under Windows a virtual GPU has no power and no temperature."""
    build = Family("nvidia_gpu_exporter_build_info", "gauge", "Build of the exporter.")
    build.add(block({"branch": "HEAD", "goversion": "go1.26.1", "revision": "e656cd8", "version": "1.14.0"}), 1)
    info = Family("nvidia_smi_gpu_info", "gauge", "A GPU.")
    success = Family("nvidia_smi_last_collect_success", "gauge", "Whether the last collection succeeded.", True)
    success.add("", 1)
    families = {
        name: Family(f"nvidia_smi_{name}", "gauge", help)
        for name, help in (
            ("clocks_current_sm_clock_hz", "clocks.current.sm [MHz]"),
            ("memory_free_bytes", "memory.free [MiB]"),
            ("memory_reserved_bytes", "memory.reserved [MiB]"),
            ("memory_total_bytes", "memory.total [MiB]"),
            ("memory_used_bytes", "memory.used [MiB]"),
            ("power_draw_watts", "power.draw [W]"),
            ("temperature_gpu", "temperature.gpu"),
            ("utilization_gpu_ratio", "utilization.gpu [%]"),
        )
    }
    for card in node.cards:
        named = {"uuid": card.uuid.removeprefix("GPU-")}
        about = {
            "cuda_version": CUDA,
            "driver_version": DRIVER,
            "index": card.index,
            "name": node.model.name,
            "pci_bus_id": f"0000{card.pci.upper()}",
        }
        info.add(block(about | named), 1)
        value = card.value
        values = {
            "clocks_current_sm_clock_hz": value.sm_clock,
            "memory_free_bytes": card.use.room - value.memory_used,
            "memory_reserved_bytes": card.use.total - card.use.room,
            "memory_total_bytes": card.use.total,
            "memory_used_bytes": value.memory_used,
            "utilization_gpu_ratio": round(value.utilization, 2),
        }
        if not node.machine.kind.windows:
            values |= {"power_draw_watts": round(value.power, 2), "temperature_gpu": round(value.temperature)}
        for name, number in values.items():
            families[name].add(block(named), number)
    return text([build, *families.values(), info, success])


def gke(node: SeenNode) -> str:
    """A page of GKE's device plugin: of each card, and the same for each container that has it. With MIG it tells requests only."""
    figures = ("duty_cycle", "memory_total", "memory_used")
    of_node = {name: Family(f"{name}_gpu_node", "gauge", f"{name} of a GPU", True) for name in figures}
    of_pods = {name: Family(name, "gauge", f"{name} of a container's GPU", True) for name in figures}
    request = Family("request", "gauge", "Devices that a container has asked for", True)
    for one in {one.who: one for card in (*node.cards, *node.slices) for one in card.holders}.values():
        request.add(block({**_who(one), "resource_name": node.machine.resource}), 1)
    for card in node.cards:
        if node.cut(card) or card.lost:
            continue
        about = {"accelerator_id": card.uuid, "make": "nvidia", "model": node.model.name}
        values = (round(card.value.utilization * 100), card.use.total, card.value.memory_used)
        for name, number in zip(figures, values, strict=True):
            of_node[name].add(block(about), number)
            for one in card.holders:
                of_pods[name].add(block({**about, **_who(one)}), number)
    return text([*of_node.values(), *of_pods.values(), request])


def _who(one: Tenant) -> dict[str, object]:
    return {"container": one.who.container, "namespace": one.who.namespace, "pod": one.who.pod}
