"""The monitors of virtual GPUs: HAMi's with the names of 2.9 and later, and that of Volcano's device plugin with the old ones.

The card's figure is NVML's, a container's what its library has counted: without the CUDA context, so that they do not add up.
Format: Project-HAMi/HAMi cmd/vGPUmonitor, Project-HAMi/volcano-vgpu-device-plugin cmd/vgpu-monitor.
"""

from __future__ import annotations

from collections.abc import Callable

from fleetsim.exporters.page import Family, block, text
from fleetsim.exporters.seen import SeenCard, SeenNode
from fleetsim.usage import Tenant, quiet_since

_ZONE: dict[str, object] = {"zone": "vGPU"}
_Labels = Callable[[SeenCard, Tenant], dict[str, object]]


def hami(node: SeenNode) -> str:
    """A page of HAMi's monitor."""
    build = Family("hami_build_info", "gauge", "Build of HAMi.")
    build.add(block({"compiler": "gc", "go_version": "go1.26.1", "platform": "linux/amd64", "version": "v2.10.0"}), 1)
    used = Family("hami_host_gpu_memory_used_bytes", "gauge", "Memory of the GPU that is used.")
    busy = Family("hami_host_gpu_utilization_ratio", "gauge", "Utilization of the GPU, 0 to 100.")
    for card in node.cards:
        labels = {"device_index": card.index, "device_type": f"NVIDIA-{node.model.name}", "device_uuid": card.uuid}
        row = block({**labels, "node": node.name, **_ZONE})
        used.add(row, card.value.memory_used)
        busy.add(row, round(card.value.utilization * 100))
    of_pods = _of_containers(
        node,
        ("hami_vgpu_memory_used_bytes", "hami_vgpu_memory_limit_bytes", "hami_container_last_kernel_elapsed_seconds"),
        lambda card, one: {
            "container": one.who.container,
            "device_uuid": card.uuid,
            "namespace": one.who.namespace,
            "pod": one.who.pod,
            "vdevice_index": 0,
            **_ZONE,
        },
    )
    return text([build, used, busy, *of_pods])


def volcano(node: SeenNode) -> str:
    """A page of the monitor beside Volcano's device plugin: it names no node."""
    used = Family("HostGPUMemoryUsage", "gauge", "GPU device memory usage")
    busy = Family("HostCoreUtilization", "gauge", "GPU core utilization")
    for card in node.cards:
        row = block({"deviceidx": card.index, "deviceuuid": card.uuid, **_ZONE})
        used.add(row, card.value.memory_used)
        busy.add(row, round(card.value.utilization * 100))
    of_pods = _of_containers(
        node,
        (
            "vGPU_device_memory_usage_in_bytes",
            "vGPU_device_memory_limit_in_bytes",
            "Device_last_kernel_of_container",
        ),
        lambda card, one: {
            "ctrname": one.who.container,
            "deviceuuid": card.uuid,
            "podname": one.who.pod,
            "podnamespace": one.who.namespace,
            "vdeviceid": 0,
            **_ZONE,
        },
    )
    return text([used, busy, *of_pods])


def _of_containers(node: SeenNode, names: tuple[str, str, str], labels: _Labels) -> list[Family]:
    used, limit, quiet = (
        Family(names[0], "gauge", "Memory that a container uses."),
        Family(names[1], "gauge", "Memory that a container may use."),
        Family(names[2], "gauge", "Seconds since the last kernel of a container."),
    )
    for card in node.cards:
        for one in card.holders:
            row = block(labels(card, one))
            used.add(row, card.used_by(one, node.moment))
            limit.add(row, one.memory)
            quiet.add(row, int(quiet_since(one, node.moment)))
    return [used, limit, quiet]
