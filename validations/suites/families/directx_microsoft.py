"""Microsoft's DirectX device plugin for Windows nodes: it mounts DirectX alone."""

from __future__ import annotations

from validations.suites.engine.family import Family
from validations.suites.engine.needs import Needs

FAMILIES = (
    Family(
        name="directx-microsoft",
        os="windows",
        apis=("directx",),
        resources=("microsoft.com/directx",),
        # Older containerd gives a container no device of a class; the kubelet's device manager works on Windows since 1.20.
        needs=Needs(containerd="1.7.0", kubernetes="1.20"),
    ),
)
