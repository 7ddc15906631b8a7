"""Whether a node has an NVIDIA card, by what others say of it. Stacks that give out such cards ask for it by `Maker`.

Sources: the labels of Node Feature Discovery, GPU Feature Discovery, Karpenter and the clouds; `instances`.
"""

from __future__ import annotations

from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.shared.instances import instance_of

PRESENT = "nvidia.com/gpu.present"
_FEATURES = "feature.node.kubernetes.io/"
_PCI = tuple(f"{_FEATURES}pci-{code}.present" for code in ("10de", "0302_10de", "0300_10de"))
_NAMES = ("nvidia.com/gpu.product", "aliyun.accelerator/nvidia_name")
_MAKERS = ("kubernetes.azure.com/accelerator", "accelerator", "karpenter.k8s.aws/instance-gpu-manufacturer")
_GKE = "cloud.google.com/gke-accelerator"
_DRIVER = "nvidia.com/cuda.driver"
_PREFIX = "nvidia.com/"
#: How models of other makers begin in the table of instance types.
_OTHER_MAKERS = ("Radeon", "V710", "MI", "Inferentia", "Trainium")


def labelled(node: Node) -> str:
    """The label that says so, in words; "" where none does."""
    labels = labels_of(node)
    for name in (*_PCI, PRESENT):
        if labels.get(name) == "true":
            return f"label {name}"
    for name in _NAMES:
        if labels.get(name):
            return f"label {name}"
    for name in _MAKERS:
        if labels.get(name, "").lower() == "nvidia":
            return f"label {name}"
    if "nvidia" in labels.get(_GKE, "").lower():
        return f"label {_GKE}"
    if any(name.startswith(_DRIVER) for name in labels):
        return f"labels {_DRIVER}"
    found = instance_of(labels)
    return found[1] if found is not None and not found[0].model.startswith(_OTHER_MAKERS) else ""


def evidence(node: Node) -> str:
    """The label, the resource or the taint that says so, in words; "" where nothing does."""
    if found := labelled(node):
        return found
    for name in (node.status.capacity if node.status else None) or ():
        if name.startswith(_PREFIX):
            return f"resource {name}"
    taints = (node.spec.taints if node.spec else None) or ()
    return next((f"taint {one.key}" for one in taints if one.key.startswith(_PREFIX)), "")


def ruled_out(node: Node) -> bool:
    """Whether Node Feature Discovery has looked at the node and found none."""
    labels = labels_of(node)
    return any(name.startswith(_FEATURES) for name in labels) and all(labels.get(name) != "true" for name in _PCI)
