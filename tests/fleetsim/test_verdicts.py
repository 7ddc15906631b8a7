"""What validations come to in the demo, through the product's own manifests and parsers: the table of `outcomes.py`.

A node that is bad must not pass, and a node that is good must not fail: both would make the demo a lie.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings

from fleetsim import Fleet
from kube.objects import Taint
from tests.fleetsim.client import Client
from tests.fleetsim.conftest import pass_time
from validations.suites import find
from validations.suites.engine.base import Facts, Outcome, Resource, Run, Target, read_log

NS = "gpudash-validations"
OWN_WINML = {"image": "registry.demo/own/winml:ltsc2022"}

PASSED: list[tuple[str, str, dict[str, Any]]] = [
    ("cuda-vectoradd", "gpu-t4-05", {}),
    ("cuda-vectoradd", "cn-hangzhou.192.168.3.2", {}),
    ("cuda-vectoradd", "dgx-h100-01", {}),
    ("cuda-vectoradd", "dev-t4-01", {}),
    ("cuda-vectoradd", "hami-4090-01", {}),
    ("cuda-vectoradd", "old-k80-01", {}),
    ("cuda-devicequery", "gpu-v100-01", {}),
    ("cuda-nbody", "gpu-l40s-01", {}),
    ("nvidia-smi", "dgx-h100-01", {}),
    ("dcgm-diag", "dgx-h100-01", {}),
    ("nccl-allreduce", "gpu-l40s-01", {}),
    ("winml-tinyyolov2", "ackwin0001", {}),
    ("winml-tinyyolov2", "win-wddm-01", OWN_WINML),
    ("directx-device-discovery", "win-wddm-01", {}),
    ("directx-device-discovery", "win-mcdm-01", {}),
    ("directx-opencl-enum", "win-wddm-01", {}),
    ("directx-ffmpeg", "win-wddm-01", {}),
    ("cuda-devicequery", "win-wddm-01", {}),
    ("cuda-montecarlo", "win-wddm-01", {}),
    ("nvidia-smi", "win-wddm-01", {}),
]

NOT_PASSED = [
    ("cuda-vectoradd", "gpu-t4-04", "failed", "cuda-error"),
    ("cuda-devicequery", "gpu-t4-04", "failed", "cuda-error"),
    ("cuda-vectoradd", "gpu-v100-02", "failed", "verification"),
    ("nvidia-smi", "dgx-a100-02", "failed", "device-removed"),
    ("dcgm-diag", "dgx-a100-02", "failed", "diagnostic"),
    ("cuda-vectoradd", "hami-4090-02", "errored", "evicted"),
    ("winml-tinyyolov2", "ackwin0002", "failed", "software-adapter"),
    ("winml-tinyyolov2", "ackwin0003", "failed", "device-removed"),
    ("winml-tinyyolov2", "ackwin0004", "errored", "no-verdict"),
    ("cuda-montecarlo", "win-mcdm-01", "failed", "verification"),
    ("directx-vulkaninfo", "win-wddm-01", "failed", "no-adapter"),
]


def target_of(node: dict[str, Any]) -> Target:
    """The target that the product would make of this node."""
    status, labels = node["status"], node["metadata"]["labels"]
    unit = 2**30 if "gpushare" in labels else 2**20
    resources = tuple(
        Resource(name=name, allocatable=int(amount), unit_bytes=unit if name.endswith("gpu-mem") else None)
        for name, amount in status["allocatable"].items()
        if "/" in name
    )
    return Target(
        node=node["metadata"]["name"],
        os=labels["kubernetes.io/os"],
        facts=Facts(windows_build=labels.get("node.kubernetes.io/windows-build", "")),
        ready=True,
        taints=tuple(Taint(**taint) for taint in node["spec"].get("taints", [])),
        stack="hami" if "gpu" in labels else "",
        resources=resources,
        tolerated=tuple(settings.TOLERATED_TAINTS),
    )


def run(api: Client, simulated: Fleet, suite_id: str, node: str, options: dict[str, Any]) -> tuple[str, list[str], Any]:
    """Launch a run as the launcher does, wait for its end, parse as the reconciler does: verdict, reason codes, result."""
    suite = find(suite_id)
    assert suite is not None
    target = target_of(api.get(f"/api/v1/nodes/{node}"))
    api.post(f"/apis/batch/v1/namespaces/{NS}/jobs", suite.manifest(target, options, Run(id="r1", namespace=NS)))
    path = f"/api/v1/namespaces/{NS}/pods"
    for _ in range(1200):
        pass_time(simulated, 1)
        pods = api.get(path)["items"]
        if pods and pods[0]["status"]["phase"] in ("Succeeded", "Failed"):
            break
    [pod] = pods
    name, status = pod["metadata"]["name"], pod["status"]
    log = api.request("GET", f"{path}/{name}/log").data
    ended = status["containerStatuses"][0]["state"]["terminated"]
    outcome = Outcome(exit_code=ended["exitCode"], reason=status.get("reason") or ended["reason"])
    result = suite.parse(read_log(log), outcome)
    return str(result.verdict), [reason.code for reason in result.reasons], result


@pytest.mark.parametrize(("suite", "node", "options"), PASSED)
def test_a_good_node_passes(api: Client, simulated: Fleet, suite: str, node: str, options: dict[str, Any]) -> None:
    verdict, codes, _ = run(api, simulated, suite, node, options)
    assert verdict == "passed", codes


@pytest.mark.parametrize(("suite", "node", "verdict", "code"), NOT_PASSED)
def test_a_bad_node_fails_in_its_way(
    api: Client, simulated: Fleet, suite: str, node: str, verdict: str, code: str
) -> None:
    found, codes, _ = run(api, simulated, suite, node, {})
    assert (found, code in codes) == (verdict, True), (found, codes)


def test_the_log_names_the_card_of_the_node(api: Client, simulated: Fleet) -> None:
    result = run(api, simulated, "winml-tinyyolov2", "ackwin0001", {})[2]
    assert (result.facts["gpu_name"], result.facts["iterations"]) == ("NVIDIA GRID T4-8Q", 100)
    assert result.measurements["gpu_evaluate"].value == pytest.approx(7.98316)


def test_nvidia_smi_lists_the_very_card_that_the_kubelet_reports(api: Client, simulated: Fleet) -> None:
    run(api, simulated, "nvidia-smi", "dgx-h100-01", {})
    [pod] = api.get(f"/api/v1/namespaces/{NS}/pods")["items"]
    text = api.text(f"/api/v1/namespaces/{NS}/pods/{pod['metadata']['name']}/log")
    devices = pod["status"]["containerStatuses"][0].get("allocatedResourcesStatus")
    assert devices is not None, json.dumps(pod["status"])
    assert devices[0]["resources"][0]["resourceID"] in text
