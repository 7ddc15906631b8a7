"""What the mirror keeps of pods and nodes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kube.objects import Node, Pod
from stacks.engine import trim
from stacks.engine.base import Context
from stacks.engine.names import LONGEST_ANNOTATION, too_long
from stacks.engine.trim_node import trim_node
from tests.stacks.build import CONTEXT, as_listed, pod


def trim_pod(made: Pod, context: Context) -> Pod | None:
    """Of a pod as a list gives it."""
    return trim.trim_pod(as_listed(made), context)


GPU = [{"name": "a", "resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "4"}, "requests": {"memory": "1Gi"}}}]


@pytest.mark.parametrize(
    "fields",
    [
        {"spec": {"containers": GPU}},
        {"spec": {"initContainers": GPU}},
        {"spec": {"containers": [{"resources": {"requests": {"amd.com/gpu": "1"}}}]}},
        {"spec": {"containers": [{"resources": {"limits": {"acme.example/fast-gpu": "1"}}}]}},
        {"spec": {"resourceClaims": [{"name": "gpu"}]}},
        {"metadata": {"annotations": {"ALIYUN_COM_GPU_MEM_IDX": "0"}}},
        {"metadata": {"annotations": {"scheduler.framework.gpushare.allocation": "{}"}}},
        {"metadata": {"annotations": {"hami.io/vgpu-node": "n"}}},
        {"metadata": {"labels": {"app": "nvidia-dcgm-exporter"}}},
        {"spec": {"containers": [{}, {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}]}},
    ],
)
def test_a_pod_that_has_to_do_with_gpus_is_kept(fields: dict[str, Any]) -> None:
    assert trim_pod(pod(**fields), CONTEXT) is not None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"spec": {"containers": [{"resources": {"limits": {"cpu": "1", "example.com/disk": "1"}}}]}},
        {"metadata": {"labels": {"app": "web"}, "annotations": {"prometheus.io/scrape": "true"}}},
        {"spec": {"containers": [{"env": [{"name": "OTHER", "value": "NVIDIA_VISIBLE_DEVICES"}]}]}},
    ],
)
def test_a_pod_that_has_nothing_to_do_with_gpus_is_not_kept(fields: dict[str, Any]) -> None:
    assert trim_pod(pod(**fields), CONTEXT) is None


def test_a_renamed_resource_is_kept_only_under_that_setting() -> None:
    it = pod(spec={"containers": [{"resources": {"limits": {"fork.example/mem": "3"}}}]})
    assert trim_pod(it, CONTEXT) is None
    assert (
        trim_pod(it, msgspec.structs.replace(CONTEXT, settings=(("GPUSHARE_RESOURCE", "fork.example/mem"),)))
        is not None
    )


def test_only_what_is_read_is_kept() -> None:
    it = pod(
        metadata={
            "name": "p",
            "labels": {"app": "x", "team": "y"},
            "annotations": {"secret": "z", "hami.io/bind-phase": "success"},
        },
        spec={
            "nodeName": "n",
            "containers": [
                {
                    "name": "a",
                    "command": ["run", "--password=1"],
                    "env": [{"name": "TOKEN", "value": "1"}, {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
                    "resources": {"limits": {"cpu": "1", "nvidia.com/gpu": "1"}},
                }
            ],
        },
        status={
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}],
            "containerStatuses": [
                {"name": "a", "ready": True, "restartCount": 3, "state": {"running": {"startedAt": "t"}}}
            ],
        },
    )
    assert msgspec.to_builtins(trim_pod(it, CONTEXT)) == {
        "metadata": {
            "name": "p",
            "labels": {"app": "x"},
            "annotations": {"hami.io/bind-phase": "success"},
        },
        "spec": {
            "nodeName": "n",
            "containers": [
                {
                    "name": "a",
                    "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
                    "resources": {"limits": {"nvidia.com/gpu": "1"}},
                }
            ],
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "a", "ready": True, "state": {"running": {}}}],
        },
    }


def test_all_containers_keep_their_place() -> None:
    it = pod(spec={"containers": [{"name": "web"}, *GPU]})
    kept = trim_pod(it, CONTEXT)
    assert kept is not None
    assert kept.spec is not None
    assert [item.name for item in kept.spec.containers or ()] == ["web", "a"]


def test_a_component_keeps_its_restarts_and_the_memory_unit_of_its_command_line() -> None:
    it = pod(
        metadata={"labels": {"component": "gpushare-device-plugin"}},
        spec={"containers": [{"name": "p", "command": ["plugin", "--memory-unit=MiB"]}]},
        status={"containerStatuses": [{"name": "p", "restartCount": 7, "lastState": {"terminated": {"exitCode": 1}}}]},
    )
    kept = trim_pod(it, CONTEXT)
    assert kept == it


def test_a_long_annotation_is_replaced_by_a_marker() -> None:
    key = "scheduler.framework.gpushare.allocation"
    for length, marked in ((LONGEST_ANNOTATION, False), (LONGEST_ANNOTATION + 1, True), (2**20, True)):
        kept = trim_pod(pod(metadata={"annotations": {key: "x" * length}}), CONTEXT)
        assert kept is not None
        value = (kept.metadata.annotations or {})[key]
        assert too_long(value) is marked
        assert len(value) <= LONGEST_ANNOTATION


def test_a_heartbeat_leaves_the_node_equal_to_itself() -> None:
    def at(time: str) -> Node:
        fields = {
            "metadata": {
                "name": "n",
                "labels": {"nvidia.com/gfd.timestamp": time, "nvidia.com/gpu.count": "2", "mine": "1"},
                "annotations": {
                    "hami.io/node-handshake": time,
                    "hami.io/node-handshake-dcu": time,
                    "hami.io/node-nvidia-register": "[]",
                    "gpudash.io/card-count": "2",
                    "volumes.kubernetes.io/x": time,
                },
            },
            "status": {
                "capacity": {"cpu": "1", "nvidia.com/gpu": "2"},
                "conditions": [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "message": time}],
            },
        }
        return trim_node(msgspec.convert(fields, Node))

    assert at("one") == at("two")
    assert at("one").metadata.labels == {"nvidia.com/gpu.count": "2", "mine": "1"}
    assert set(at("one").metadata.annotations or ()) == {"hami.io/node-nvidia-register", "gpudash.io/card-count"}
    assert msgspec.to_builtins(at("one").status) == {
        "capacity": {"nvidia.com/gpu": "2"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }


def test_labels_that_a_daemonset_may_select_by_are_kept() -> None:
    labels = {"example.com/pool": "large", "feature.node.kubernetes.io/cpu-model.vendor_id": "NVIDIA"}
    many = {
        "feature.node.kubernetes.io/cpu-cpuid.AVX2": "true",
        "feature.node.kubernetes.io/kernel-config.NO_HZ": "true",
    }
    found = trim_node(msgspec.convert({"metadata": {"name": "n", "labels": labels | many}}, Node))
    assert found.metadata.labels == labels
