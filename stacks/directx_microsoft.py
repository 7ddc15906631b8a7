"""The DirectX device plugins with Microsoft's resource name: `microsoft.com/directx` (AKS, and aarnaud's, self-managed).

One device stands for one adapter, without any memory being set aside. `microsoft.com.directx/gpu` is a slip of the pen seen in
samples; it is read the same way.
"""

from __future__ import annotations

from kube.objects import Node, Pod
from stacks.engine.base import Context, StackReport
from stacks.engine.stack import Components, Stack
from stacks.shared.directx import Adapters, offered, simple_share
from stacks.shared.ways import shares_of_cards
from wording.said import gettext_noop

NAME = "directx-microsoft"
RESOURCES = ("microsoft.com/directx", "microsoft.com.directx/gpu")


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Shared cards and their holders. None when the node does not offer the resource and no pod holds it."""
    slots: dict[str, int | None] = {
        name: found.slots for name, found in offered(node, RESOURCES).items() if found.slots
    }
    return simple_share(NAME, RESOURCES, node, pods, Adapters(slots, "one device an adapter"))


_PLUGIN_NAMES = ("directx-device-plugin", "k8s-directx-device-plugin", "aks-windows-gpu-device-plugin")

STACK = Stack(
    name=NAME,
    label=gettext_noop("Microsoft DirectX"),
    resources=RESOURCES,
    read=read,
    resource_words=("directx",),
    components=Components(
        by_label={"name": dict.fromkeys(_PLUGIN_NAMES, "directx-microsoft-device-plugin")},
        device_plugins=("directx-microsoft-device-plugin",),
    ),
    ways=(shares_of_cards(gettext_noop("Microsoft DirectX"), NAME, RESOURCES),),
)
