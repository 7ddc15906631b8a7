"""The DaemonSets of the demo's cluster as data: device plugins, GPU Operator operands and the usual system pods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fleetsim.asks import Ask
from fleetsim.machines import Machine
from fleetsim.nodetypes import EDGE_GIB, MPS

OPERATOR_NS = "gpu-operator"
WINDOWS_BUILD = {
    "kubernetes.io/os": "windows",
    "kubernetes.io/arch": "amd64",
    "node.kubernetes.io/windows-build": "10.0.20348",
}


@dataclass(frozen=True)
class DaemonSpec:
    """One DaemonSet. lands: on which machines it has a pod. inits, mains: container names; env and args of the first main.

    claim: what a claim of each of its pods asks for. metrics: port of the last main's page of metrics; 0: it has none.
    """

    name: str
    namespace: str
    lands: Callable[[Machine], bool]
    image: str
    mains: tuple[str, ...]
    inits: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    selector: dict[str, str] = field(default_factory=dict)
    #: Required node affinity instead of a selector: key and admitted values.
    affinity: tuple[str, tuple[str, ...]] | None = None
    on_delete: bool = False
    claim: Ask | None = None
    metrics: int = 0


def has(plugin: str) -> Callable[[Machine], bool]:
    return lambda machine: plugin in machine.kind.plugins


def _linux(machine: Machine) -> bool:
    return not machine.kind.windows


def _operator(machine: Machine) -> bool:
    return machine.kind.operator


def _mig_capable(machine: Machine) -> bool:
    return machine.kind.operator and machine.kind.model is not None and machine.kind.model.mig_capable


def _operand(
    name: str, deploy: str, image: str, mains: tuple[str, ...], inits: tuple[str, ...], metrics: int = 0
) -> DaemonSpec:
    selector = {f"nvidia.com/gpu.deploy.{deploy}": "true"}
    labels = {"app": name}
    return DaemonSpec(
        name, OPERATOR_NS, _operator, image, mains, inits, labels=labels, selector=selector, metrics=metrics
    )


_PLUGIN_IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
_GPUSHARE_IMAGE = "registry.cn-hangzhou.aliyuncs.com/acs/k8s-gpushare-plugin:v2-1.11-aff8a23"

OPERANDS = (
    DaemonSpec(
        "nvidia-driver-daemonset",
        OPERATOR_NS,
        _operator,
        "nvcr.io/nvidia/driver:570.148.08-ubuntu22.04",
        ("nvidia-driver-ctr",),
        ("k8s-driver-manager",),
        labels={"app": "nvidia-driver-daemonset", "app.kubernetes.io/component": "nvidia-driver"},
        selector={"nvidia.com/gpu.deploy.driver": "true"},
        on_delete=True,
    ),
    _operand(
        "nvidia-container-toolkit-daemonset",
        "container-toolkit",
        "nvcr.io/nvidia/k8s/container-toolkit:v1.20.0",
        ("nvidia-container-toolkit-ctr",),
        ("driver-validation",),
    ),
    DaemonSpec(
        "nvidia-operator-validator",
        OPERATOR_NS,
        _operator,
        "nvcr.io/nvidia/gpu-operator:v26.7.0",
        ("nvidia-operator-validator",),
        ("driver-validation", "toolkit-validation", "cuda-validation", "plugin-validation"),
        labels={"app": "nvidia-operator-validator", "app.kubernetes.io/part-of": "gpu-operator"},
        selector={"nvidia.com/gpu.deploy.operator-validator": "true"},
    ),
    _operand(
        "nvidia-device-plugin-daemonset",
        "device-plugin",
        _PLUGIN_IMAGE,
        ("nvidia-device-plugin", "config-manager"),
        ("toolkit-validation", "config-manager-init"),
    ),
    DaemonSpec(
        "nvidia-device-plugin-mps-control-daemon",
        OPERATOR_NS,
        lambda machine: machine.kind is MPS,
        _PLUGIN_IMAGE,
        ("mps-control-daemon-ctr", "config-manager"),
        ("toolkit-validation", "mps-control-daemon-mounts", "config-manager-init"),
        labels={"app": "nvidia-device-plugin-mps-control-daemon"},
        selector={"nvidia.com/gpu.deploy.device-plugin": "true", "nvidia.com/mps.capable": "true"},
    ),
    _operand(
        "nvidia-dcgm-exporter",
        "dcgm-exporter",
        "nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3-distroless",
        ("nvidia-dcgm-exporter",),
        ("toolkit-validation",),
        metrics=9400,
    ),
    DaemonSpec(
        "gpu-feature-discovery",
        OPERATOR_NS,
        _operator,
        _PLUGIN_IMAGE,
        ("gpu-feature-discovery", "config-manager"),
        ("toolkit-validation", "config-manager-init"),
        labels={"app": "gpu-feature-discovery", "app.kubernetes.io/part-of": "nvidia-gpu"},
        selector={"nvidia.com/gpu.deploy.gpu-feature-discovery": "true"},
    ),
    DaemonSpec(
        "nvidia-mig-manager",
        OPERATOR_NS,
        _mig_capable,
        "nvcr.io/nvidia/cloud-native/k8s-mig-manager:v0.15.0",
        ("nvidia-mig-manager",),
        ("toolkit-validation",),
        labels={"app": "nvidia-mig-manager"},
        selector={"nvidia.com/gpu.deploy.mig-manager": "true"},
    ),
)


def _gpushare(
    name: str,
    plugin: str,
    unit: str,
    selector: dict[str, str],
    affinity: tuple[str, tuple[str, ...]] | None = None,
) -> DaemonSpec:
    labels = {"app": "gpushare", "component": "gpushare-device-plugin", "name": name}
    args = ("gpushare-device-plugin-v2", "-logtostderr", "--v=5", f"--memory-unit={unit}")
    return DaemonSpec(
        name,
        "kube-system",
        has(plugin),
        _GPUSHARE_IMAGE,
        ("gpushare",),
        args=args,
        labels=labels,
        selector=selector,
        affinity=affinity,
    )


PLUGINS = (
    _gpushare("gpushare-device-plugin-ds", "gpushare-gib", "GiB", {"gpushare": "true"}),
    _gpushare(
        "gpushare-device-plugin-ds-ack",
        "gpushare-mib",
        "MiB",
        {"kubernetes.io/os": "linux"},
        ("ack.node.gpu.schedule", ("cgpu", "share", "core_mem")),
    ),
    # NVIDIA's own plugin beside gpushare's: why the card of the edge node is promised twice.
    DaemonSpec(
        "nvidia-device-plugin-daemonset",
        "kube-system",
        lambda machine: machine.kind is EDGE_GIB,
        _PLUGIN_IMAGE,
        ("nvidia-device-plugin-ctr",),
        labels={"name": "nvidia-device-plugin-ds"},
        selector={"pool": EDGE_GIB.pool},
    ),
    DaemonSpec(
        "directx-device-plugin-windows",
        "kube-system",
        has("directx-alibaba"),
        "registry-vpc.cn-hangzhou.aliyuncs.com/acs/directx-device-plugin-windows:v1.0.0",
        ("directx",),
        args=("pwsh.exe", "-f", "entrypoint.ps1"),
        labels={"k8s-app": "directx-device-plugin-windows"},
        affinity=("windows.alibabacloud.com/directx-supported", ("true",)),
    ),
    DaemonSpec(
        "device-plugin-wddm",
        "kube-system",
        has("directx-wddm"),
        "index.docker.io/tensorworks/wddm-device-plugin:0.0.1",
        ("device-plugin-wddm",),
        env=(("WDDM_DEVICE_PLUGIN_MULTITENANCY", "4"),),
        labels={"app": "device-plugin-wddm"},
        selector=WINDOWS_BUILD,
    ),
    DaemonSpec(
        "device-plugin-mcdm",
        "kube-system",
        has("directx-mcdm"),
        "index.docker.io/tensorworks/mcdm-device-plugin:0.0.1",
        ("device-plugin-mcdm",),
        env=(("MCDM_DEVICE_PLUGIN_MULTITENANCY", "4"),),
        labels={"app": "device-plugin-mcdm"},
        selector=WINDOWS_BUILD,
    ),
    DaemonSpec(
        "aks-windows-gpu-device-plugin",
        "gpu-resources",
        has("directx-aks"),
        "mcr.microsoft.com/aks/aks-windows-gpu-device-plugin:0.0.19",
        ("aks-windows-gpu-device-plugin",),
        labels={"app": "aks-windows-gpu-device-plugin"},
        selector={"kubernetes.azure.com/accelerator": "nvidia", "kubernetes.io/os": "windows"},
    ),
    DaemonSpec(
        "hami-device-plugin",
        "kube-system",
        has("hami"),
        "projecthami/hami:v2.10.0",
        ("device-plugin", "vgpu-monitor"),
        args=("nvidia-device-plugin", "--device-split-count=10"),
        labels={"app.kubernetes.io/name": "hami", "app.kubernetes.io/component": "hami-device-plugin"},
        selector={"gpu": "on"},
        metrics=9394,
    ),
)

SYSTEM = (
    DaemonSpec(
        "kube-proxy",
        "kube-system",
        _linux,
        "registry.k8s.io/kube-proxy:v1.36.2",
        ("kube-proxy",),
        labels={"k8s-app": "kube-proxy"},
        selector={"kubernetes.io/os": "linux"},
    ),
    DaemonSpec(
        "kube-flannel-ds",
        "kube-system",
        _linux,
        "ghcr.io/flannel-io/flannel:v0.27.4",
        ("kube-flannel",),
        ("install-cni",),
        labels={"app": "flannel"},
        selector={"kubernetes.io/os": "linux"},
    ),
    DaemonSpec(
        "kube-proxy-windows",
        "kube-system",
        lambda machine: machine.kind.windows,
        "sigwindowstools/kube-proxy:v1.32.6-flannel-hostprocess",
        ("kube-proxy",),
        labels={"k8s-app": "kube-proxy-windows"},
        selector={"kubernetes.io/os": "windows"},
    ),
)
