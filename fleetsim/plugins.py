"""The DaemonSets of the demo's cluster as data: device plugins, GPU Operator operands and the usual system pods."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from fleetsim.asks import Ask
from fleetsim.labels import NEW_DRIVER
from fleetsim.nodetypes import EDGE_GIB

OPERATOR_NS = "gpu-operator"
WINDOWS_BUILD = {
    "kubernetes.io/os": "windows",
    "kubernetes.io/arch": "amd64",
    "node.kubernetes.io/windows-build": "10.0.20348",
}


Expression = tuple[str, str, tuple[str, ...]]
Toleration = dict[str, str]

#: As the GPU Operator's chart has them, and one that the people of this cluster added.
GPU_TOLERATED: Toleration = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
INFERENCE_TOLERATED: Toleration = {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}
_WINDOWS_TOLERATED: Toleration = {"key": "os", "operator": "Equal", "value": "windows", "effect": "NoSchedule"}
EVERYTHING: tuple[Toleration, ...] = ({"operator": "Exists"},)

#: Release of the operator, and of what it brings.
OPERATOR = "v25.10.1"
VALIDATOR_IMAGE = f"nvcr.io/nvidia/gpu-operator:{OPERATOR}"
_DRIVER_MANAGER_IMAGE = "nvcr.io/nvidia/cloud-native/k8s-driver-manager:v0.9.1"
NFD_IMAGE = "registry.k8s.io/nfd/node-feature-discovery:v0.18.2"
NFD_LABELS = {"app.kubernetes.io/instance": "gpu-operator", "app.kubernetes.io/name": "node-feature-discovery"}


#: HostProcess containers, which Windows has in the place of privileged ones.
_ON_THE_HOST = {
    "hostNetwork": True,
    "securityContext": {"windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}},
}


@dataclass(frozen=True)
class DaemonSpec:
    """One DaemonSet; it has a pod on each node that its selector, affinity and tolerations admit.

    inits, mains: container names; env and args of the first main. claim: what a claim of each of its pods asks for. metrics: port of
    the last main's page of metrics; 0: it has none. affinity: required of a node, any of these terms. operator: the GPU Operator
    made it. chart: labels of the Helm chart. more: further fields of the pods' specification.
    """

    name: str
    namespace: str
    image: str
    mains: tuple[str, ...]
    inits: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    selector: dict[str, str] = field(default_factory=dict)
    affinity: tuple[tuple[Expression, ...], ...] = ()
    tolerations: tuple[Toleration, ...] = EVERYTHING
    on_delete: bool = False
    claim: Ask | None = None
    metrics: int = 0
    operator: bool = False
    chart: dict[str, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)

    def image_of(self, init: str) -> str:
        """Of an init container."""
        if init == "k8s-driver-manager":
            return _DRIVER_MANAGER_IMAGE
        return VALIDATOR_IMAGE if init.endswith("-validation") else self.image


def within(key: str, *values: str) -> tuple[tuple[Expression, ...], ...]:
    """An affinity of one term with one expression."""
    return (((key, "In", values),),)


def _operand(
    name: str,
    deploy: str,
    image: str,
    mains: tuple[str, ...],
    inits: tuple[str, ...],
    labels: dict[str, str] | None = None,
    **more: Any,
) -> DaemonSpec:
    """labels: beside that of its name."""
    return DaemonSpec(
        name,
        OPERATOR_NS,
        image,
        mains,
        inits,
        labels={"app": name, **(labels or {})},
        selector={f"nvidia.com/gpu.deploy.{deploy}": "true"},
        tolerations=(GPU_TOLERATED, INFERENCE_TOLERATED),
        operator=True,
        **more,
    )


_PLUGIN_IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.18.1"
_GPUSHARE_IMAGE = "registry.cn-hangzhou.aliyuncs.com/acs/k8s-gpushare-plugin:v2-1.11-aff8a23"

DRIVER = "nvidia-driver-daemonset"
TOOLKIT = "nvidia-container-toolkit-daemonset"
VALIDATOR = "nvidia-operator-validator"
PLUGIN = "nvidia-device-plugin-daemonset"
FEATURES = "gpu-feature-discovery"
OPERANDS = (
    _operand(
        DRIVER,
        "driver",
        f"nvcr.io/nvidia/driver:{NEW_DRIVER}-ubuntu22.04",
        ("nvidia-driver-ctr",),
        ("k8s-driver-manager",),
        {"app.kubernetes.io/component": "nvidia-driver"},
        on_delete=True,
    ),
    _operand(
        TOOLKIT,
        "container-toolkit",
        "nvcr.io/nvidia/k8s/container-toolkit:v1.18.1",
        ("nvidia-container-toolkit-ctr",),
        ("driver-validation",),
    ),
    _operand(
        VALIDATOR,
        "operator-validator",
        VALIDATOR_IMAGE,
        ("nvidia-operator-validator",),
        ("driver-validation", "toolkit-validation", "cuda-validation", "plugin-validation"),
        {"app.kubernetes.io/part-of": "gpu-operator"},
    ),
    _operand(
        PLUGIN,
        "device-plugin",
        _PLUGIN_IMAGE,
        ("nvidia-device-plugin", "config-manager"),
        ("toolkit-validation", "config-manager-init"),
    ),
    replace(
        _operand(
            "nvidia-device-plugin-mps-control-daemon",
            "device-plugin",
            _PLUGIN_IMAGE,
            ("mps-control-daemon-ctr", "config-manager"),
            ("toolkit-validation", "mps-control-daemon-mounts", "config-manager-init"),
        ),
        selector={"nvidia.com/gpu.deploy.device-plugin": "true", "nvidia.com/mps.capable": "true"},
    ),
    _operand(
        "nvidia-dcgm-exporter",
        "dcgm-exporter",
        "nvcr.io/nvidia/k8s/dcgm-exporter:4.4.2-4.7.0-distroless",
        ("nvidia-dcgm-exporter",),
        ("toolkit-validation",),
        metrics=9400,
    ),
    _operand(
        FEATURES,
        "gpu-feature-discovery",
        _PLUGIN_IMAGE,
        ("gpu-feature-discovery", "config-manager"),
        ("toolkit-validation", "config-manager-init"),
        {"app.kubernetes.io/part-of": "nvidia-gpu"},
    ),
    _operand(
        "nvidia-mig-manager",
        "mig-manager",
        "nvcr.io/nvidia/cloud-native/k8s-mig-manager:v0.13.1",
        ("nvidia-mig-manager",),
        ("toolkit-validation",),
    ),
)


def _gpushare(
    name: str,
    unit: str,
    selector: dict[str, str],
    affinity: tuple[tuple[Expression, ...], ...] = (),
) -> DaemonSpec:
    labels = {"app": "gpushare", "component": "gpushare-device-plugin", "name": name}
    args = ("gpushare-device-plugin-v2", "-logtostderr", "--v=5", f"--memory-unit={unit}")
    return DaemonSpec(
        name,
        "kube-system",
        _GPUSHARE_IMAGE,
        ("gpushare",),
        args=args,
        labels=labels,
        selector=selector,
        affinity=affinity,
        tolerations=(),
        more={"hostNetwork": True},
    )


HAMI_LABELS = {"app.kubernetes.io/name": "hami", "app.kubernetes.io/instance": "hami"}
HAMI_CHART = {"helm.sh/chart": "hami-2.10.0", "app.kubernetes.io/version": "2.10.0"}
PLUGINS = (
    _gpushare("gpushare-device-plugin-ds", "GiB", {"gpushare": "true"}),
    _gpushare(
        "gpushare-device-plugin-ds-ack",
        "MiB",
        {"kubernetes.io/os": "linux"},
        within("ack.node.gpu.schedule", "cgpu", "share", "core_mem"),
    ),
    # NVIDIA's own plugin beside gpushare's: why the card of the edge node is promised twice.
    DaemonSpec(
        "nvidia-device-plugin-daemonset",
        "kube-system",
        _PLUGIN_IMAGE,
        ("nvidia-device-plugin-ctr",),
        labels={"name": "nvidia-device-plugin-ds"},
        selector={"pool": EDGE_GIB.pool},
    ),
    DaemonSpec(
        "directx-device-plugin-windows",
        "kube-system",
        "registry-vpc.cn-hangzhou.aliyuncs.com/acs/directx-device-plugin-windows:v1.0.0",
        ("directx",),
        args=("pwsh.exe", "-NoLogo", "-NonInteractive", "-File", "entrypoint.ps1"),
        labels={"k8s-app": "directx-device-plugin-windows"},
        affinity=tuple(
            (
                ("type", "NotIn", ("virtual-kubelet",)),
                (system, "In", ("windows",)),
                ("windows.alibabacloud.com/deployment-topology", "In", ("2.0",)),
                ("windows.alibabacloud.com/directx-supported", "In", ("true",)),
            )
            for system in ("beta.kubernetes.io/os", "kubernetes.io/os")
        ),
        more={"hostNetwork": True},
    ),
    DaemonSpec(
        "device-plugin-wddm",
        "kube-system",
        "index.docker.io/tensorworks/wddm-device-plugin:0.0.1",
        ("device-plugin-wddm",),
        env=(("WDDM_DEVICE_PLUGIN_MULTITENANCY", "4"),),
        labels={"app": "device-plugin-wddm"},
        selector=WINDOWS_BUILD,
        tolerations=(_WINDOWS_TOLERATED,),
        more=_ON_THE_HOST,
    ),
    DaemonSpec(
        "device-plugin-mcdm",
        "kube-system",
        "index.docker.io/tensorworks/mcdm-device-plugin:0.0.1",
        ("device-plugin-mcdm",),
        env=(("MCDM_DEVICE_PLUGIN_MULTITENANCY", "4"),),
        labels={"app": "device-plugin-mcdm"},
        selector=WINDOWS_BUILD,
        tolerations=(_WINDOWS_TOLERATED,),
        more=_ON_THE_HOST,
    ),
    DaemonSpec(
        "aks-windows-gpu-device-plugin",
        "gpu-resources",
        "mcr.microsoft.com/aks/aks-windows-gpu-device-plugin:0.0.19",
        ("aks-windows-gpu-device-plugin",),
        labels={"app": "aks-windows-gpu-device-plugin"},
        selector={"kubernetes.azure.com/accelerator": "nvidia", "kubernetes.io/os": "windows"},
    ),
    DaemonSpec(
        "hami-device-plugin",
        "kube-system",
        "projecthami/hami:v2.10.0",
        ("device-plugin", "vgpu-monitor"),
        args=("nvidia-device-plugin", "--device-split-count=10"),
        labels={**HAMI_LABELS, "app.kubernetes.io/component": "hami-device-plugin"},
        chart=HAMI_CHART,
        selector={"gpu": "on"},
        tolerations=(),
        metrics=9394,
    ),
)

SYSTEM = (
    DaemonSpec(
        "kube-proxy",
        "kube-system",
        "registry.k8s.io/kube-proxy:v1.36.2",
        ("kube-proxy",),
        labels={"k8s-app": "kube-proxy"},
        selector={"kubernetes.io/os": "linux"},
    ),
    DaemonSpec(
        "kube-flannel-ds",
        "kube-system",
        "ghcr.io/flannel-io/flannel:v0.27.4",
        ("kube-flannel",),
        ("install-cni",),
        labels={"app": "flannel"},
        selector={"kubernetes.io/os": "linux"},
    ),
    DaemonSpec(
        "kube-proxy-windows",
        "kube-system",
        "sigwindowstools/kube-proxy:v1.32.6-flannel-hostprocess",
        ("kube-proxy",),
        labels={"k8s-app": "kube-proxy-windows"},
        selector={"kubernetes.io/os": "windows"},
    ),
)

#: What the operator's chart brings along: it finds the cards by which the operator takes nodes.
DISCOVERY = DaemonSpec(
    "gpu-operator-node-feature-discovery-worker",
    OPERATOR_NS,
    NFD_IMAGE,
    ("worker",),
    labels={**NFD_LABELS, "role": "worker"},
    selector={"kubernetes.io/os": "linux"},
    tolerations=(
        {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"},
        GPU_TOLERATED,
    ),
)
