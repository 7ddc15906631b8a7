"""AMD's device-metrics-exporter, Intel's XPU Manager and Huawei's npu-exporter.

Formats: ROCm/device-metrics-exporter v1.5.2 (docs/configuration/metricslist.md), intel/xpumanager 2 (xpumd), Ascend/mind-cluster
(component/npu-exporter).
"""

from __future__ import annotations

from collections.abc import Callable

from fleetsim.exporters.page import Family, block, text
from fleetsim.exporters.seen import MIB, SeenCard, SeenNode
from fleetsim.usage import noise

#: Partitions of a board of the node type whose cards are partitions.
_PARTITIONS = 8


def amd(node: SeenNode) -> str:
    """A page of AMD's exporter. Of a board in partitions the first has what is measured of the board; memory is each one's own."""
    parts = _PARTITIONS if len(node.cards) > _PARTITIONS else 1
    hot, watts = (
        ("gpu_junction_temperature", "gpu_package_power")
        if parts > 1
        else ("gpu_edge_temperature", "gpu_average_package_power")
    )
    total = Family("gpu_total_vram", "gauge", "Memory in all (in MB).", True)
    used = Family("gpu_used_vram", "gauge", "Memory that is used (in MB).", True)
    free = Family("gpu_free_vram", "gauge", "Memory that is free (in MB).", True)
    busy = Family("gpu_gfx_activity", "gauge", "Activity of the graphics engine (in percent).", True)
    memory_busy = Family("gpu_umc_activity", "gauge", "Activity of the memory controller (in percent).", True)
    temperature = Family(hot, "gauge", "Temperature (in Celsius).", True)
    memory_temperature = Family("gpu_memory_temperature", "gauge", "Temperature of the memory (in Celsius).", True)
    power = Family(watts, "gauge", "Power (in watts).", True)
    clock = Family("gpu_clock", "gauge", "Clocks (in MHz).", True)
    corrected = Family("gpu_ecc_correct_total", "gauge", "Errors that were corrected.", True)
    uncorrected = Family("gpu_ecc_uncorrect_total", "gauge", "Errors that were not corrected.", True)
    health = Family("gpu_health", "gauge", "1: healthy, 0: unhealthy.", True)
    for card in node.cards:
        row = block(_amd_labels(node, card, parts))
        total.add(row, card.use.total // MIB)
        used.add(row, card.value.memory_used // MIB)
        free.add(row, (card.use.total - card.value.memory_used) // MIB)
        first, board = card.index % parts == 0, _board(node, card, parts)
        busy.add(row, board.activity * 100 if first else 0)
        memory_busy.add(row, board.dram * 100 if first else 0)
        temperature.add(row, board.temperature if first else 0)
        memory_temperature.add(row, board.memory_temperature if first else 0)
        power.add(row, board.power if first else 0)
        clock.add(block({"clock_index": 0, "clock_type": "system", **_amd_labels(node, card, parts)}), board.clock)
        for errors in (corrected, uncorrected):
            errors.add(row, 0)
        health.add(row, 1)
    return text(
        (
            *(clock, corrected, uncorrected, free, busy, health),
            *(temperature, memory_temperature, power, total, memory_busy, used),
        )
    )


class _Board:
    """What is measured of a whole board: the mean over its partitions."""

    def __init__(self, cards: tuple[SeenCard, ...]) -> None:
        values = [card.value for card in cards]
        self.activity = sum(one.activity for one in values) / len(values)
        self.dram = sum(one.dram for one in values) / len(values)
        self.temperature = sum(one.temperature for one in values) / len(values)
        self.memory_temperature = self.temperature + 6
        self.power = sum(one.power for one in values) / len(values)
        self.clock = max(one.sm_clock for one in values) / 1e6


def _board(node: SeenNode, card: SeenCard, parts: int) -> _Board:
    first = card.index - card.index % parts
    return _Board(node.cards[first : first + parts])


def _amd_labels(node: SeenNode, card: SeenCard, parts: int) -> dict[str, object]:
    who = card.labelled
    return {
        "card_model": node.model.name.replace(" ", "_"),
        "gpu_compute_partition_type": "cpx" if parts > 1 else "spx",
        "gpu_id": card.index,
        "gpu_partition_id": card.index % parts,
        "hostname": node.name,
        "serial_number": f"PCB{noise.seed_of(node.name, card.index // parts) % 10**9:09d}",
        "pod": who.pod if who else "",
        "namespace": who.namespace if who else "",
        "container": who.container if who else "",
    }


def xpumd(node: SeenNode) -> str:
    """A page of XPU Manager 2, which names no pods."""
    info = Family("hw_gpu_info", "gauge", "A GPU.")
    used = Family("hw_memory_usage_bytes", "gauge", "Memory that is used.", True)
    size = Family("hw_memory_size_bytes", "gauge", "Memory in all.", True)
    busy = Family("hw_gpu_utilization_ratio", "gauge", "Utilization of the engines.")
    temperature = Family("hw_temperature_celsius", "gauge", "Temperature.")
    power = Family("hw_power_watts", "gauge", "Power.")
    state = Family("hw_status", "gauge", "1 for the state that it is in.", True)
    for card in node.cards:
        named: dict[str, object] = {
            "hw_id": f"8680c056-0000-0000-{card.index:04x}-{noise.seed_of(node.name):012x}",
            "pci_bdf": card.pci,
            "node": node.name,
        }
        info.add(block({**named, "hw_name": f"gpu{card.index}", "hw_model": f"Intel(R) {node.model.name[6:]}"}), 1)
        memory = block({**named, "hw_name": "memory0", "hw_memory_location": "device", "hw_memory_type": "gddr6"})
        used.add(memory, card.value.memory_used)
        size.add(memory, card.use.total)
        engine = {"hw_name": "compute_all", "hw_gpu_task": "compute_all"}
        busy.add(block({**named, **engine}), round(card.value.utilization, 4))
        sensor = {"hw_name": "temperature_gpu", "hw_sensor_location": "gpu", "statistic": "max"}
        temperature.add(block({**named, **sensor}), round(card.value.temperature, 1))
        power.add(block({**named, "hw_name": "power0", "hw_sensor_location": "card"}), round(card.value.power, 2))
        part = {"hw_name": f"gpu{card.index}", "hw_type": "gpu"}
        for word, value in (("ok", 1), ("degraded", 0)):
            state.add(block({**named, **part, "hw_state": word}), value)
    return text([state, info, busy, size, used, power, temperature])


def npu(node: SeenNode) -> str:
    """A page of npu-exporter. Its samples have times of their own, as old as its last round of five seconds."""
    at_ms = int(node.moment // 5 * 5000)
    build = Family("npu_exporter_version_info", "gauge", "Version of the exporter.", True)
    build.add(block({"exporterVersion": "v7.3.0"}), 1)
    number = Family("machine_npu_nums", "gauge", "Chips of the machine.", True)
    number.add("", len(node.cards), at_ms)
    columns: dict[str, tuple[str, Callable[[SeenCard], float]]] = {
        "aicore_current_freq": ("Frequency (in MHz).", lambda card: card.value.sm_clock / 1e6),
        "error_code": ("Code of an error, 0 for none.", lambda card: 0),
        "hbm_total_memory": ("HBM in all (in MB).", lambda card: card.use.total // MIB),
        "hbm_used_memory": ("HBM that is used (in MB).", lambda card: card.value.memory_used // MIB),
        "hbm_temperature": ("Temperature of the HBM (in C).", lambda card: card.value.memory_temperature),
        "health_status": ("1: healthy, 0: unhealthy.", lambda card: 1),
        "overall_utilization": ("Utilization of all cores (in %).", lambda card: card.value.utilization * 100),
        "temperature": ("Temperature (in C).", lambda card: card.value.temperature),
        "total_memory": ("DDR in all (in MB).", lambda card: 0),
        "used_memory": ("DDR that is used (in MB).", lambda card: 0),
        "utilization": ("Utilization of the AI cores (in %).", lambda card: card.value.activity * 100),
    }
    families = [build, number]
    for name, (help, take) in columns.items():
        made = Family(f"npu_chip_info_{name}", "gauge", help, True)
        for card in node.cards:
            made.add(block(_npu_labels(card)), take(card), at_ms)
        families.append(made)
    power = Family("npu_chip_info_power", "gauge", "Power (in W).")
    memory = Family("container_npu_used_memory", "gauge", "Memory that a container uses (in MB).", True)
    for card in node.cards:
        power.add(block(_npu_labels(card)), round(card.value.power, 1), at_ms)
        for one in card.holders:
            memory.add(block(_npu_labels(card)), card.used_by(one, node.moment) // MIB, at_ms)
    return text([*families, power, memory])


def _npu_labels(card: SeenCard) -> dict[str, object]:
    who = card.labelled
    die = noise.seed_of(card.uuid)
    return {
        "container_name": who.container if who else "",
        "id": card.index,
        "model_name": "910B3-Ascend-V1",
        "namespace": who.namespace if who else "",
        "pcie_bus_info": f"0000:{0xC1 + card.index:02X}:00.0",
        "pod_name": who.pod if who else "",
        "vdie_id": f"{die:08X}-20206A31-60B4B2A4-1C0C0000-{die % 65521:08X}",
    }
