"""Alibaba Cloud's DirectX device plugin for Windows nodes: `windows.alibabacloud.com/directx`.

The device is the class of all display adapters of the host, shared by host and containers, so capacity is no number of cards:
that comes from the administrator or the instance type. Source: the plugin's page in the documentation of ACK.
"""

from __future__ import annotations

from inventory.stacks.base import Context, Share
from inventory.stacks.directx import Adapters, simple_share
from kube.objects import Node, Pod

NAME = "directx-alibaba"
RESOURCES = ("windows.alibabacloud.com/directx",)


def owns(resource: str, context: Context) -> bool:
    """The plugin's one resource."""
    return resource in RESOURCES


def read(node: Node, pods: list[Pod], context: Context) -> Share | None:
    """Shared cards and their holders. None when the node does not offer the resource and no pod holds it."""
    return simple_share(NAME, RESOURCES, node, pods, Adapters(None))
