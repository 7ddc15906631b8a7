"""Alibaba's DirectX device plugin for Windows nodes: it mounts DirectX alone."""

from __future__ import annotations

from validations.suites.engine.family import Family

FAMILIES = (
    Family(name="directx-alibaba", os="windows", apis=("directx",), resources=("windows.alibabacloud.com/directx",)),
)
