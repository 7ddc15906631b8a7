"""Labels that others than stacks write on nodes with GPUs: clouds, Karpenter, Node Feature Discovery.

Sources: the documentation of AKS, EKS, GKE and Karpenter (AWS, Azure); the memory of Google's accelerators is that of its page of GPU
platforms; Node Feature Discovery names PCI devices by class and vendor (10de: NVIDIA).
"""

from __future__ import annotations

from stacks.engine.labels import GIB, first, mebibytes, model_name, number
from stacks.engine.stack import Labels, NodeLabels, Recognised

#: Karpenter on AWS and EKS Auto Mode say the same under names of their own; a count of 0 is that of a part of a card.
_AWS = ("karpenter.k8s.aws/instance-gpu-", "eks.amazonaws.com/instance-gpu-")
_AZURE = "karpenter.azure.com/sku-gpu-"
GKE = "cloud.google.com/gke-accelerator"
_GKE_COUNT = "cloud.google.com/gke-accelerator-count"
AKS = "kubernetes.azure.com/accelerator"
_NAMES = (*(f"{prefix}name" for prefix in _AWS), f"{_AZURE}name")

#: GB of each card, taken as GiB.
_GKE_MEMORY = {
    "nvidia-tesla-k80": 12,
    "nvidia-tesla-p4": 8,
    "nvidia-tesla-p100": 16,
    "nvidia-tesla-v100": 16,
    "nvidia-tesla-t4": 16,
    "nvidia-l4": 24,
    "nvidia-tesla-a100": 40,
    "nvidia-a100-80gb": 80,
    "nvidia-h100-80gb": 80,
    "nvidia-h100-mega-80gb": 80,
    "nvidia-h200-141gb": 141,
    "nvidia-rtx-pro-6000": 96,
}

_mebibytes = first(tuple(f"{prefix}memory" for prefix in _AWS), mebibytes)
_number = first((*(f"{prefix}count" for prefix in _AWS), f"{_AZURE}count"), number)
_gke_number = first((_GKE_COUNT,), number)


def _memory(labels: Labels) -> tuple[int, str] | None:
    size = _GKE_MEMORY.get(labels.get(GKE, ""))
    return _mebibytes(labels) or ((size * GIB, f"label {GKE}") if size is not None else None)


def _cards(labels: Labels) -> tuple[int, str] | None:
    # Nodes with TPUs have the label of the count too.
    return _number(labels) or (_gke_number(labels) if labels.get(GKE) else None)


RECOGNISED = Recognised(
    name="hosts",
    node_labels=NodeLabels(
        prefixes=(
            "kubernetes.azure.com/",
            "karpenter.k8s.aws/",
            GKE,
            "feature.node.kubernetes.io/pci-",
            _AWS[1],
            _AZURE,
        ),
        present=(
            "feature.node.kubernetes.io/pci-10de.present",
            "feature.node.kubernetes.io/pci-0302_10de.present",
            "feature.node.kubernetes.io/pci-0300_10de.present",
        ),
        naming=(GKE, AKS, *_NAMES),
        model=first((*_NAMES, GKE, AKS), model_name),
        memory=_memory,
        cards=_cards,
    ),
)
