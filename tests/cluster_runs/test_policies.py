"""Runs of policies give way, on the real scheduler and Job controller: to a pod that needs the card, and to a drain."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from inventory.models import Cluster
from runtime.clock import database_now
from tests.cluster_runs.conftest import NAMESPACE, add_node
from tests.cluster_runs.kubelet import Kubelet, Script
from tests.cluster_runs.test_runs import drive, jobs
from tests.controlplane.admin import Admin
from tests.processes import ROOT
from tests.services import wait_until
from tests.validations.recorded import PASSED, codes
from validations import tasks
from validations.models import Launcher, Policy, PolicyCard, Run
from validations.policies import manage
from validations.policies.advance import advance
from validations.policies.manage import PolicyDraft

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def shipped_class(admin: Admin) -> None:
    """The PriorityClass that is shipped with the launcher's role."""
    documents = yaml.safe_load_all((ROOT / "deploy" / "launcher-role.yaml").read_text())
    (made,) = (one for one in documents if one["kind"] == "PriorityClass")
    admin.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", made)


def policy_on(cluster: Cluster) -> Policy:
    """A policy whose cluster was looked at once, so that its PriorityClass is known."""
    tasks.reconcile(cluster.pk)
    assert Launcher.objects.get(cluster=cluster).gives_way
    return manage.create(PolicyDraft(name="every card", suite="cuda-vectoradd"))


def started() -> Run:
    assert advance(database_now()) == 1
    return Run.objects.get()


def stands() -> tuple[str, str]:
    advance(database_now())
    row = PolicyCard.objects.get()
    return row.state, row.reason


def running(cluster: Cluster, run: Run) -> None:
    drive(cluster, run, lambda: run.state == "running")


def pod(name: str, node: str) -> dict[str, Any]:
    container = {"name": "work", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    return {
        "metadata": {"name": name},
        "spec": {"containers": [container], "nodeSelector": {"kubernetes.io/hostname": node}},
    }


def test_a_card_is_tested_and_valid(real: Cluster, kubelet: Kubelet, shipped_class: None) -> None:
    add_node(real, kubelet, "idle", gpus=1, script=Script(PASSED))
    policy_on(real)
    run = started()
    drive(real, run)
    assert run.verdict == "passed", run.reasons
    assert stands() == ("valid", "")
    assert jobs(kubelet) == []


def test_a_pod_that_needs_the_card_takes_it_and_the_run_is_skipped(
    real: Cluster, kubelet: Kubelet, shipped_class: None
) -> None:
    add_node(real, kubelet, "wanted", gpus=1, script=Script(hangs=True))
    policy_on(real)
    run = started()
    running(real, run)
    path = "/api/v1/namespaces/default/pods"
    kubelet.admin.call("POST", path, pod("urgent", "wanted"))
    wait_until(
        lambda: kubelet.admin.call("GET", f"{path}/urgent")["spec"].get("nodeName") == "wanted",
        "the pod has the card",
        60,
    )
    drive(real, run)
    assert (run.verdict, codes(run)[0]) == ("skipped", "preempted"), run.reasons
    assert stands() == ("due", "never-validated"), "it is no failure of the card"
    kubelet.admin.call("DELETE", f"{path}/urgent", {"gracePeriodSeconds": 0})


def test_a_run_whose_node_is_drained_is_skipped(real: Cluster, kubelet: Kubelet, shipped_class: None) -> None:
    add_node(real, kubelet, "drained", gpus=1, script=Script(hangs=True))
    policy_on(real)
    run = started()
    running(real, run)
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{run.pod_name}/eviction"
    kubelet.admin.call("POST", path, {"metadata": {"name": run.pod_name}})
    drive(real, run)
    assert (run.verdict, codes(run)[0]) == ("skipped", "preempted"), run.reasons


def test_a_run_of_a_policy_takes_nobodys_place(real: Cluster, kubelet: Kubelet, shipped_class: None) -> None:
    add_node(real, kubelet, "taken", gpus=1, script=Script(PASSED))
    path = "/api/v1/namespaces/default/pods"
    kubelet.admin.call("POST", path, pod("resident", "taken"))
    wait_until(lambda: kubelet.admin.call("GET", f"{path}/resident")["spec"].get("nodeName"), "the pod is there", 60)
    policy_on(real)  # the synced data do not have the pod yet
    run = started()
    drive(real, run, lambda: "Insufficient nvidia.com/gpu" in run.pending_message)
    assert kubelet.admin.call("GET", f"{path}/resident")["spec"]["nodeName"] == "taken"
    kubelet.admin.call("DELETE", f"{path}/resident", {"gracePeriodSeconds": 0})
