"""The hand-over to NVSentinel: a MaintenanceRequest of the node; while it is there, NVSentinel keeps the node away. Pure.

Not verified: group, version and fields are those of NVSentinel's documentation (nvsentinel.dgxc.nvidia.com/v1, 2026-11); they
were not tried against a running NVSentinel, whose other objects are of the group nvsentinel.nvidia.com. A deletion may last until
its finalizer is gone.
"""

from __future__ import annotations

from typing import Any

GROUP, VERSION, RESOURCE = "nvsentinel.dgxc.nvidia.com", "v1", "maintenancerequests"
PATH = f"/apis/{GROUP}/{VERSION}/{RESOURCE}"


def request_name(case: str) -> str:
    return f"gpudash-{case}"


def request(case: str, node: str, reason: str) -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "MaintenanceRequest",
        "metadata": {
            "name": request_name(case),
            "labels": {"gpudash.io/case": case, "app.kubernetes.io/managed-by": "gpudash"},
        },
        "spec": {"nodeName": node, "reason": reason[:1000]},
    }
