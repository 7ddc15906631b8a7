"""What the software of a node lacks is a reason of a run that did not start by it, and of no other."""

from __future__ import annotations

import pytest
from django.utils import timezone

from accounts.roles import Role
from inventory.models import Cluster, Component
from tests.cast import make_user, signed_in
from tests.pages.reading import get
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, codes, later, launched, passed_by
from tests.validations.software import component, upgraded
from validations.models import Run
from validations.reparse import reparse
from validations.software import CODE


def unschedulable(run: Run, cluster: Cluster, fake: FakeCluster) -> Run:
    fake.pod(run.job_name, unschedulable="0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")
    passed_by(run, cluster)
    later(run, 601)
    return passed_by(run, cluster)


def test_a_run_that_no_node_took_has_the_cause_first(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    upgraded(prod)
    unschedulable(run, prod, fake)
    assert (run.verdict, codes(run)) == ("errored", [CODE, "unschedulable"])
    assert run.reasons[0]["text"].startswith("The driver is being upgraded (pod-restart-required) since 20")
    assert run.reasons[0]["text"].endswith(" UTC.")
    assert (
        "GPU software of the node not ready"
        in get(signed_in(make_user("olga", Role.OPERATOR)), f"/validations/runs/{run.pk}").text
    )
    Component.objects.all().delete()
    assert reparse(run) is None
    run.refresh_from_db()
    assert codes(run) == [CODE, "unschedulable"]


def test_without_a_cause_the_reasons_are_those_of_the_cluster(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    component(prod, "gpu-2")
    component(prod, "gpu-1", "dcgm-exporter")
    assert codes(unschedulable(run, prod, fake)) == ["unschedulable"]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"waiting": "CreatePodSandboxError", "message": "no runtime for nvidia"}, [CODE, "container-config"]),
        ({"waiting": "CreateContainerError", "message": "cannot create"}, ["container-config", CODE]),
        ({"waiting": "ImagePullBackOff", "message": "manifest unknown"}, ["image", CODE]),
    ],
)
def test_a_container_that_cannot_be_made(
    prod: Cluster, fake: FakeCluster, status: dict[str, str], expected: list[str]
) -> None:
    run = launched(prod)
    component(prod)
    fake.pod(run.job_name, node="gpu-1", **status)
    passed_by(run, prod)
    later(run, 400)
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", expected)


def test_a_sandbox_that_fails_by_its_events_is_the_nodes(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    component(prod)
    text = 'Failed to create pod sandbox: no runtime for "nvidia" is configured'
    fake.events = [{"reason": "FailedCreatePodSandBox", "message": text, "lastTimestamp": "2026-01-01T00:00:09Z"}]
    fake.pod(run.job_name, node="gpu-1", waiting="ContainerCreating")
    passed_by(run, prod)
    later(run, 3601)
    assert codes(passed_by(run, prod)) == [CODE, "image"]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("UnexpectedAdmissionError", [CODE, "refused-by-node"]),
        ("OutOfnvidia.com/gpu", [CODE, "killed"]),
        ("OutOfcpu", ["refused-by-node"]),
    ],
)
def test_a_node_that_refuses_the_pod(prod: Cluster, fake: FakeCluster, reason: str, expected: list[str]) -> None:
    run = launched(prod)
    component(prod)
    fake.pod(run.job_name, node="gpu-1", pod_reason=reason, message="Allocate failed")
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", expected)


@pytest.mark.parametrize(("log", "exit_code"), [(FAILED, 1), (PASSED[:60], 0), (PASSED[:60], 137), (b"", 1)])
def test_a_run_that_ran_has_no_such_reason(prod: Cluster, fake: FakeCluster, log: bytes, exit_code: int) -> None:
    run = launched(prod)
    component(prod)
    fake.end(run.job_name, log, exit_code)
    passed_by(run, prod)
    assert run.verdict in ("failed", "errored")
    assert CODE not in codes(run)


def test_a_pass_on_such_a_node_stays_one(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    component(prod)
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).verdict == "passed"
    assert codes(run) == []


def test_a_cancelled_run_has_no_such_reason(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    component(prod)
    Run.objects.filter(pk=run.pk).update(cancel_requested_at=timezone.now())
    assert codes(passed_by(run, prod)) == ["cancelled"]
