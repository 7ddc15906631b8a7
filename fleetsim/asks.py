"""What the claims of the demo's pods ask for, and their selectors in the language of device classes (CEL)."""

from __future__ import annotations

from dataclasses import dataclass

_DRIVER = "gpu.nvidia.com"


@dataclass(frozen=True)
class Ask:
    """What a claim asks for. count None: every device of the class on the node. template: of the claim; "" where it has none."""

    device_class: str
    count: int | None = 1
    selectors: tuple[str, ...] = ()
    template: str = "gpu"
    admin: bool = False


def of_profile(name: str) -> str:
    """A selector for instances of one profile."""
    return f"device.attributes['{_DRIVER}'].profile == '{name}'"


def of_memory(gibibytes: int) -> str:
    """A selector for devices with at least that much memory."""
    return f"device.capacity['{_DRIVER}'].memory.compareTo(quantity('{gibibytes}Gi')) >= 0"
