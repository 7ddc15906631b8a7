"""Which pods are part of the GPU machinery, and why a pod does not run."""

from __future__ import annotations

from typing import Any

import pytest

from inventory.stacks.engine.components import component, waiting_reason
from inventory.stacks.engine.registry import registry
from tests.inventory.stacks.build import pod


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"app": "nvidia-device-plugin-daemonset"}, "nvidia-device-plugin"),
        ({"name": "nvidia-device-plugin-ds"}, "nvidia-device-plugin"),
        ({"app.kubernetes.io/name": "nvidia-device-plugin"}, "nvidia-device-plugin"),
        ({"app": "gpushare", "component": "gpushare-device-plugin"}, "gpushare-device-plugin"),
        ({"component": "gpushare-schd-extender"}, "gpushare-scheduler-extender"),
        ({"k8s-app": "directx-device-plugin-windows"}, "directx-alibaba-device-plugin"),
        ({"app": "device-plugin-mcdm"}, "directx-mcdm-device-plugin"),
        ({"app": "device-plugin-wddm"}, "directx-wddm-device-plugin"),
        (
            {"app.kubernetes.io/component": "nvidia-driver", "app": "nvidia-gpu-driver-ubuntu22.04-7c6d7bd86b"},
            "nvidia-driver",
        ),
        (
            {"app": "nvidia-operator-validator", "app.kubernetes.io/part-of": "gpu-operator"},
            "nvidia-operator-validator",
        ),
        ({"app.kubernetes.io/component": "hami-device-plugin"}, "hami-device-plugin"),
        ({"app": "gpushare"}, ""),
        ({"app": "web"}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_a_component_is_known_by_its_labels(labels: dict[str, str] | None, expected: str) -> None:
    assert component(pod(metadata={"labels": labels})) == expected


def test_the_device_plugins_are_those_without_which_a_node_gives_out_nothing() -> None:
    assert {"nvidia-device-plugin", "gpushare-device-plugin", "hami-device-plugin"} < registry.device_plugins
    assert "nvidia-dcgm-exporter" not in registry.device_plugins


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
            ("Initializing", "waits for the init container i"),
        ),
        ({"reason": "UnexpectedAdmissionError", "message": "too large"}, ("UnexpectedAdmissionError", "too large")),
    ],
)
def test_the_reason_is_the_first_that_stands_in_the_way(status: Any, expected: tuple[str, str]) -> None:
    assert waiting_reason(pod(status=status)) == expected


def test_a_sidecar_that_runs_is_nothing_to_wait_for() -> None:
    it = pod(
        spec={"initContainers": [{"name": "s", "restartPolicy": "Always"}]},
        status={"initContainerStatuses": [{"name": "s", "state": {"running": {}}}]},
    )
    assert waiting_reason(it) == ("", "")


def test_a_long_message_is_cut() -> None:
    it = pod(status={"conditions": [UNSCHEDULABLE | {"message": "x" * 100_000}]})
    assert len(waiting_reason(it)[1]) == 1024
