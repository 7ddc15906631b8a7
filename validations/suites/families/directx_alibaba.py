"""Alibaba's DirectX device plugin for Windows nodes: it mounts DirectX alone."""

from __future__ import annotations

from validations.suites.engine.family import Family
from validations.suites.engine.needs import Needs

FAMILIES = (
    Family(
        name="directx-alibaba",
        os="windows",
        apis=("directx",),
        resources=("windows.alibabacloud.com/directx",),
        needs=Needs(kubernetes="1.20.4"),
    ),
)
