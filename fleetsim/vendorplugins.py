"""The DaemonSets of further vendors, of GKE, and of dynamic resource allocation, as data."""

from __future__ import annotations

from fleetsim.asks import Ask
from fleetsim.nodetypes import ALIBABA_WINDOWS, EDGE_GIB
from fleetsim.plugins import DaemonSpec
from fleetsim.vendortypes import INTEL_SHARES, VOLCANO

_SMI_IMAGE = "docker.io/utkuozdemir/nvidia_gpu_exporter:1.14.0"

#: AMD's operator makes its DaemonSets after the name of its DeviceConfig.
AMD_NS, AMD_CONFIG = "kube-amd-gpu", "gpu-config"

VENDORS = (
    DaemonSpec(
        f"{AMD_CONFIG}-device-plugin",
        AMD_NS,
        "rocm/k8s-device-plugin:1.31.0.9",
        ("device-plugin-container",),
        # Cards that cannot be divided stay under their own name.
        args=("./k8s-device-plugin", "-logtostderr=true", "-resource_naming_strategy=mixed"),
        labels={"daemonset-name": f"{AMD_CONFIG}-device-plugin"},
        selector={"feature.node.kubernetes.io/amd-gpu": "true"},
    ),
    DaemonSpec(
        "intel-gpu-plugin",
        "kube-system",
        "intel/intel-gpu-plugin:0.36.0",
        ("intel-gpu-plugin",),
        args=("/usr/local/bin/intel_gpu_device_plugin", f"-shared-dev-num={INTEL_SHARES}", "-enable-monitoring"),
        labels={"app": "intel-gpu-plugin"},
        selector={"intel.feature.node.kubernetes.io/gpu": "true"},
    ),
    DaemonSpec(
        "ascend-device-plugin-daemonset",
        "kube-system",
        "ascend-k8sdeviceplugin:v26.0.0",
        ("device-plugin-01",),
        labels={"name": "ascend-device-plugin-ds"},
        selector={"accelerator": "huawei-Ascend910"},
    ),
    DaemonSpec(
        "volcano-device-plugin",
        "kube-system",
        "projecthami/volcano-vgpu-device-plugin:v1.12.0",
        ("volcano-device-plugin", "monitor"),
        labels={"name": "volcano-device-plugin"},
        selector={"pool": VOLCANO.pool},
        metrics=9394,
    ),
    DaemonSpec(
        "nvidia-gpu-device-plugin-large-cos",
        "kube-system",
        "gke.gcr.io/nvidia-gpu-device-plugin:1.36.1-gke.5",
        ("nvidia-gpu-device-plugin",),
        labels={"k8s-app": "nvidia-gpu-device-plugin", "name": "nvidia-gpu-device-plugin-large-cos"},
        selector={"cloud.google.com/gke-gpu": "true"},
        metrics=2112,
    ),
    DaemonSpec(
        "dra-driver-nvidia-gpu-kubelet-plugin",
        "dra-driver-nvidia-gpu",
        "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v0.5.0",
        ("gpus",),
        labels={
            "app.kubernetes.io/name": "dra-driver-nvidia-gpu",
            "dra-driver-nvidia-gpu-component": "kubelet-plugin",
        },
        selector={"nvidia.com/gpu.deploy.dra-driver": "true"},
    ),
    # It watches all cards, whoever holds them: its claims have admin access and take nothing. 4.9 names metrics by base units.
    DaemonSpec(
        "dcgm-exporter-dra",
        "gpu-monitoring",
        "nvcr.io/nvidia/k8s/dcgm-exporter:4.7.0-4.9.0-distroless",
        ("exporter",),
        labels={"app": "nvidia-dcgm-exporter-dra"},
        selector={"nvidia.com/gpu.deploy.dra-driver": "true"},
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
        "docker.io/rocm/device-metrics-exporter:v1.5.2",
        ("metrics-exporter-container",),
        labels={"app.kubernetes.io/name": "metrics-exporter"},
        selector={"feature.node.kubernetes.io/amd-gpu": "true"},
        metrics=5000,
    ),
    DaemonSpec(
        "xpumd",
        _MONITORING,
        "ghcr.io/intel/xpumd:2.0.0",
        ("xpumd",),
        labels={"app.kubernetes.io/name": "xpumd"},
        selector={"intel.feature.node.kubernetes.io/gpu": "true"},
        metrics=8080,
    ),
    DaemonSpec(
        "npu-exporter",
        _MONITORING,
        "npu-exporter:v7.3.0",
        ("npu-exporter",),
        labels={"app": "npu-exporter"},
        selector={"accelerator": "huawei-Ascend910"},
        metrics=8082,
    ),
    DaemonSpec(
        "nvidia-gpu-exporter",
        _MONITORING,
        _SMI_IMAGE,
        ("nvidia-gpu-exporter",),
        labels={"app.kubernetes.io/name": "nvidia-gpu-exporter"},
        selector={"pool": EDGE_GIB.pool},
        metrics=9835,
    ),
    DaemonSpec(
        "nvidia-gpu-exporter-windows",
        _MONITORING,
        _SMI_IMAGE,
        ("nvidia-gpu-exporter",),
        labels={"app.kubernetes.io/name": "nvidia-gpu-exporter"},
        selector={"pool": ALIBABA_WINDOWS.pool},
        metrics=9835,
    ),
)

#: AMD's operator brings it along; it writes the labels of its nodes.
LABELLER = DaemonSpec(
    f"{AMD_CONFIG}-node-labeller",
    AMD_NS,
    "rocm/k8s-device-plugin:labeller-1.31.0.9",
    ("node-labeller-container",),
    labels={"daemonset-name": f"{AMD_CONFIG}-node-labeller"},
    selector={"feature.node.kubernetes.io/amd-gpu": "true"},
)
