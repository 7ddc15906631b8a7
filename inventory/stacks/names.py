"""Names that others write on nodes and pods: labels, annotations, resources; and what they have in common.

Only names that more than one module reads; what belongs to one stack stays in that stack.
"""

from __future__ import annotations

from kube.objects import Node, Pod

GFD = "nvidia.com/"
INSTANCE_TYPE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
HAMI_REGISTER_PREFIX = "hami.io/node-"
OVERRIDE_PREFIX = "gpudash.io/"

#: An annotation longer than this is refused: no sharing system writes one, and it would be parsed on every event.
LONGEST_ANNOTATION = 64 * 1024
#: Stands in the mirror for an annotation that was longer.
OVERSIZE = "gpudash.io/oversize "

#: More cards than any node has. A larger claim is not believed (and not turned into that many rows).
MAX_CARDS = 1024

_VENDOR_PREFIXES = (
    "nvidia.com/",
    "amd.com/",
    "gpu.intel.com/",
    "habana.ai/",
    "huawei.com/ascend",
    "hygon.com/",
    "cambricon.com/",
    "iluvatar.ai/",
    "iluvatar.com/",
    "mthreads.com/",
    "metax-tech.com/",
    "kunlunxin.com/",
    "enflame.com/",
    "vastaitech.com/",
    "birentech.com/",
    "aws.amazon.com/neuron",
)


def looks_like_gpu(resource: str) -> bool:
    """Whether an extended resource name reads like a GPU or an accelerator that is given out like one."""
    if "/" not in resource:
        return False
    name = resource.lower()
    # Quota keys ("requests.nvidia.com/gpu") and huge pages are no extended resources of a node.
    return "gpu" in name or "directx" in name or name.startswith(_VENDOR_PREFIXES)


def labels_of(thing: Node | Pod) -> dict[str, str]:
    """The labels, or an empty mapping."""
    return thing.metadata.labels or {}


def annotations_of(thing: Node | Pod) -> dict[str, str]:
    """The annotations, or an empty mapping."""
    return thing.metadata.annotations or {}


def too_long(text: str) -> bool:
    """Whether an annotation is longer than is read, or was and has been replaced by the mirror."""
    return len(text) > LONGEST_ANNOTATION or text.startswith(OVERSIZE)


def has_hami_register(node: Node) -> bool:
    """Whether HAMi has registered cards of this node: its `nvidia.com/gpu` are then slots, counted by `hami`."""
    annotations = node.metadata.annotations
    if not annotations:
        return False
    return any(name.startswith(HAMI_REGISTER_PREFIX) and "register" in name for name in annotations)
