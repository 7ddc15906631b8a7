"""Koordinator's Device: the devices of one node, as its agent on the node reports them. The object has the node's name.

Field names are those of scheduling.koordinator.sh/v1alpha1.
Source: koordinator-sh/koordinator a7a1b76, apis/scheduling/v1alpha1/device_types.go.
"""

from __future__ import annotations

import msgspec

from kube.objects import Condition, Metadata, Quantities

GPU = "gpu"


class _Object(msgspec.Struct, omit_defaults=True, gc=False):
    """Base: defaults are left out when encoded, unknown fields are ignored when decoded."""


class Topology(_Object):
    """Where the device is. nodeID: of the NUMA node; busID: domain:bus:device.function."""

    nodeID: int | None = None
    pcieID: str = ""
    busID: str = ""


class DeviceInfo(_Object):
    """One device. id: its UUID, or what its vendor calls it. health: false where nothing is said."""

    type: str = ""
    id: str = ""
    minor: int | None = None
    moduleID: int | None = None
    health: bool = False
    resources: Quantities | None = None
    topology: Topology | None = None
    conditions: list[Condition] | None = None


class DeviceSpec(_Object):
    devices: list[DeviceInfo] | None = None


class Device(_Object):
    """All devices of a node: GPUs, and other things."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: DeviceSpec | None = None
