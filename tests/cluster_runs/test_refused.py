"""Launchers whose rules are not enough, on the real API server with RBAC: each says what is missing, and every run can be ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from inventory import checks
from inventory.models import Cluster
from tests.cluster_runs.conftest import NAMESPACE, add_node
from tests.cluster_runs.kubelet import Kubelet, Script
from tests.cluster_runs.test_runs import drive, jobs
from tests.controlplane.admin import Admin, Refused, write_kubeconfig
from tests.controlplane.controlplane import ControlPlane
from tests.roles import shipped
from tests.validations.recorded import PASSED, codes, later, passed_by, wish
from validations.lifecycle import clients
from validations.models import Run
from validations.requests import NotAllowed, request_cancel, request_run

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600, func_only=True)]
RBAC = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}"
USER = "launcher"


@pytest.fixture(scope="module")
def kubeconfig(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a user who may do what `grant` says. The API server reads its tokens at its start."""
    token = plane.add_token(USER, [])
    plane.restart("apiserver")
    return write_kubeconfig(tmp_path_factory.mktemp("launcher") / "kubeconfig", plane.kubeconfig, {"token": token})


@pytest.fixture(scope="module")
def admin(plane: ControlPlane, kubeconfig: Path) -> Admin:
    """After the restart, which the kubelet that is played would not survive."""
    made = Admin(plane.kubeconfig)
    made.ensure_namespace(NAMESPACE)
    return made


@pytest.fixture
def small(real: Cluster, kubeconfig: Path, kubelet: Kubelet) -> Iterator[Cluster]:
    """The cluster, as the launcher with the shipped role sees it."""
    real.kubeconfig = str(kubeconfig)
    real.save()
    grant(kubelet.admin)
    clients.forget(real.pk)
    yield real
    grant(kubelet.admin)


def grant(admin: Admin, without: tuple[str, str] = ("", "")) -> None:
    """The shipped role, less one (resource, verb)."""
    role: dict[str, Any] = shipped("launcher-role.yaml")[0]
    for rule in role["rules"]:
        if without[0] in rule["resources"]:
            rule["verbs"] = [verb for verb in rule["verbs"] if verb != without[1]] or ["watch"]
    subject = {"kind": "User", "name": USER, "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "Role", "name": role["metadata"]["name"], "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": USER}, "subjects": [subject], "roleRef": reference}
    for path, thing in (("roles", role), ("rolebindings", binding)):
        with suppress(Refused):
            admin.call("DELETE", f"{RBAC}/{path}/{thing['metadata']['name']}", {})
        admin.call("POST", f"{RBAC}/{path}", thing)


def launched(cluster: Cluster, kubelet: Kubelet, name: str) -> Run:
    add_node(cluster, kubelet, name, script=Script(PASSED[:60], hangs=True))
    run, _ = request_run(wish(node=name))
    return run


def told(run: Run, cluster: Cluster, words: str) -> None:
    """RBAC takes a moment to be heard of."""
    drive(cluster, run, lambda: words in run.last_error or words in str(run.reasons))


def test_the_shipped_role_is_enough(small: Cluster, kubelet: Kubelet) -> None:
    add_node(small, kubelet, "enough")
    run, _ = request_run(wish(node="enough"))
    drive(small, run)
    assert run.verdict == "passed", run.reasons


def test_without_create_the_run_ends_and_the_next_is_refused_at_once(small: Cluster, kubelet: Kubelet) -> None:
    grant(kubelet.admin, ("jobs", "create"))
    run = launched(small, kubelet, "nocreate")
    drive(small, run)
    assert codes(run)[0] == "forbidden"
    assert "create jobs" in run.reasons[0]["text"]
    with pytest.raises(NotAllowed, match=r"create jobs.*launcher-role\.yaml"):
        request_run(wish(node="nocreate"))
    checks.check(small)
    with pytest.raises(NotAllowed, match="create jobs"):
        request_run(wish(node="nocreate"))
    grant(kubelet.admin)
    checks.check(small)
    again, _ = request_run(wish(node="nocreate"))
    request_cancel(again, None)


@pytest.mark.parametrize(("resource", "verb"), [("jobs", "list"), ("pods", "list")])
def test_without_list_the_run_says_so_and_is_cancelled_all_the_same(
    small: Cluster, kubelet: Kubelet, resource: str, verb: str
) -> None:
    run = launched(small, kubelet, f"no{verb}{resource}")
    drive(small, run, lambda: run.state == "running")
    grant(kubelet.admin, (resource, verb))
    told(run, small, f"{verb} {resource}")
    assert run.active
    assert "not reached" not in run.last_error
    request_cancel(run, None)
    passed_by(run, small)
    assert codes(run)[0] == "cancelled"
    assert not run.job_removed
    grant(kubelet.admin)
    drive(small, run)
    assert jobs(kubelet) == []


def test_without_delete_the_job_is_remembered(small: Cluster, kubelet: Kubelet) -> None:
    run = launched(small, kubelet, "nodelete")
    drive(small, run, lambda: run.state == "running")
    grant(kubelet.admin, ("jobs", "delete"))
    request_cancel(run, None)
    told(run, small, "delete jobs")
    assert (run.verdict, run.job_removed) == ("errored", False)
    grant(kubelet.admin)
    drive(small, run)
    assert jobs(kubelet) == []


def test_without_the_log_there_is_no_pass(small: Cluster, kubelet: Kubelet) -> None:
    grant(kubelet.admin, ("pods/log", "get"))
    add_node(small, kubelet, "nolog")
    run, _ = request_run(wish(node="nolog"))
    drive(small, run, lambda: run.state == "collecting" and "get pods/log" in run.last_error)
    later(run, 301)
    drive(small, run)
    assert run.verdict == "errored"
    assert {"forbidden", "log-incomplete"} <= set(codes(run))


def test_a_token_that_is_not_accepted_ends_the_run_in_its_time(
    small: Cluster, kubelet: Kubelet, plane: ControlPlane, tmp_path: Path
) -> None:
    run = launched(small, kubelet, "revoked")
    drive(small, run, lambda: run.state == "running")
    wrong = write_kubeconfig(tmp_path / "kubeconfig", plane.kubeconfig, {"token": "not-a-token"})
    good = small.kubeconfig
    Cluster.objects.update(kubeconfig=str(wrong))
    told(run, small, "401")
    later(run, 1800 + 121, seen=False)
    passed_by(run, small)
    assert "unauthorized" in codes(run)
    Cluster.objects.update(kubeconfig=good)
    drive(small, run)
    assert jobs(kubelet) == []
