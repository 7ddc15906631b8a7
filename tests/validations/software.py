"""Rows of components that are not ready, as the reconciler writes them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from inventory.models import Cluster, Component
from wording.said import sentence, stored

IN_USE = sentence("Pods on the node use the driver.")
SAID = "driver is crash-looping since 4 min: Pods on the node use the driver."


def component(cluster: Cluster, node: str = "gpu-1", name: str = "driver", **columns: Any) -> Component:
    """A row as the reconciler writes it; the first cause of its node unless it is said otherwise."""
    why = columns.pop("why", IN_USE)
    remedy = columns.pop("remedy", "kubectl delete pod -n gpu-operator nvidia-driver-x")
    told = {
        "stack": "nvidia",
        "state": "crash-looping",
        "first_cause": bool(node),
        "state_since": timezone.now() - timedelta(minutes=4, seconds=5),
        "digest": 0,
    }
    wording = {"why": stored(why), "remedy": stored(remedy), "warnings": []}
    row = told | {"why": str(why), "remedy": str(remedy), "wording": wording} | columns
    made, _ = Component.objects.update_or_create(cluster=cluster, node_name=node, name=name, defaults=row)
    return made


def upgraded(cluster: Cluster, **columns: Any) -> Component:
    """A driver that is being replaced."""
    ago = timezone.now() - timedelta(minutes=4, seconds=5)
    given = {"state": "pending", "step": "pod-restart-required", "step_since": ago, "why": ""} | columns
    return component(cluster, **given)
