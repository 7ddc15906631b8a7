"""The first cause of a node's GPU software as a finding: one for a fact, and not for what is over in a moment."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from inventory.models import Component, ComponentChange, Finding, NodeTotals
from kube import listed
from kube.objects import DaemonSet, Node
from kube.software import Deployment
from tests.inventory.reconcile.conftest import Fleet
from tests.inventory.reconcile.objects import decoded

pytestmark = pytest.mark.django_db

LABELS = {"app": "gpushare", "component": "gpushare-device-plugin", "name": "gpushare-device-plugin-ds"}
IMAGE = "registry.example/gpushare-plugin:v2-1.11"


def node(name: str = "n1", **amounts: str) -> Node:
    labels = {"kubernetes.io/os": "linux", "gpushare": "true"}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    made: Node = decoded(Node, {"metadata": {"name": name, "uid": f"u-{name}", "labels": labels}, "status": status})
    return made


def plugin() -> DaemonSet:
    template = {
        "metadata": {"labels": LABELS},
        "spec": {"nodeSelector": {"gpushare": "true"}, "containers": [{"name": "gpushare", "image": IMAGE}]},
    }
    metadata = {"name": "gpushare-device-plugin-ds", "namespace": "kube-system", "uid": "ds"}
    made: DaemonSet = decoded(DaemonSet, {"metadata": metadata, "spec": {"template": template}})
    return made


def pod(ready: bool, seconds_ago: float, name: str = "p", state: dict[str, Any] | None = None) -> listed.Pod:
    moment = (timezone.now() - timedelta(seconds=seconds_ago)).isoformat()
    conditions = [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": moment},
    ]
    container = {"name": "gpushare", "ready": ready, "restartCount": 0, "state": state or {"running": {}}}
    value = {
        "metadata": {
            "name": name,
            "namespace": "kube-system",
            "uid": f"u-{name}",
            "labels": LABELS,
            "ownerReferences": [{"kind": "DaemonSet", "name": "gpushare-device-plugin-ds", "uid": "ds"}],
        },
        "spec": {"nodeName": "n1", "containers": [{"name": "gpushare", "image": IMAGE}]},
        "status": {
            "phase": "Running",
            "startTime": moment,
            "conditions": conditions,
            "containerStatuses": [container],
        },
    }
    made: listed.Pod = decoded(listed.Pod, value)
    return made


def codes(name: str = "n1") -> list[str]:
    rows = Finding.objects.filter(node_name=name, ended_at=None)
    return sorted(rows.values_list("code", flat=True))


def test_a_plugin_that_sleeps_is_one_finding_with_its_remedy(fleet: Fleet) -> None:
    fleet.put("nodes", node())
    fleet.put("daemonsets", plugin())
    fleet.put("pods", pod(ready=True, seconds_ago=3600))
    fleet.reconcile()
    assert codes() == ["software-not-ready"]
    found = Finding.objects.get(node_name="n1")
    assert found.text.startswith("gpushare-device-plugin is not ready. It runs, but offers nothing")
    assert "kubectl delete pod -n kube-system p" in found.text
    assert Component.objects.get(node_name="n1", first_cause=True).name == "gpushare-device-plugin"
    fleet.put("nodes", node(**{"aliyun.com/gpu-mem": "15", "aliyun.com/gpu-count": "1"}))
    fleet.reconcile()
    assert codes() == []
    assert Component.objects.get(node_name="n1").state == "ready"


def test_what_may_be_over_in_a_moment_is_said_when_it_lasts(fleet: Fleet) -> None:
    fleet.put("nodes", node(**{"aliyun.com/gpu-mem": "15", "aliyun.com/gpu-count": "1"}))
    fleet.put("daemonsets", plugin())
    fleet.put("pods", pod(ready=False, seconds_ago=5))
    fleet.reconcile()
    assert Component.objects.get(node_name="n1").state == "not ready"
    assert "software-not-ready" not in codes()
    due = NodeTotals.objects.get(node_name="n1").recheck_at
    assert due is not None
    assert timedelta(seconds=40) < due - timezone.now() < timedelta(seconds=61)
    Component.objects.update(state_since=timezone.now() - timedelta(minutes=2))
    NodeTotals.objects.update(recheck_at=timezone.now() - timedelta(seconds=1))
    fleet.reconciler._rechecked = 0.0
    fleet.reconcile()
    assert "software-not-ready" in codes()
    assert "plugin-not-ready" not in codes(), "the same fact is said once"


def test_a_plugin_that_crashes_is_said_at_once(fleet: Fleet) -> None:
    fleet.put("nodes", node())
    fleet.put("daemonsets", plugin())
    fleet.put("pods", pod(False, 5, state={"waiting": {"reason": "CrashLoopBackOff"}}))
    fleet.reconcile()
    assert codes() == ["software-not-ready"]


def test_a_node_that_only_lacks_its_software_is_among_the_nodes_with_cards(fleet: Fleet) -> None:
    """It offers nothing, so that no stack speaks of it; its page has the cause and what to do."""
    fleet.put("daemonsets", plugin())
    fleet.put("nodes", node())
    fleet.reconcile()
    assert NodeTotals.objects.filter(node_name="n1").exists()
    assert codes() == ["label-without-resource"], "the DaemonSet may create the pod in a moment"
    assert Component.objects.get(node_name="n1").state == "pending"


def extender(ready: int) -> Deployment:
    labels = {"app": "gpushare", "component": "gpushare-schd-extender"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "extender:1.11"}]}}
    metadata = {"name": "gpushare-schd-extender", "namespace": "kube-system", "uid": "d"}
    value = {"metadata": metadata, "spec": {"replicas": 1, "template": template}, "status": {"readyReplicas": ready}}
    made: Deployment = decoded(Deployment, value)
    return made


def test_what_the_cluster_has_once_is_one_finding_of_the_cluster(fleet: Fleet) -> None:
    fleet.put("daemonsets", plugin())
    fleet.put("nodes", node(**{"aliyun.com/gpu-mem": "15", "aliyun.com/gpu-count": "1"}))
    fleet.put("pods", pod(True, 3600))
    fleet.reconcile()
    assert Component.objects.get(node_name="", name="gpushare-scheduler-extender").state == "missing"
    found = Finding.objects.get(code="software-not-ready", node_name="", ended_at=None)
    assert "gpushare-scheduler-extender is missing." in found.text
    assert codes() == []
    fleet.put("deployments", extender(ready=1))
    fleet.reconciler._judged = 0.0
    fleet.reconcile()
    assert Component.objects.get(node_name="", name="gpushare-scheduler-extender").state == "ready"
    found.refresh_from_db()
    assert "gpushare-scheduler-extender" not in found.text
    change = ComponentChange.objects.get(node_name="", name="gpushare-scheduler-extender")
    assert (change.state_before, change.state_after) == ("missing", "ready")
