"""Alibaba Cloud's DirectX device plugin for Windows nodes: `windows.alibabacloud.com/directx`.

The device is the class of all display adapters of the host, shared by host and containers, so capacity is no number of cards:
that comes from the administrator or the instance type. Source: the plugin's page in the documentation of ACK.
"""

from __future__ import annotations

from inventory.stacks.engine.base import Context, StackReport
from inventory.stacks.engine.stack import Components, NodeLabels, Stack
from inventory.stacks.shared.directx import Adapters, simple_share
from inventory.stacks.shared.ways import shares_of_cards
from kube.objects import Node, Pod

NAME = "directx-alibaba"
RESOURCES = ("windows.alibabacloud.com/directx",)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Shared cards and their holders. None when the node does not offer the resource and no pod holds it."""
    return simple_share(NAME, RESOURCES, node, pods, Adapters({}))


STACK = Stack(
    name=NAME,
    label="Alibaba Cloud DirectX",
    resources=RESOURCES,
    read=read,
    resource_words=("directx",),
    components=Components(
        by_label={"k8s-app": {"directx-device-plugin-windows": "directx-alibaba-device-plugin"}},
        device_plugins=("directx-alibaba-device-plugin",),
    ),
    node_labels=NodeLabels(
        prefixes=("windows.alibabacloud.com/",), present=("windows.alibabacloud.com/directx-supported",)
    ),
    ways=(shares_of_cards("Alibaba Cloud DirectX", NAME, RESOURCES),),
)
