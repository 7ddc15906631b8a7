"""AMD's cards: what is known of them by their labels. Their resources are not read yet, and said to be not understood."""

from __future__ import annotations

from inventory.stacks.engine.labels import first, text
from inventory.stacks.engine.stack import NodeLabels, Recognised

PRESENT = "feature.node.kubernetes.io/amd-gpu"

RECOGNISED = Recognised(
    name="amd",
    resource_prefixes=("amd.com/",),
    node_labels=NodeLabels(
        prefixes=("amd.com/", "beta.amd.com/", PRESENT),
        present=(PRESENT,),
        vendor_words=("amd",),
        driver=first(("amd.com/gpu.driver-version",), text),
    ),
)
