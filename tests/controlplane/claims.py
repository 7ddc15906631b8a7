"""Objects of dynamic resource allocation, as a driver, an administrator and a user make them."""

from __future__ import annotations

from typing import Any

from tests.controlplane.objects import Json

DRIVER = "gpu.nvidia.com"
NAMESPACE = "default"


def device_class(extended: str = "") -> Json:
    """All whole cards of the driver. extended: the extended resource that it serves as well."""
    expression = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == 'gpu'"
    spec: dict[str, Any] = {"selectors": [{"cel": {"expression": expression}}]}
    if extended:
        spec["extendedResourceName"] = extended
    return {"kind": "DeviceClass", "metadata": {"name": DRIVER}, "spec": spec}


def node(name: str) -> Json:
    """A node without any extended resource."""
    labels = {"kubernetes.io/hostname": name, "nvidia.com/gpu.present": "true"}
    amounts = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {}, "status": status}


def card(number: int, node_name: str, memory: str = "81920Mi", **more: Any) -> Json:
    """A device as NVIDIA's driver publishes it."""
    attributes = {
        "type": {"string": "gpu"},
        "uuid": {"string": f"GPU-{node_name}-{number}"},
        "productName": {"string": "NVIDIA A100-SXM4-80GB"},
        "driverVersion": {"version": "570.148.8"},
    }
    return {"name": f"gpu-{number}", "attributes": attributes, "capacity": {"memory": {"value": memory}}, **more}


def resource_slice(node_name: str, devices: list[Json], generation: int = 1, count: int = 1, part: int = 0) -> Json:
    pool = {"name": node_name, "generation": generation, "resourceSliceCount": count}
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node_name}-{generation}-{part}"},
        "spec": {"driver": DRIVER, "nodeName": node_name, "pool": pool, "devices": devices},
    }


def taint_rule(name: str, pool: str, device: str) -> Json:
    """An administrator's taint on one device."""
    return {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {
            "deviceSelector": {"driver": DRIVER, "pool": pool, "device": device},
            "taint": {"key": "example.com/maintenance", "effect": "NoSchedule"},
        },
    }


def claim(name: str, **exactly: Any) -> Json:
    wanted = {"name": "gpu", "exactly": {"deviceClassName": DRIVER, **exactly}}
    spec = {"devices": {"requests": [wanted]}}
    return {"kind": "ResourceClaim", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}


def template(name: str) -> Json:
    made = claim(name)
    return {"kind": "ResourceClaimTemplate", "metadata": made["metadata"], "spec": {"spec": made["spec"]}}


def pod(name: str, *, claim_name: str = "", template_name: str = "", limits: dict[str, str] | None = None) -> Json:
    """A pod that uses a claim, has one made of a template, or asks for an extended resource."""
    container: dict[str, Any] = {"name": "main", "image": "example/train"}
    spec: dict[str, Any] = {"containers": [container], "terminationGracePeriodSeconds": 0}
    if claim_name or template_name:
        container["resources"] = {"claims": [{"name": "gpu"}]}
        source = {"resourceClaimName": claim_name} if claim_name else {"resourceClaimTemplateName": template_name}
        spec["resourceClaims"] = [{"name": "gpu", **source}]
    if limits:
        container["resources"] = {"limits": limits}
    return {"kind": "Pod", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}
