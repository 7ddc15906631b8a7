"""Objects of a cluster → what is known of its software, each under the component that it is.

A DaemonSet or Deployment is a component by the labels of its pods, else by its own; a pod by the uid of its owner, never by a name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from kube.objects import DaemonSet, Node, Pod
from kube.software import (
    ClusterPolicy,
    Deployment,
    DeviceConfig,
    GPUCluster,
    GpuDevicePlugin,
    NVIDIADriver,
    Service,
    SoftwareObject,
)
from stacks.engine.components import component_of
from stacks.engine.software.base import Software

T = TypeVar("T", DaemonSet, Deployment)
Kept = TypeVar("Kept")


def software_of(
    *,
    now: float,
    daemonsets: Iterable[DaemonSet] = (),
    objects: Iterable[SoftwareObject] = (),
    pods: Iterable[Pod] = (),
    read: frozenset[str] = frozenset(),
    nodes: Callable[[], Iterable[Node]] = tuple,
) -> Software:
    """pods: those of components that no DaemonSet owns. read: kinds that the cluster lets be read."""
    sets, found = tuple(daemonsets), tuple(objects)
    by_component = _grouped(sets)
    return Software(
        now=now,
        daemonsets=by_component,
        owners={one.metadata.uid: name for name, several in by_component.items() for one in several},
        deployments=_grouped(_of(found, Deployment)),
        services=_of(found, Service),
        policies=_of(found, ClusterPolicy),
        drivers=_of(found, NVIDIADriver),
        gpuclusters=_of(found, GPUCluster),
        deviceconfigs=_of(found, DeviceConfig),
        gpudeviceplugins=_of(found, GpuDevicePlugin),
        pods=_pods(pods),
        read=read,
        nodes=nodes,
    )


def part_of(thing: DaemonSet | Deployment) -> str:
    """The component that it is; "" for none."""
    template = thing.spec.template if thing.spec else None
    return component_of(template.metadata.labels if template else None) or component_of(thing.metadata.labels)


def _grouped(things: Iterable[T]) -> dict[str, tuple[T, ...]]:
    found: dict[str, list[T]] = defaultdict(list)
    for one in things:
        if name := part_of(one):
            found[name].append(one)
    return {name: tuple(several) for name, several in found.items()}


def _of(objects: tuple[SoftwareObject, ...], kind: type[Kept]) -> tuple[Kept, ...]:
    return tuple(one for one in objects if isinstance(one, kind))


def _pods(pods: Iterable[Pod]) -> Mapping[str, tuple[Pod, ...]]:
    found: dict[str, list[Pod]] = defaultdict(list)
    for one in pods:
        if name := component_of(one.metadata.labels):
            found[name].append(one)
    return {name: tuple(several) for name, several in found.items()}
