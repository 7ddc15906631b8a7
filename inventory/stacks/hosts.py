"""Labels that others than sharing systems write on nodes with GPUs: clouds, Karpenter, Node Feature Discovery.

Sources: the documentation of AKS, GKE and Karpenter; Node Feature Discovery names PCI devices by class and vendor (10de: NVIDIA).
"""

from __future__ import annotations

from inventory.stacks.engine.labels import first, mebibytes, model_name
from inventory.stacks.engine.stack import NodeLabels, Recognised

KARPENTER_NAME = "karpenter.k8s.aws/instance-gpu-name"
KARPENTER_MEMORY = "karpenter.k8s.aws/instance-gpu-memory"
GKE = "cloud.google.com/gke-accelerator"
AKS = "kubernetes.azure.com/accelerator"
#: Written by administrators, with a model or with the name of the vendor only.
PLAIN = "accelerator"


RECOGNISED = Recognised(
    name="hosts",
    node_labels=NodeLabels(
        prefixes=("kubernetes.azure.com/", "karpenter.k8s.aws/", GKE, "feature.node.kubernetes.io/pci-"),
        names=(PLAIN,),
        present=(
            "feature.node.kubernetes.io/pci-10de.present",
            "feature.node.kubernetes.io/pci-0302_10de.present",
            "feature.node.kubernetes.io/pci-0300_10de.present",
        ),
        naming=(GKE, AKS, KARPENTER_NAME),
        model=first((KARPENTER_NAME, GKE, PLAIN, AKS), model_name),
        memory=first((KARPENTER_MEMORY,), mebibytes),
    ),
)
