"""The driver that programs which use CUDA find on a node, as the devices of its slices say it."""

from __future__ import annotations

from collections.abc import Iterable

from kube.claims import ResourceSlice, plain_value
from stacks.dra.drivers import driver
from stacks.dra.trim import short


def cuda_driver(slices: Iterable[ResourceSlice]) -> str:
    """The version of NVIDIA's driver, "" where no device says one, or two say different ones. slices: of one node."""
    said = {
        str(plain_value(value))
        for found in slices
        if driver(found.spec.driver).cuda
        for device in found.spec.devices or ()
        for name, value in (device.attributes or {}).items()
        if short(name) == "driverVersion"
    }
    return said.pop() if len(said) == 1 else ""
