"""Volcano: parts of NVIDIA cards. Virtual GPUs (1.9 and later), and the GPU share of before; a node has one of the two."""

from __future__ import annotations

from inventory.stacks.engine.base import Context, StackReport
from inventory.stacks.engine.names import annotations_of
from inventory.stacks.engine.stack import Components, Kept, Stack
from inventory.stacks.volcano import old, vgpu
from inventory.stacks.volcano.register import ALLOCATED, REGISTER
from kube.objects import Node, Pod

_PLUGIN = "volcano-device-plugin"


def marks(node: Node) -> bool:
    """Whether the plugin of virtual GPUs has registered cards of this node."""
    return REGISTER in annotations_of(node)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Virtual GPUs where the node has some, else the older share. None when it has neither."""
    return vgpu.read(node, pods) or old.read(node, pods)


STACK = Stack(
    name=vgpu.NAME,
    label="Volcano",
    resources=(*vgpu.RESOURCES, *old.RESOURCES),
    read=read,
    marks=marks,
    components=Components(
        by_label={"name": {_PLUGIN: _PLUGIN}, "app": {"volcano-scheduler": "volcano-scheduler"}},
        device_plugins=(_PLUGIN,),
    ),
    kept=Kept(
        pod_annotations=(ALLOCATED, vgpu.BOUND_TO, old.INDEX),
        node_annotations=(REGISTER, old.SICK),
    ),
)
