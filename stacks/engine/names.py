"""Labels and annotations of nodes and pods: names of Kubernetes itself and of gpudash, and how long they may be.

What one stack writes stands in its own module.
"""

from __future__ import annotations

from kube.objects import Node, Pod

INSTANCE_TYPE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
OVERRIDE_PREFIX = "gpudash.io/"

#: An annotation longer than this is refused: no stack writes one, and it would be parsed on every event.
LONGEST_ANNOTATION = 64 * 1024
#: Stands in the mirror for an annotation that was longer.
OVERSIZE = "gpudash.io/oversize "

#: More cards than any node has. A larger claim is not believed (and not turned into that many rows).
MAX_CARDS = 1024


def labels_of(thing: Node | Pod) -> dict[str, str]:
    """The labels, or an empty mapping."""
    return thing.metadata.labels or {}


def annotations_of(thing: Node | Pod) -> dict[str, str]:
    """The annotations, or an empty mapping."""
    return thing.metadata.annotations or {}


def too_long(text: str) -> bool:
    """Whether an annotation is longer than is read, or was and has been replaced by the mirror."""
    return len(text) > LONGEST_ANNOTATION or text.startswith(OVERSIZE)
