"""The DirectX device plugins with Microsoft's resource name: `microsoft.com/directx` (AKS, and aarnaud's, self-managed).

One device stands for one adapter, without any memory being set aside. `microsoft.com.directx/gpu` is a slip of the pen seen in
samples; it is read the same way.
"""

from __future__ import annotations

from inventory.stacks.base import Context, Share
from inventory.stacks.directx import Adapters, offered, simple_share
from kube.objects import Node, Pod

NAME = "directx-microsoft"
RESOURCES = ("microsoft.com/directx", "microsoft.com.directx/gpu")


def owns(resource: str, context: Context) -> bool:
    """The resource, and its misspelling."""
    return resource in RESOURCES


def read(node: Node, pods: list[Pod], context: Context) -> Share | None:
    """Shared cards and their holders. None when the node does not offer the resource and no pod holds it."""
    slots = [found.slots for found in offered(node, RESOURCES).values() if found.slots]
    return simple_share(NAME, RESOURCES, node, pods, Adapters(max(slots, default=None), "one device an adapter"))
