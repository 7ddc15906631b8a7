"""The Job of a run is created once, or not at all, and the run says why."""

from __future__ import annotations

import pytest

from inventory.models import Cluster
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import codes, later, launched, passed_by, wish
from validations.requests import request_run


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (403, "exceeded quota: gpus, requested: requests.nvidia.com/gpu=1", "quota"),
        (403, "jobs.batch is forbidden: User cannot create resource", "forbidden"),
        (400, 'admission webhook "policy" denied the request: no GPU today', "refused"),
        (422, "spec.template.spec: Invalid value", "refused"),
    ],
)
def test_what_the_api_server_says_when_it_refuses_is_kept(
    prod: Cluster, fake: FakeCluster, status: int, message: str, code: str
) -> None:
    fake.fail("POST", "/jobs$", status, message)
    run = launched(prod)
    assert (run.verdict, codes(run)) == ("errored", [code])
    assert message in run.reasons[0]["text"]


def test_a_namespace_that_is_missing_is_named(prod: Cluster, fake: FakeCluster) -> None:
    fake.namespaces.clear()
    run = launched(prod)
    assert codes(run) == ["namespace"]
    assert "GPUDASH_VALIDATION_NAMESPACE" in run.reasons[0]["text"]


def test_a_quota_that_keeps_the_pod_away_is_told_by_the_jobs_events(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.events = [
        {"reason": "FailedCreate", "message": "exceeded quota: pods", "lastTimestamp": "2026-01-01T00:00:00Z"}
    ]
    assert passed_by(run, prod).pending_message == "FailedCreate: exceeded quota: pods"
    later(run, 601)
    assert "exceeded quota" in passed_by(run, prod).reasons[0]["text"]


@pytest.mark.parametrize("status", [500, 503, 429, 401, 0])
def test_a_creation_that_may_still_work_is_tried_again(prod: Cluster, fake: FakeCluster, status: int) -> None:
    fake.fail("POST", "/jobs$", status, times=2)
    run = launched(prod)
    assert run.state == "creating"
    assert run.last_error
    passed_by(run, prod, 2)
    assert (run.state, fake.created) == ("pending", [run.job_name])


def test_a_creation_whose_answer_was_lost_makes_one_job(prod: Cluster, fake: FakeCluster) -> None:
    fake.fail("POST", "/jobs$", 0, times=1, after=True)
    run = launched(prod)
    assert run.state == "creating"
    assert passed_by(run, prod).state == "pending"
    assert fake.created == [run.job_name]


def test_a_job_of_somebody_else_under_the_same_name_is_left_alone(prod: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(wish())
    fake.jobs[run.job_name] = {"metadata": {"name": run.job_name, "uid": "theirs", "labels": {}}, "spec": {}}
    passed_by(run, prod)
    assert codes(run) == ["refused"]
    assert run.job_name in fake.jobs


def test_a_creation_that_never_works_ends(prod: Cluster, fake: FakeCluster) -> None:
    fake.fail("POST", "/jobs$", 500)
    run = launched(prod)
    later(run, 601)
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", ["timeout"])
