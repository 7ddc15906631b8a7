"""Whether a node has an NVIDIA card: one answer for all stacks that allocate such cards."""

from __future__ import annotations

import pytest

from stacks.nvidia.evidence import evidence, labelled, ruled_out
from tests.stacks.build import node

TYPE = "node.kubernetes.io/instance-type"


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ({"nvidia.com/gpu.present": "true"}, "label nvidia.com/gpu.present"),
        ({"feature.node.kubernetes.io/pci-10de.present": "true"}, "label feature.node.kubernetes.io/pci-10de.present"),
        ({"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}, "label cloud.google.com/gke-accelerator"),
        (
            {"karpenter.k8s.aws/instance-gpu-manufacturer": "nvidia"},
            "label karpenter.k8s.aws/instance-gpu-manufacturer",
        ),
        ({TYPE: "g5.xlarge"}, "instance type g5.xlarge"),
        ({TYPE: "Standard_ND96isr_MI300X_v5"}, ""),
        ({TYPE: "g4ad.xlarge"}, ""),
        ({"karpenter.k8s.aws/instance-gpu-manufacturer": "amd"}, ""),
        ({"nvidia.com/gpu.present": "false"}, ""),
    ],
)
def test_labels_and_instance_types(labels: dict[str, str], found: str) -> None:
    assert labelled(node({}, labels=labels)) == found


def test_a_resource_and_a_taint_say_it_too() -> None:
    assert evidence(node({"nvidia.com/gpu": "0"})) == "resource nvidia.com/gpu"
    assert evidence(node({"cpu": "4"})) == ""


def test_only_who_looked_has_found_none() -> None:
    assert ruled_out(node({}, labels={"feature.node.kubernetes.io/cpu-model.vendor_id": "AMD"}))
    assert not ruled_out(node({}, labels={"feature.node.kubernetes.io/pci-10de.present": "true"}))
    assert not ruled_out(node({}))
