"""What a page says of a node."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from inventory.stacks.engine.node_facts import NodeFacts, node_facts
from inventory.stacks.engine.trim_node import trim_node
from kube.objects import Node


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
