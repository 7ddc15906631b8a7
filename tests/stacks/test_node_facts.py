"""What a page says of a node."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kube.objects import Node
from stacks.engine.node_facts import NodeFacts, cuda, node_facts
from stacks.engine.stack import Cuda
from stacks.engine.trim_node import trim_node


def _node(**fields: Any) -> Node:
    return msgspec.convert(fields, Node)


FULL = _node(
    metadata={
        "name": "n",
        "labels": {
            "kubernetes.io/os": "windows",
            "node.kubernetes.io/windows-build": "10.0.20348",
            "node.kubernetes.io/instance-type": "g4dn.xlarge",
            "topology.kubernetes.io/zone": "eu-1a",
            "topology.kubernetes.io/region": "eu-1",
            "nvidia.com/gpu.product": "Tesla-T4",
            "nvidia.com/cuda.driver-version.full": "550.107.02",
        },
    },
    spec={"unschedulable": True},
    status={
        "conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "no network"}],
        "addresses": [{"type": "Hostname", "address": "n"}, {"type": "InternalIP", "address": "10.0.0.5"}],
        "nodeInfo": {
            "osImage": "Windows Server 2022",
            "operatingSystem": "windows",
            "kernelVersion": "10.0.20348.1",
            "kubeletVersion": "v1.33.1",
            "containerRuntimeVersion": "containerd://1.7.0",
        },
    },
)


def test_the_facts_of_a_node_that_says_everything() -> None:
    assert node_facts(FULL) == NodeFacts(
        ready=False,
        ready_reason="KubeletNotReady: no network",
        unschedulable=True,
        os="windows",
        instance_type="g4dn.xlarge",
        internal_ip="10.0.0.5",
        kubelet_version="v1.33.1",
        os_image="Windows Server 2022",
        kernel="10.0.20348.1",
        container_runtime="containerd://1.7.0",
        windows_build="10.0.20348",
        driver_version="550.107.02",
        driver_source="label nvidia.com/cuda.driver-version.full",
        model="Tesla-T4",
        model_source="label nvidia.com/gpu.product",
        zone="eu-1a",
        region="eu-1",
    )


def test_the_trimmed_node_says_the_same() -> None:
    assert node_facts(trim_node(FULL)) == node_facts(FULL)


def test_a_node_that_says_nothing_has_no_facts() -> None:
    assert node_facts(Node()) == NodeFacts()


@pytest.mark.parametrize(("status", "ready"), [("True", True), ("False", False), ("Unknown", None), ("maybe", None)])
def test_a_node_that_is_not_heard_of_is_neither_ready_nor_not(status: str, ready: bool | None) -> None:
    assert node_facts(_node(status={"conditions": [{"type": "Ready", "status": status}]})).ready is ready


def test_older_driver_labels_are_put_together() -> None:
    labels = {
        "nvidia.com/cuda.driver.major": "470",
        "nvidia.com/cuda.driver.minor": "82",
        "nvidia.com/cuda.driver.rev": "01",
    }
    facts = node_facts(_node(metadata={"labels": labels}))
    assert (facts.driver_version, facts.driver_source) == ("470.82.01", "labels nvidia.com/cuda.driver.*")


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ({}, Cuda()),
        ({"cuda.driver-version.full": "550.54.15", "cuda.driver.major": "470"}, Cuda(driver="550.54.15")),
        ({"cuda.driver.major": "470", "cuda.driver.minor": "82", "cuda.driver.rev": "01"}, Cuda(driver="470.82.01")),
        # Without a part what comes after it says nothing.
        ({"cuda.driver.major": "470", "cuda.driver.rev": "01"}, Cuda(driver="470")),
        ({"cuda.driver.minor": "82"}, Cuda()),
        ({"cuda.runtime-version.full": "12.8"}, Cuda(newest="12.8")),
        ({"cuda.runtime.major": "11", "cuda.runtime.minor": "4"}, Cuda(newest="11.4")),
        ({"gpu.compute.major": "7", "gpu.compute.minor": "5"}, Cuda(capability="7.5")),
        ({"gpu.compute.major": "9", "gpu.compute.minor": "0"}, Cuda(capability="9.0")),
        ({"vgpu.host-driver-version": "535.54.06"}, Cuda()),
    ],
)
def test_what_labels_say_of_cuda(labels: dict[str, str], found: Cuda) -> None:
    assert cuda(_node(metadata={"labels": {f"nvidia.com/{name}": one for name, one in labels.items()}})) == found


def test_the_driver_of_another_vendor_is_none_for_cuda() -> None:
    node = _node(metadata={"labels": {"amd.com/gpu.driver-version": "6.8.5"}})
    assert (node_facts(node).driver_version, cuda(node)) == ("6.8.5", Cuda())
