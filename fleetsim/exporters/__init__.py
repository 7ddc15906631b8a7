"""The exporters of the simulated fleet: which pod is one, and the page that it has at a moment. Knows no sockets.

One row an exporter, by the name of its DaemonSet. A page comes from `usage.value` alone, so all of them agree with
each other and with what a history says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from fleetsim.exporters import dcgm, plain, vendors, vgpu
from fleetsim.exporters.page import CONTENT_TYPE
from fleetsim.exporters.seen import SeenNode, look
from fleetsim.resources import PODS
from fleetsim.usage import cases

if TYPE_CHECKING:
    from fleetsim.fleet import Fleet

__all__ = ["CONTENT_TYPE", "EXPORTERS", "Exported", "Silent", "Target", "exported", "port_of", "targets"]

Pod = dict[str, Any]

#: DaemonSet → its page.
EXPORTERS: dict[str, Callable[[SeenNode], str]] = {
    "nvidia-dcgm-exporter": dcgm.page,
    "dcgm-exporter-dra": partial(dcgm.page, base=True),
    "hami-device-plugin": vgpu.hami,
    "volcano-device-plugin": vgpu.volcano,
    "amd-metrics-exporter": vendors.amd,
    "xpumd": vendors.xpumd,
    "npu-exporter": vendors.npu,
    "nvidia-gpu-exporter": plain.smi,
    "nvidia-gpu-exporter-windows": plain.smi,
    "nvidia-gpu-device-plugin-large-cos": plain.gke,
}


class Silent(Exception):
    """Nothing listens there: the connection is refused."""


class Exported(NamedTuple):
    """An exporter's answer."""

    code: int
    body: str


class Target(NamedTuple):
    """An exporter's pod. address: as it is in the cluster."""

    exporter: str
    namespace: str
    pod: str
    container: str
    node: str
    address: str


def port_of(pod: Pod) -> int:
    """The port that is called `metrics`; 0 where there is none."""
    ports = (port for one in pod["spec"]["containers"] for port in one.get("ports", []))
    return next((int(port["containerPort"]) for port in ports if port["name"] == "metrics"), 0)


def exported(fleet: Fleet, namespace: str, name: str, port: int | None, path: str) -> Exported:
    """What the pod answers to a GET. port: None for its own.

    Raises ApiError 404 for no such pod, and Silent where nothing listens.
    """
    with fleet.store.changed:
        pod = fleet.store.get(PODS, namespace, name)
        exporter = _exporter(pod)
        if exporter is None or port not in (None, port_of(pod)) or not _is_up(pod):
            raise Silent(f"{name}:{port}")
        machine = fleet.world.scheduler.by_name[pod["spec"]["nodeName"]]
        trouble = cases.silent(machine.name, exporter, fleet.now - fleet.world.tenancies.began)
        if trouble == cases.GONE:
            raise Silent(f"{name}:{port}")
        seen = look(fleet.world, machine, fleet.now)
    if path != "/metrics":
        return Exported(404, "404 page not found\n")
    if trouble == cases.FAILS:
        return Exported(503, "Failed to collect metrics\n")
    return Exported(200, EXPORTERS[exporter](seen) if seen is not None else "")


def targets(fleet: Fleet) -> list[Target]:
    """All exporters that a Prometheus in the cluster would scrape, those that are silent too."""
    found = []
    for pod in fleet.store.all(PODS):
        exporter = _exporter(pod)
        if exporter is not None and _is_up(pod):
            metadata, spec = pod["metadata"], pod["spec"]
            address = f"{pod['status']['podIP']}:{port_of(pod)}"
            container = spec["containers"][-1]["name"]
            found.append(
                Target(exporter, metadata["namespace"], metadata["name"], container, spec["nodeName"], address)
            )
    return found


def _exporter(pod: Pod) -> str | None:
    owners = pod["metadata"].get("ownerReferences") or [{}]
    name = str(owners[0].get("name", ""))
    return name if owners[0].get("kind") == "DaemonSet" and name in EXPORTERS else None


def _is_up(pod: Pod) -> bool:
    return bool(pod["status"].get("phase") == "Running")
