"""Which pods are part of the GPU machinery, and why a pod does not run."""

from __future__ import annotations

from typing import Any

import pytest

from stacks.engine.components import component, pending_reason
from stacks.engine.registry import registry
from tests.stacks.build import pod


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"app": "nvidia-device-plugin-daemonset"}, "device-plugin"),
        ({"name": "nvidia-device-plugin-ds"}, "device-plugin"),
        ({"app.kubernetes.io/name": "nvidia-device-plugin"}, "device-plugin"),
        ({"app": "gpushare", "component": "gpushare-device-plugin"}, "gpushare-device-plugin"),
        ({"component": "gpushare-schd-extender"}, "gpushare-scheduler-extender"),
        ({"k8s-app": "directx-device-plugin-windows"}, "directx-alibaba"),
        ({"app": "device-plugin-mcdm"}, "directx-mcdm"),
        ({"app": "device-plugin-wddm"}, "directx-wddm"),
        (
            {"app.kubernetes.io/component": "nvidia-driver", "app": "nvidia-gpu-driver-ubuntu22.04-7c6d7bd86b"},
            "driver",
        ),
        (
            {"app": "nvidia-operator-validator", "app.kubernetes.io/part-of": "gpu-operator"},
            "operator-validator",
        ),
        ({"app.kubernetes.io/component": "hami-device-plugin"}, "hami-device-plugin"),
        ({"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}, "nfd-worker"),
        ({"app.kubernetes.io/name": "node-feature-discovery", "role": "master"}, "nfd-master"),
        ({"app.kubernetes.io/name": "node-feature-discovery"}, ""),
        # The evictor of gpushare's chart carries the label of the plugin.
        ({"component": "gpushare-device-plugin", "name": "device-plugin-evict-ds"}, "gpushare-evictor"),
        ({"daemonset-name": "site-a-device-plugin"}, "amd-device-plugin"),
        ({"nvidia-dra-driver-gpu-component": "kubelet-plugin"}, "dra-kubelet-plugin"),
        ({"app": "gpushare"}, ""),
        ({"app": "web"}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_a_component_is_known_by_its_labels(labels: dict[str, str] | None, expected: str) -> None:
    assert component(pod(metadata={"labels": labels})) == expected


def test_the_device_plugins_are_those_without_which_a_node_gives_out_nothing() -> None:
    assert {"device-plugin", "gpushare-device-plugin", "hami-device-plugin"} < registry.device_plugins
    assert "dcgm-exporter" not in registry.device_plugins


def _waiting(name: str, reason: str, message: str | None = None) -> dict[str, Any]:
    return {"name": name, "state": {"waiting": {"reason": reason, "message": message}}}


UNSCHEDULABLE = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (None, ("", "")),
        ({}, ("", "")),
        ({"conditions": [UNSCHEDULABLE]}, ("Unschedulable", UNSCHEDULABLE["message"])),
        (
            {"containerStatuses": [_waiting("a", "ImagePullBackOff", "no such image")]},
            ("ImagePullBackOff", "a: no such image"),
        ),
        ({"containerStatuses": [_waiting("a", "ContainerCreating")]}, ("ContainerCreating", "a")),
        (
            {
                "initContainerStatuses": [_waiting("i", "CrashLoopBackOff", "back-off")],
                "containerStatuses": [_waiting("a", "PodInitializing")],
            },
            ("CrashLoopBackOff", "i: back-off"),
        ),
        (
            {
                "initContainerStatuses": [{"name": "i", "state": {"running": {}}}],
                "containerStatuses": [_waiting("a", "PodInitializing")],
            },
            ("Initializing", "waiting for the init container i"),
        ),
        ({"reason": "UnexpectedAdmissionError", "message": "too large"}, ("UnexpectedAdmissionError", "too large")),
    ],
)
def test_the_reason_is_the_first_that_stands_in_the_way(status: Any, expected: tuple[str, str]) -> None:
    assert pending_reason(pod(status=status)) == expected


def test_a_sidecar_that_runs_is_nothing_to_wait_for() -> None:
    it = pod(
        spec={"initContainers": [{"name": "s", "restartPolicy": "Always"}]},
        status={"initContainerStatuses": [{"name": "s", "state": {"running": {}}}]},
    )
    assert pending_reason(it) == ("", "")


def test_a_long_message_is_cut() -> None:
    it = pod(status={"conditions": [UNSCHEDULABLE | {"message": "x" * 100_000}]})
    assert len(pending_reason(it)[1]) == 1024
