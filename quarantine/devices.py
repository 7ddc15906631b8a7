"""One card of a DRA driver: which device it is now, and the DeviceTaintRule that keeps claims from it. Pure.

The name of a device may be another after a restart of its driver, so the card's UUID is looked up in the slices at each write.
Shapes: resource.k8s.io v1, v1beta2 and v1alpha3 (Kubernetes 1.33 to 1.37); the fields that are written here are the same in all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inventory.marks import TAINT
from kube.claims import ResourceSlice, plain_value

VERSIONS = ("v1", "v1beta2", "v1alpha3")
NONE, NO_SCHEDULE = "None", "NoSchedule"
#: By which our objects are known.
LABEL, MANAGED_BY = "gpudash.io/case", "app.kubernetes.io/managed-by"
Json = dict[str, Any]


def device_of(slices: Iterable[ResourceSlice], node: str, uuid: str) -> Json:
    """{"driver", "pool", "device"} of the card with this UUID on the node, in its pool's newest generation; {} for none."""
    best: tuple[int, Json] | None = None
    for one in slices:
        pool = one.spec.pool
        if not uuid or (one.spec.nodeName or "") not in ("", node):
            continue
        for device in one.spec.devices or ():
            attributes = device.attributes or (device.basic.attributes if device.basic else None) or {}
            named = [plain_value(value) for name, value in attributes.items() if name.rpartition("/")[2] == "uuid"]
            if uuid in named and (best is None or pool.generation > best[0]):
                best = pool.generation, {"driver": one.spec.driver, "pool": pool.name, "device": device.name}
    return best[1] if best else {}


def rule_name(case: str) -> str:
    return f"gpudash-{case}"


def rule(case: str, device: Json, version: str, effect: str) -> Json:
    """The object to create. effect "None" does nothing but tell what evicting would do."""
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": rule_name(case), "labels": {LABEL: case, MANAGED_BY: "gpudash"}},
        "spec": {
            "deviceSelector": {name: device[name] for name in ("driver", "pool", "device")},
            "taint": {"key": TAINT, "value": case, "effect": effect},
        },
    }
