"""What the cards of a node are: model and memory, and who says so.

Sources, best first: the administrator's annotation, GPU Feature Discovery, Karpenter, the accelerator labels of clouds. A
label that is not a number gives None. Must not know how the cards are given out.
"""

from __future__ import annotations

import re

import msgspec

from inventory.stacks.names import labels_of
from inventory.stacks.overrides import MEMORY, MODEL, Overrides
from kube.objects import Node
from kube.quantity import count

MIB = 2**20
GIB = 2**30
#: No card has more; a label that says so is not believed.
_MOST_MIB = 4 * 2**20

PRODUCT = "nvidia.com/gpu.product"
GFD_MEMORY = "nvidia.com/gpu.memory"
KARPENTER_NAME = "karpenter.k8s.aws/instance-gpu-name"
KARPENTER_MEMORY = "karpenter.k8s.aws/instance-gpu-memory"
KARPENTER_COUNT = "karpenter.k8s.aws/instance-gpu-count"
ALIYUN_NAME = "aliyun.accelerator/nvidia_name"
ALIYUN_MEMORY = "aliyun.accelerator/nvidia_mem"
ALIYUN_COUNT = "aliyun.accelerator/nvidia_count"
#: Kubernetes 1.6 and 1.7 documented the first for the alpha resource; clouds wrote the others.
TYPE_LABELS = (
    "alpha.kubernetes.io/nvidia-gpu-name",
    "cloud.google.com/gke-accelerator",
    "accelerator",
    "kubernetes.azure.com/accelerator",
)
#: These name only the vendor, not a model.
_NO_MODEL = frozenset(("nvidia", "amd", "true", ""))

_WITH_UNIT = re.compile(r"([0-9]{1,9})\s*(MiB|MB|GiB|GB)?")


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """Model and memory of each card of a node. None and "": not known."""

    model: str | None = None
    model_source: str = ""
    memory_bytes: int | None = None
    memory_source: str = ""


def describe(node: Node, given: Overrides) -> Described:
    """Model and memory of the node's cards from labels and the administrator's annotations. Never raises."""
    model, model_source = _model(node, given)
    memory, memory_source = _memory(node, given)
    return Described(model=model, model_source=model_source, memory_bytes=memory, memory_source=memory_source)


def mebibytes(text: str | None) -> int | None:
    """A label that counts MiB ("15360") in bytes; None when missing, 0 or no number."""
    number = count(text) if text and text.isdigit() else None
    return number * MIB if number is not None and 0 < number <= _MOST_MIB else None


def labelled_memory(text: str | None) -> int | None:
    """A label that carries its unit ("16384MiB", "24GiB", a bare number is MiB) in bytes; None when it cannot be read."""
    match = _WITH_UNIT.fullmatch(text.strip()) if text else None
    if match is None:
        return None
    number = int(match[1]) * (1024 if (match[2] or "M").startswith("G") else 1)
    return number * MIB if 0 < number <= _MOST_MIB else None


def _model(node: Node, given: Overrides) -> tuple[str | None, str]:
    labels = labels_of(node)
    if given.model is not None:
        return given.model, f"annotation {MODEL}"
    product = labels.get(PRODUCT)
    if product:
        return product.removesuffix("-SHARED"), f"label {PRODUCT}"
    for name in (ALIYUN_NAME, KARPENTER_NAME, *TYPE_LABELS):
        value = labels.get(name, "")
        if value.lower() not in _NO_MODEL:
            return value, f"label {name}"
    return None, ""


def _memory(node: Node, given: Overrides) -> tuple[int | None, str]:
    labels = labels_of(node)
    if given.memory_bytes is not None:
        return given.memory_bytes, f"annotation {MEMORY}"
    read = (
        (GFD_MEMORY, mebibytes(labels.get(GFD_MEMORY))),
        (ALIYUN_MEMORY, labelled_memory(labels.get(ALIYUN_MEMORY))),
        (KARPENTER_MEMORY, mebibytes(labels.get(KARPENTER_MEMORY))),
    )
    return next(((memory, f"label {name}") for name, memory in read if memory is not None), (None, ""))
