"""Which pods are part of the GPU machinery of a node, and why a pod does not run yet.

Reads labels, conditions and container states only. Sources: the operand table of the GPU Operator, the manifests of the
gpushare, DirectX and HAMi device plugins.
"""

from __future__ import annotations

from kube.objects import ContainerStatus, Pod

#: label key → (label value → component id). The first key that matches wins.
_BY_LABEL: dict[str, dict[str, str]] = {
    "app.kubernetes.io/component": {
        "nvidia-driver": "nvidia-driver",
        "nvidia-dra-validator": "nvidia-dra-validator",
        "hami-device-plugin": "hami-device-plugin",
        "hami-scheduler": "hami-scheduler",
    },
    "app": {
        "nvidia-driver-daemonset": "nvidia-driver",
        "nvidia-container-toolkit-daemonset": "nvidia-container-toolkit",
        "nvidia-operator-validator": "nvidia-operator-validator",
        "nvidia-device-plugin-daemonset": "nvidia-device-plugin",
        "nvidia-device-plugin-mps-control-daemon": "nvidia-mps-control-daemon",
        "nvidia-dcgm": "nvidia-dcgm",
        "nvidia-dcgm-exporter": "nvidia-dcgm-exporter",
        "gpu-feature-discovery": "gpu-feature-discovery",
        "nvidia-mig-manager": "nvidia-mig-manager",
        "nvidia-node-status-exporter": "nvidia-node-status-exporter",
        "nvidia-vgpu-manager-daemonset": "nvidia-vgpu-manager",
        "nvidia-vgpu-device-manager": "nvidia-vgpu-device-manager",
        "nvidia-sandbox-validator": "nvidia-sandbox-validator",
        "nvidia-sandbox-device-plugin-daemonset": "nvidia-sandbox-device-plugin",
        "nvidia-kata-sandbox-device-plugin-daemonset": "nvidia-kata-sandbox-device-plugin",
        "nvidia-cuda-validator": "nvidia-cuda-validator",
        "nvidia-device-plugin-validator": "nvidia-device-plugin-validator",
        "nvidia-driver-validation": "nvidia-driver-validation",
        "nvidia-device-plugin-validation": "nvidia-device-plugin-validation",
        "device-plugin-mcdm": "directx-mcdm-device-plugin",
        "device-plugin-wddm": "directx-wddm-device-plugin",
    },
    "component": {
        "gpushare-device-plugin": "gpushare-device-plugin",
        "gpushare-schd-extender": "gpushare-scheduler-extender",
    },
    "k8s-app": {
        "directx-device-plugin-windows": "directx-alibaba-device-plugin",
        "nvidia-gpu-device-plugin": "nvidia-device-plugin",
    },
    "name": {
        "gpushare-device-plugin-ds": "gpushare-device-plugin",
        "nvidia-device-plugin-ds": "nvidia-device-plugin",
        "nvidia-vfio-manager": "nvidia-vfio-manager",
        "nvidia-kata-manager": "nvidia-kata-manager",
        "nvidia-cc-manager": "nvidia-cc-manager",
        "directx-device-plugin": "directx-microsoft-device-plugin",
        "k8s-directx-device-plugin": "directx-microsoft-device-plugin",
        "aks-windows-gpu-device-plugin": "directx-microsoft-device-plugin",
    },
    "app.kubernetes.io/name": {
        "nvidia-device-plugin": "nvidia-device-plugin",
        "gpu-feature-discovery": "gpu-feature-discovery",
        "dcgm-exporter": "nvidia-dcgm-exporter",
    },
}

#: Keys that the mirror keeps so that a component is still one after trimming.
LABEL_KEYS = tuple(_BY_LABEL)

#: Components without which a node gives out no devices.
DEVICE_PLUGINS = frozenset(
    name
    for table in _BY_LABEL.values()
    for name in table.values()
    if name.endswith("device-plugin") and "sandbox" not in name
)

_LONGEST_MESSAGE = 1024


def component(pod: Pod) -> str:
    """Id of the plugin or operator component that the pod is; "" when it is none."""
    return component_of(pod.metadata.labels)


def component_of(labels: dict[str, str] | None) -> str:
    """The same, from labels (of a pod, or of a DaemonSet's template)."""
    if not labels:
        return ""
    keys = [key for key in labels if key in _BY_LABEL]
    if len(keys) > 1:
        keys.sort(key=LABEL_KEYS.index)
    for key in keys:
        if found := _BY_LABEL[key].get(labels[key]):
            return found
    return ""


def ready(pod: Pod) -> bool | None:
    """The pod's Ready condition; None when the pod has none."""
    for condition in (pod.status.conditions if pod.status else None) or ():
        if condition.type == "Ready":
            return condition.status == "True"
    return None


def waiting_reason(pod: Pod) -> tuple[str, str]:
    """(reason, message) of what the pod waits for; ("", "") when nothing says so.

    First what the scheduler says (PodScheduled is False), then the first container that waits for something of its own,
    init containers first, then an init container that still runs, then the pod's own reason.
    """
    status = pod.status
    if status is None:
        return "", ""
    for condition in status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.reason or "", (condition.message or "")[:_LONGEST_MESSAGE]
    statuses = (*(status.initContainerStatuses or ()), *(status.containerStatuses or ()))
    found = _waiting(statuses) or _initializing(pod)
    return found or (status.reason or "", (status.message or "")[:_LONGEST_MESSAGE])


def _waiting(statuses: tuple[ContainerStatus, ...]) -> tuple[str, str] | None:
    """The first container that waits; "PodInitializing" is left out, it only repeats that an earlier one is not done."""
    for found in statuses:
        waiting = found.state.waiting if found.state else None
        if waiting is not None and waiting.reason != "PodInitializing":
            message = f"{found.name}: {waiting.message}" if waiting.message else found.name
            return waiting.reason or "Waiting", message[:_LONGEST_MESSAGE]
    return None


def _initializing(pod: Pod) -> tuple[str, str] | None:
    specs = (pod.spec.initContainers if pod.spec else None) or ()
    sidecars = {found.name for found in specs if found.restartPolicy == "Always"}
    for status in (pod.status.initContainerStatuses if pod.status else None) or ():
        if status.state and status.state.running and status.name not in sidecars:
            return "Initializing", f"waits for the init container {status.name}"
    return None
