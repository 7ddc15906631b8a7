"""The TensorWorks device plugins for Windows nodes: they mount the drivers' CUDA, OpenCL, Vulkan and encoder files beside DirectX.

A compute device (MCDM) has no Vulkan and no video encoder; a display device (WDDM) has.
"""

from __future__ import annotations

from validations.suites.engine.family import Family
from validations.suites.engine.needs import Needs

_COMPUTE = ("directx", "cuda", "opencl")
_DISPLAY = (*_COMPUTE, "vulkan", "video")

#: The plugins are HostProcess containers; older containerd gives a container no device of a class.
_NEEDS = Needs(containerd="1.7.0", kubernetes="1.22")

FAMILIES = (
    Family(
        name="directx-compute", os="windows", apis=_COMPUTE, resources=("directx.microsoft.com/compute",), needs=_NEEDS
    ),
    Family(
        name="directx-display", os="windows", apis=_DISPLAY, resources=("directx.microsoft.com/display",), needs=_NEEDS
    ),
)
