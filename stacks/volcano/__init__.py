"""Volcano: parts of NVIDIA cards. Virtual GPUs (1.9 and later), and the GPU share of before; a node has one of the two."""

from __future__ import annotations

from kube.objects import Node, Pod
from stacks.engine.base import Context, StackReport
from stacks.engine.names import annotations_of
from stacks.engine.stack import Components, Kept, Stack
from stacks.volcano import old, vgpu
from stacks.volcano.register import ALLOCATED, REGISTER
from stacks.volcano.settings import CONFIG_MAPS, PLUGIN
from stacks.volcano.ways import WAYS


def marks(node: Node) -> bool:
    """Whether the plugin of virtual GPUs has registered cards of this node."""
    return REGISTER in annotations_of(node)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Virtual GPUs where the node has some, else the older share. None when it has neither."""
    return vgpu.read(node, pods, context) or old.read(node, pods)


STACK = Stack(
    name=vgpu.NAME,
    label="Volcano",
    resources=(*vgpu.RESOURCES, *old.RESOURCES),
    read=read,
    marks=marks,
    slots=(vgpu.NUMBER,),
    components=Components(
        by_label={"name": {PLUGIN: PLUGIN}, "app": {"volcano-scheduler": "volcano-scheduler"}},
        device_plugins=(PLUGIN,),
        daemonsets=(PLUGIN,),
    ),
    config_maps=CONFIG_MAPS,
    ways=WAYS,
    kept=Kept(
        pod_annotations=(ALLOCATED, vgpu.BOUND_TO, old.INDEX),
        node_annotations=(REGISTER, old.SICK),
    ),
)
