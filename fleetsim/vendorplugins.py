"""The DaemonSets of further vendors, of GKE, and of dynamic resource allocation, as data."""

from __future__ import annotations

from fleetsim.asks import Ask
from fleetsim.nodetypes import ALIBABA_WINDOWS, EDGE_GIB
from fleetsim.plugins import DaemonSpec, has
from fleetsim.vendortypes import INTEL_SHARES

_SMI_IMAGE = "docker.io/utkuozdemir/nvidia_gpu_exporter:1.14.0"

VENDORS = (
    DaemonSpec(
        "amdgpu-device-plugin-daemonset",
        "kube-system",
        has("amd"),
        "rocm/k8s-device-plugin:1.31.0.9",
        ("amdgpu-dp-cntr",),
        # Cards that cannot be divided stay under their own name.
        args=("./k8s-device-plugin", "-logtostderr=true", "-resource_naming_strategy=mixed"),
        labels={"name": "amdgpu-dp-ds"},
        selector={"feature.node.kubernetes.io/amd-gpu": "true"},
    ),
    DaemonSpec(
        "intel-gpu-plugin",
        "kube-system",
        has("intel"),
        "intel/intel-gpu-plugin:0.36.0",
        ("intel-gpu-plugin",),
        args=("/usr/local/bin/intel_gpu_device_plugin", f"-shared-dev-num={INTEL_SHARES}", "-enable-monitoring"),
        labels={"app": "intel-gpu-plugin"},
        selector={"intel.feature.node.kubernetes.io/gpu": "true"},
    ),
    DaemonSpec(
        "ascend-device-plugin-daemonset",
        "kube-system",
        has("ascend"),
        "ascend-k8sdeviceplugin:v26.0.0",
        ("device-plugin-01",),
        labels={"name": "ascend-device-plugin-ds"},
        selector={"accelerator": "huawei-Ascend910"},
    ),
    DaemonSpec(
        "volcano-device-plugin",
        "kube-system",
        has("volcano"),
        "projecthami/volcano-vgpu-device-plugin:v1.12.0",
        ("volcano-device-plugin", "monitor"),
        labels={"name": "volcano-device-plugin"},
        metrics=9394,
    ),
    DaemonSpec(
        "nvidia-gpu-device-plugin-large-cos",
        "kube-system",
        has("gke"),
        "gke.gcr.io/nvidia-gpu-device-plugin:1.36.1-gke.5",
        ("nvidia-gpu-device-plugin",),
        labels={"k8s-app": "nvidia-gpu-device-plugin", "name": "nvidia-gpu-device-plugin-large-cos"},
        selector={"cloud.google.com/gke-gpu": "true"},
        metrics=2112,
    ),
    DaemonSpec(
        "dra-driver-nvidia-gpu-kubelet-plugin",
        "dra-driver-nvidia-gpu",
        has("dra"),
        "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v0.5.0",
        ("gpus",),
        labels={"dra-driver-nvidia-gpu-component": "kubelet-plugin"},
        selector={"nvidia.com/gpu.present": "true"},
    ),
    # It watches all cards, whoever holds them: its claims have admin access and take nothing. 4.9 names metrics by base units.
    DaemonSpec(
        "dcgm-exporter-dra",
        "gpu-monitoring",
        has("dra"),
        "nvcr.io/nvidia/k8s/dcgm-exporter:4.7.0-4.9.0-distroless",
        ("exporter",),
        labels={"app": "nvidia-dcgm-exporter-dra"},
        selector={"nvidia.com/gpu.present": "true"},
        claim=Ask("gpu.nvidia.com", None, template="all-gpus", admin=True),
        metrics=9400,
    ),
)

_MONITORING = "gpu-monitoring"

#: Exporters that are no part of a plugin or of the GPU Operator. Nodes of gpushare, of Kubernetes 1.7 and of Azure have none.
EXPORTERS = (
    DaemonSpec(
        "amd-metrics-exporter",
        _MONITORING,
        has("amd"),
        "docker.io/rocm/device-metrics-exporter:v1.5.2",
        ("metrics-exporter-container",),
        labels={"app.kubernetes.io/name": "metrics-exporter"},
        selector={"feature.node.kubernetes.io/amd-gpu": "true"},
        metrics=5000,
    ),
    DaemonSpec(
        "xpumd",
        _MONITORING,
        has("intel"),
        "ghcr.io/intel/xpumd:2.0.0",
        ("xpumd",),
        labels={"app.kubernetes.io/name": "xpumd"},
        selector={"intel.feature.node.kubernetes.io/gpu": "true"},
        metrics=8080,
    ),
    DaemonSpec(
        "npu-exporter",
        _MONITORING,
        has("ascend"),
        "npu-exporter:v7.3.0",
        ("npu-exporter",),
        labels={"app": "npu-exporter"},
        selector={"accelerator": "huawei-Ascend910"},
        metrics=8082,
    ),
    DaemonSpec(
        "nvidia-gpu-exporter",
        _MONITORING,
        lambda machine: machine.kind is EDGE_GIB,
        _SMI_IMAGE,
        ("nvidia-gpu-exporter",),
        labels={"app.kubernetes.io/name": "nvidia-gpu-exporter"},
        selector={"pool": EDGE_GIB.pool},
        metrics=9835,
    ),
    DaemonSpec(
        "nvidia-gpu-exporter-windows",
        _MONITORING,
        lambda machine: machine.kind is ALIBABA_WINDOWS,
        _SMI_IMAGE,
        ("nvidia-gpu-exporter",),
        labels={"app.kubernetes.io/name": "nvidia-gpu-exporter"},
        selector={"pool": ALIBABA_WINDOWS.pool},
        metrics=9835,
    ),
)
