"""Somebody with all rights on a node: a person with kubectl, or another tool."""

from __future__ import annotations

import json
from typing import Any

from inventory.marks import ANNOTATION, TAINT
from kube.decoders import decoder
from kube.objects import Node
from tests.cluster_chart.apply import APPLY
from tests.controlplane.admin import MERGE, Admin, Refused
from tests.controlplane.objects import Json

#: As `kubectl cordon` and as NVSentinel's module name themselves in managedFields.
KUBECTL, SENTINEL = "kubectl-cordon", "fault-quarantine"
TOOL = {"key": "example.com/broken", "value": "yes", "effect": "NoSchedule"}


class Person:
    def __init__(self, admin: Admin, name: str) -> None:
        self.admin, self.name = admin, name

    @property
    def path(self) -> str:
        return f"/api/v1/nodes/{self.name}"

    def create(self, taints: list[Json], labels: dict[str, str]) -> None:
        try:
            self.admin.call("DELETE", self.path, {})
        except Refused as refused:
            if refused.status != 404:
                raise
        amounts = {"cpu": "64", "memory": "256Gi", "pods": "200", "nvidia.com/gpu": "4"}
        self.admin.create(
            {
                "kind": "Node",
                "apiVersion": "v1",
                "metadata": {"name": self.name, "labels": labels},
                "status": {"capacity": amounts, "allocatable": amounts},
            }
        )
        # This API server tracks who wrote what (managedFields) from the first apply on.
        hostname = {"name": self.name, "labels": {"kubernetes.io/hostname": self.name}}
        applied = {"kind": "Node", "apiVersion": "v1", "metadata": hostname}
        self.admin.call("PATCH", f"{self.path}?fieldManager=kubelet&force=true", applied, APPLY)
        # The API server taints a new node as not ready; the controller that takes this away does not run here.
        self.change({"spec": {"taints": taints or None}})

    def change(self, change: Json, manager: str = "kubectl") -> Json:
        return self.admin.call("PATCH", f"{self.path}?fieldManager={manager}", change, MERGE)

    def cordon(self, manager: str = KUBECTL, labels: dict[str, str] | None = None) -> None:
        self.change({"metadata": {"labels": labels or {}}, "spec": {"unschedulable": True}}, manager)

    def uncordon(self, manager: str = KUBECTL) -> None:
        self.change({"spec": {"unschedulable": None}}, manager)

    def taint(self, taint: Json = TOOL) -> None:
        self.change({"spec": {"taints": [*self.taints(), taint]}})

    def untaint(self, key: str = TOOL["key"]) -> None:
        self.change({"spec": {"taints": [one for one in self.taints() if one["key"] != key] or None}})

    def read(self) -> Json:
        return self.admin.call("GET", self.path)

    def taints(self) -> list[Json]:
        return list(self.read()["spec"].get("taints") or [])

    def taint_keys(self) -> set[str]:
        """Of its taints, without the one that the API server writes beside a cordon."""
        return {one["key"] for one in self.taints()} - {"node.kubernetes.io/unschedulable"}

    @property
    def cordoned(self) -> bool:
        return bool(self.read()["spec"].get("unschedulable"))

    @property
    def ours(self) -> tuple[str, Any]:
        """(value of our taint, our annotation as JSON); ("", None) for neither."""
        found = self.read()
        value = next((one["value"] for one in found["spec"].get("taints") or [] if one["key"] == TAINT), "")
        text = (found["metadata"].get("annotations") or {}).get(ANNOTATION)
        return value, json.loads(text) if text else None

    def decoded(self) -> Node:
        return decoder(Node).decode(json.dumps(self.read()))
