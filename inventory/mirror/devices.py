"""Rows of Devices: the cards of a node, as a scheduler's agent reports them; other devices are not kept."""

from __future__ import annotations

from inventory.mirror.values import Columns, common_columns
from kube.devices import Device
from stacks.engine.base import Context
from stacks.engine.trim_device import trim_device


def device_row(found: Device, context: Context) -> Columns | None:
    trimmed = trim_device(found)
    return common_columns(found.metadata, trimmed) if trimmed is not None else None


def dirty_by_device(name: str) -> set[tuple[str, str]]:
    """Its node, which has the same name."""
    return {(name, "")} if name else set()
