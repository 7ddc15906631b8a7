"""Moore Threads' GPU operator: whole cards, `mthreads.com/gpu`, and parts of cards (sGPU) as cores and memory.

A card has 16 cores, `mthreads.com/sgpu-core`; a unit of `mthreads.com/sgpu-memory` is 512 MiB. `mthreads.com/vgpu` counts the cards
that a pod asks for where another scheduler places it, which fills in the other two. The plugin reads the card's number on the pod.
Source: Project-HAMi/HAMi/pkg/device/mthreads (v2.6.0 to v2.10.0), and the vendor's documentation of its operator.
"""

from __future__ import annotations

from kube.objects import Node, Pod
from stacks.engine.base import Context, StackReport
from stacks.engine.describe import describe
from stacks.engine.labels import MIB
from stacks.engine.overrides import overrides
from stacks.engine.stack import Kept, NodeLabels, Stack
from stacks.shared import cores
from stacks.shared.counted import cards
from stacks.shared.named import free
from stacks.shared.ways import whole_cards
from wording.said import gettext_noop

NAME = "moore-threads"
_DOMAIN = "mthreads.com/"
GPU = f"{_DOMAIN}gpu"
_CHOSEN = f"{_DOMAIN}gpu-index"
_LABELS = NodeLabels()
_KIND = cores.Kind(
    f"{_DOMAIN}sgpu-core",
    f"{_DOMAIN}sgpu-memory",
    512 * MIB,
    lambda need: (_CHOSEN,),
    card=16,
    asked=f"{_DOMAIN}vgpu",
    required=False,
    metered=True,
    vendor=NAME,
    labels=_LABELS,
)
_OF_PARTS = (_KIND.asked, _KIND.cores, _KIND.memory)


def owns(resource: str, context: Context) -> bool:
    """Whole cards and parts, unless an administrator has named them."""
    return (resource == GPU and free(context, GPU)) or (resource in _OF_PARTS and free(context, *_OF_PARTS))


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Whole cards by count, parts by the numbers on their pods. None when the node has neither and no pod holds one."""
    cut = cores.read(NAME, _KIND, node, pods) if owns(_KIND.memory, context) else None
    mine = tuple(name for name in (GPU,) if owns(name, context))
    return cards(NAME, node, pods, mine, describe(node, overrides(node), _LABELS), cut)


STACK = Stack(
    name=NAME,
    label="Moore Threads GPU operator",
    resources=(GPU, *_OF_PARTS),
    owns=owns,
    read=read,
    resource_prefixes=(_DOMAIN,),
    kept=Kept(pod_annotations=(_CHOSEN,)),
    ways=(whole_cards(gettext_noop("Moore Threads GPU operator, whole cards"), NAME, (GPU,)),),
)
