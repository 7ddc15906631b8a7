"""Device plugins and agents that say something of cards in objects of their own: ConfigMaps, and Koordinator's Device."""

from __future__ import annotations

import json
from typing import Any

from tests.controlplane.objects import Json

#: TensorWorks' plugin for DirectX takes the number of holders of a card from this ConfigMap.
SETTINGS, SETTINGS_KEY = "device-plugin-config", "multitenancy"
DISPLAY, CHIPS, KOORDINATOR = "directx.microsoft.com/display", "huawei.com/Ascend910", "koordinator.sh/gpu"
_DEVICES = "scheduling.koordinator.sh"


def node(name: str, resources: dict[str, str], system: str = "linux", **labels: str) -> Json:
    """A ready node that offers all of its extended resources."""
    amounts = {"cpu": "64", "memory": "256Gi", "pods": "110", **resources}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
    all_labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": system, **labels}
    return {"kind": "Node", "metadata": {"name": name, "labels": all_labels}, "spec": {}, "status": status}


def config_map(name: str, data: dict[str, str], namespace: str = "default", **labels: str) -> Json:
    return {"kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace, "labels": labels}, "data": data}


def _daemonset(name: str, namespace: str, labels: dict[str, str], container: Json) -> Json:
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": name, "image": "example/plugin", **container}]},
    }
    return {
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def directx_plugin() -> Json:
    """Whose number of holders is a key of the ConfigMap `SETTINGS`."""
    chosen = {"configMapKeyRef": {"name": SETTINGS, "key": SETTINGS_KEY}}
    variable = {"name": "WDDM_DEVICE_PLUGIN_MULTITENANCY", "valueFrom": chosen}
    return _daemonset("device-plugin-wddm", "default", {"app": "device-plugin-wddm"}, {"env": [variable]})


def directx_node(name: str, devices: int) -> Json:
    return node(name, {DISPLAY: str(devices)}, "windows")


def settings(holders: str) -> Json:
    """Beside the number, what is nobody's business."""
    return config_map(SETTINGS, {SETTINGS_KEY: holders, "password": "not to be kept"})


def ascend_plugin() -> Json:
    return _daemonset("ascend-device-plugin-daemonset", "kube-system", {"name": "ascend-device-plugin-ds"}, {})


def ascend_node(name: str, chips: int) -> Json:
    return node(name, {CHIPS: str(chips)}, accelerator="huawei-Ascend910")


def chips(node_name: str, free: list[int], unhealthy: list[int]) -> Json:
    """The ConfigMap in which the plugin tells of the chips of a node."""
    lists = {CHIPS: _names(free), f"{CHIPS}-Unhealthy": _names(unhealthy)}
    told = json.dumps({"DeviceInfo": {"DeviceList": lists, "UpdateTime": 1}})
    data = {"DeviceInfoCfg": told, "ManuallySeparateNPU": ""}
    return config_map(f"mindx-dl-deviceinfo-{node_name}", data, "kube-system", **{"mx-consumer-cim": "true"})


def _names(numbers: list[int]) -> str:
    return ",".join(f"Ascend910-{number}" for number in numbers)


def gpushare_plugin() -> Json:
    """gpushare's device plugin, which counts in GiB."""
    labels = {"component": "gpushare-device-plugin", "name": "gpushare-device-plugin-ds"}
    container = {"command": ["gpushare-device-plugin-v2", "--memory-unit=GiB"]}
    return _daemonset("gpushare-device-plugin-ds", "kube-system", labels, container)


def gpushare_node(name: str, cards: int, each: int) -> Json:
    """each: GiB."""
    amounts = {"aliyun.com/gpu-count": str(cards), "aliyun.com/gpu-mem": str(cards * each)}
    return node(name, amounts, gpushare="true")


def device_definition() -> Json:
    """Koordinator's Device as a resource of the API, with no more than a name: its fields are not checked."""
    schema: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "devices", "singular": "device", "kind": "Device", "listKind": "DeviceList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"devices.{_DEVICES}"},
        "spec": {"group": _DEVICES, "scope": "Cluster", "names": names, "versions": [version]},
    }


def koordinator_node(name: str, cards: int) -> Json:
    amounts = {KOORDINATOR: cards * 100, f"{KOORDINATOR}-core": cards * 100, f"{KOORDINATOR}-memory-ratio": cards * 100}
    memory = {f"{KOORDINATOR}-memory": f"{cards * 16}Gi"}
    return node(name, {key: str(value) for key, value in amounts.items()} | memory)


def device(node_name: str, healthy: list[bool]) -> Json:
    """What Koordinator's agent reports of the cards of a node."""
    one = {f"{KOORDINATOR}-core": "100", f"{KOORDINATOR}-memory": "16Gi", f"{KOORDINATOR}-memory-ratio": "100"}
    cards = [
        {"type": "gpu", "id": f"GPU-{node_name}-{minor}", "minor": minor, "health": health, "resources": one}
        for minor, health in enumerate(healthy)
    ]
    labels = {"node.koordinator.sh/gpu-model": "Tesla-T4", "node.koordinator.sh/gpu-vendor": "nvidia"}
    return {
        "apiVersion": f"{_DEVICES}/v1alpha1",
        "kind": "Device",
        "metadata": {"name": node_name, "labels": labels},
        "spec": {"devices": cards},
    }
