"""The structs that lists and watches are read into, one for each kind."""

from __future__ import annotations

from typing import TypeVar

from kube import claims, config_maps, devices, listed
from kube.objects import DaemonSet, Node, Pod

T = TypeVar(
    "T",
    Node,
    Pod,
    DaemonSet,
    listed.Pod,
    claims.ResourceSlice,
    claims.ResourceClaim,
    config_maps.ConfigMap,
    devices.Device,
)
