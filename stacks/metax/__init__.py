"""MetaX's GPU extensions: whole cards, `metax-tech.com/gpu`, and parts of cards (sGPU), `metax-tech.com/sgpu` (`parts`).

Of whole cards the plugin chooses which a pod gets, and does not say; a scheduler that numbers the cards for itself does not tell it.
Source: Project-HAMi/HAMi/pkg/device/metax (v2.6.0 to v2.10.0; 65536 MiB of a whole card there is a constant).
"""

from __future__ import annotations

from kube.objects import Node, Pod
from stacks.engine.base import Context, StackReport
from stacks.engine.describe import describe
from stacks.engine.names import annotations_of
from stacks.engine.overrides import overrides
from stacks.engine.stack import Kept, NodeLabels, Stack
from stacks.metax import parts
from stacks.metax.parts import ALLOCATED, CORES, DOMAIN, MEMORY, NAME, PARTS, REGISTER
from stacks.shared.counted import cards
from stacks.shared.named import free
from stacks.shared.ways import whole_cards
from wording.said import gettext_noop

GPU = f"{DOMAIN}gpu"
_OF_PARTS = (PARTS, MEMORY, CORES)


def owns(resource: str, context: Context) -> bool:
    """Whole cards and parts, unless an administrator has named them."""
    return (resource == GPU and free(context, GPU)) or (resource in _OF_PARTS and free(context, *_OF_PARTS))


def marks(node: Node) -> bool:
    """Whether the plugin lists cards of this node that are given out in parts."""
    return REGISTER in annotations_of(node)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Whole cards by count, cards in parts by the plugin's list. None when the node has neither and no pod holds one."""
    about = describe(node, overrides(node), NodeLabels())
    cut = parts.read(node, pods, about) if owns(PARTS, context) else None
    mine = tuple(name for name in (GPU,) if owns(name, context))
    return cards(NAME, node, pods, mine, about, cut)


STACK = Stack(
    name=NAME,
    label="MetaX GPU extensions",
    resources=(GPU, *_OF_PARTS),
    owns=owns,
    read=read,
    marks=marks,
    in_bytes=(MEMORY,),
    resource_prefixes=(DOMAIN,),
    kept=Kept(pod_annotations=(ALLOCATED,), node_annotations=(REGISTER,)),
    ways=(whole_cards(gettext_noop("MetaX GPU extensions, whole cards"), NAME, (GPU,)),),
)
