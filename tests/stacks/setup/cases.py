"""Clusters whose files are recorded in `golden/`: at least two versions of each stack whose files differ by it."""

from __future__ import annotations

from stacks.engine.setup import Found
from tests.stacks.setup.clusters import (
    CONTROL_PLANE,
    MASTER,
    REGION,
    card,
    chart_plugin,
    cluster,
    control_plane,
    node,
    operator_plugin,
    static_plugin,
    windows,
    workload,
)

_DOCKER = "docker://18.9.7"
_TAINT = ("nvidia.com/gpu", "present", "NoSchedule")
_OWN_TAINT = ("example.com/team", "vision", "NoExecute")
_SUPPORTED, _TOPOLOGY = "windows.alibabacloud.com/directx-supported", "windows.alibabacloud.com/deployment-topology"
_ALPHA = "alpha.kubernetes.io/nvidia-gpu"


def _scheduler(node_name: str, *words: str) -> dict[str, object]:
    return {
        "kind": "Pod",
        "metadata": {"name": f"kube-scheduler-{node_name}", "namespace": "kube-system"},
        "spec": {"containers": [{"name": "kube-scheduler", "command": ["kube-scheduler", *words]}]},
    }


def _operator(version: str) -> tuple[dict[str, object], ...]:
    labels = {"app": "gpu-operator", "app.kubernetes.io/version": version}
    spec = {"driver": {"enabled": True}, "operator": {"defaultRuntime": "containerd"}}
    policy = {"kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"}, "spec": spec}
    worker = {"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}
    return (
        workload("Deployment", "gpu-operator", "gpu-operator", labels),
        policy,
        workload("DaemonSet", "gpu-operator", "gpu-operator-node-feature-discovery-worker", worker),
        workload("DaemonSet", "gpu-operator", "nvidia-driver-daemonset", {"app": "nvidia-driver-daemonset"}),
        operator_plugin(),
    )


def _hami(version: str) -> tuple[dict[str, object], ...]:
    common = {"app.kubernetes.io/name": "hami", "helm.sh/chart": f"hami-{version}"}
    scheduler = {"name": "kube-scheduler", "image": "registry.example/kube-scheduler:v1.27.0"}
    return (
        workload(
            "DaemonSet",
            "gpu",
            "hami-device-plugin",
            {**common, "app.kubernetes.io/component": "hami-device-plugin"},
            nodeSelector={"gpu": "on"},
        ),
        workload(
            "Deployment",
            "gpu",
            "hami-scheduler",
            {**common, "app.kubernetes.io/component": "hami-scheduler"},
            containers=[scheduler],
        ),
    )


def _alibaba(name: str, region: str, build: str = "10.0.17763", **labels: str) -> object:
    return windows(name, build, **{_SUPPORTED: "true", REGION: region, **labels})


#: name → (stack, cluster).
CASES: dict[str, tuple[str, Found]] = {
    "gpushare-1.12": (
        "gpushare",
        cluster(
            "v1.12.10",
            [
                control_plane("master-1", MASTER, version="v1.12.10", runtime=_DOCKER),
                card("gpu-1", version="v1.12.10", runtime=_DOCKER, gpushare="true"),
                card("gpu-2", version="v1.12.10", runtime=_DOCKER, **{"nvidia.com/cuda.driver.major": "367"}),
            ],
            static_plugin(),
        ),
    ),
    "gpushare-1.24": (
        "gpushare",
        cluster(
            "v1.24.17",
            [control_plane(role=CONTROL_PLANE), card("gpu-1", _TAINT, runtime="containerd://1.6.8")],
            chart_plugin(),
            _scheduler("cp-1", "--policy-config-file=/etc/kubernetes/policy.json"),
        ),
    ),
    "gpushare-1.36": (
        "gpushare",
        cluster(
            "v1.36.3+k3s1",
            [
                control_plane(value="true", version="v1.36.3+k3s1"),
                card("gpu-1", _TAINT, _OWN_TAINT, version="v1.36.3+k3s1", runtime="containerd://2.1.4-k3s1"),
                card("gpu-2", version="v1.36.3", runtime="containerd://2.1.4"),
                node("cpu-1"),
            ],
            operator_plugin(),
            _scheduler("cp-1", "--config=/etc/kubernetes/scheduler.yaml"),
        ),
    ),
    "nvidia-1.36": (
        "nvidia",
        cluster("v1.36.3", [control_plane(), card("gpu-1", _TAINT, _OWN_TAINT)], static_plugin()),
    ),
    "nvidia-1.30-rke2": (
        "nvidia",
        cluster(
            "v1.30.4+rke2r1",
            [
                card("gpu-1", version="v1.30.4+rke2r1", **{"nvidia.com/gpu.deploy.driver": "pre-installed"}),
                card(
                    "gpu-2",
                    version="v1.30.4+rke2r1",
                    **{
                        "nvidia.com/gpu.deploy.driver": "pre-installed",
                        "nvidia.com/mig.capable": "true",
                        "nvidia.com/gpu.workload.config": "vm-passthrough",
                    },
                ),
            ],
        ),
    ),
    "nvidia-operator-25.10": (
        "nvidia",
        cluster("v1.34.1", [card("gpu-1", _OWN_TAINT, **{"nvidia.com/mig.capable": "false"})], *_operator("v25.10.1")),
    ),
    "nvidia-operator-24.9": (
        "nvidia",
        cluster(
            "v1.30.4", [card("gpu-1", **{"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"})], *_operator("v24.9.2")
        ),
    ),
    "alpha-1.5": (
        "alpha",
        cluster(
            "v1.5.7", [node("gpu-1", "v1.5.7", "docker://1.12.6", capacity={_ALPHA: "1"}), node("cpu-1", "v1.5.7")]
        ),
    ),
    "alpha-1.9": (
        "alpha",
        cluster(
            "v1.9.11",
            [
                node("gpu-1", "v1.9.11", "docker://17.3.2", capacity={_ALPHA: "4"}, **{f"{_ALPHA}-name": "Tesla-P100"}),
                card("gpu-2", version="v1.9.11", runtime="rkt://1.29.0"),
            ],
        ),
    ),
    "alpha-1.30": ("alpha", cluster("v1.30.4", [card("gpu-1", version="v1.30.4")])),
    "directx-alibaba-1.20": (
        "directx-alibaba",
        cluster(
            "v1.20.11-aliyun.1",
            [
                _alibaba("win-1", "cn-hangzhou", **{_TOPOLOGY: "2.0"}),
                _alibaba("win-2", "cn-hangzhou"),
                windows("win-3"),
            ],
        ),
    ),
    "directx-alibaba-1.18-two-regions": (
        "directx-alibaba",
        cluster(
            "v1.18.8",
            [
                _alibaba("win-1", "cn-hangzhou", **{_TOPOLOGY: "2.0"}),
                _alibaba("win-2", "cn-beijing", "10.0.20348"),
                windows("win-3", "10.0.17763", **{"node.kubernetes.io/instance-type": "ecs.vgn6i-m4.xlarge"}),
            ],
        ),
    ),
    "directx-tensorworks-1.22": (
        "directx-tensorworks",
        cluster(
            "v1.22.17", [windows("win-1", taints=(("os", "windows", "NoSchedule"),), runtime="containerd://1.6.8")]
        ),
    ),
    "directx-tensorworks-1.30": (
        "directx-tensorworks",
        cluster(
            "v1.30.4",
            [windows("win-1"), windows("win-2", "10.0.26100"), windows("win-3", runtime=_DOCKER), node("linux-1")],
            workload("DaemonSet", "default", "device-plugin-wddm", {"app": "device-plugin-wddm"}),
            {
                "kind": "ConfigMap",
                "metadata": {"name": "device-plugin-config", "namespace": "default"},
                "data": {"multitenancy": "4"},
            },
        ),
    ),
    "hami-1.22": (
        "hami",
        cluster(
            "v1.22.17",
            [card("gpu-1", runtime=_DOCKER, gpu="on"), card("gpu-2", _OWN_TAINT, runtime=_DOCKER)],
            static_plugin(),
        ),
    ),
    "hami-1.30-chart-2.8": (
        "hami",
        cluster("v1.30.4", [card("gpu-1", gpu="on", **{"nvidia.com/cuda.driver.major": "418"})], *_hami("2.8.0")),
    ),
    "hami-1.33-eks": ("hami", cluster("v1.33.1-eks-5d4a308", [card("gpu-1")], operator_plugin())),
}
