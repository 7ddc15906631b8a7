"""The life of a run against a scripted API server: the good way, and the ways in which it waits."""

from __future__ import annotations

from inventory.models import Cluster
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, codes, later, launched, passed_by, wish
from validations import logstore
from validations.requests import request_run


def test_a_run_goes_through_its_states_to_a_verdict_and_leaves_nothing(prod: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(wish())
    assert run.state == "queued"
    assert passed_by(run, prod).state == "pending"
    fake.pod(run.job_name, node="gpu-1", waiting="ContainerCreating")
    assert passed_by(run, prod).state == "pulling"
    fake.logs[run.job_name] = PASSED[:40]
    fake.pod(run.job_name, node="gpu-1", running=True)
    assert passed_by(run, prod).state == "running"
    assert logstore.whole(run) == PASSED[:40]
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert (run.state, run.verdict, run.exit_code) == ("ended", "passed", 0)
    assert (run.facts["elements"], run.evidence_line) == (50000, 5)
    assert logstore.whole(run) == PASSED
    assert run.log_complete is True
    assert run.image_digest.endswith("0" * 64)
    assert run.started_at is not None
    assert list(run.steps.order_by("id").values_list("state", flat=True)) == [
        "queued", "creating", "pending", "pulling", "running", "collecting", "ended",
    ]  # fmt: skip
    assert passed_by(run, prod).job_removed
    assert fake.jobs == {}
    assert fake.created == [run.job_name]


def test_a_quiet_pass_makes_two_calls(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.pod(run.job_name, unschedulable="no room")
    passed_by(run, prod)
    before = len(fake.calls)
    passed_by(run, prod)
    assert len(fake.calls) - before == 2


def test_no_on_of_the_hardware_is_a_failure(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.end(run.job_name, FAILED, 1)
    assert passed_by(run, prod).verdict == "failed"
    assert codes(run)[0] == "verification"


def test_a_log_without_a_verdict_line_is_never_a_pass(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED[:100], 0)
    assert passed_by(run, prod).verdict == "errored"
    assert codes(run)[0] == "no-verdict"


def test_an_unschedulable_run_says_why_and_ends_in_time(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.pod(run.job_name, unschedulable="0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")
    assert passed_by(run, prod).pending_reason == "Unschedulable"
    assert "Insufficient" in run.pending_message
    later(run, 601)
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", ["unschedulable"])
    assert "Insufficient" in run.reasons[0]["text"]
    assert passed_by(run, prod).job_removed


def test_an_image_that_cannot_be_pulled_gets_some_time_to_mend_itself(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.pod(run.job_name, node="gpu-1", waiting="ErrImagePull", message="manifest unknown")
    assert passed_by(run, prod).state == "pulling"
    fake.pod(run.job_name, node="gpu-1", waiting="ContainerCreating")
    later(run, 200)
    assert passed_by(run, prod).active
    fake.pod(run.job_name, node="gpu-1", waiting="ImagePullBackOff", message="manifest unknown")
    later(run, 200)
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", ["image"])
    assert "manifest unknown" in run.reasons[0]["text"]


def test_an_image_name_that_is_none_ends_the_run_at_once(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.pod(run.job_name, node="gpu-1", waiting="InvalidImageName", message="couldn't parse")
    assert codes(passed_by(run, prod)) == ["image"]


def test_a_slow_image_shows_the_newest_event_and_has_an_end(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    text = {"reason": "Pulling", "message": 'Pulling image "big"', "lastTimestamp": "2026-01-01T00:00:09Z"}
    fake.events = [text | {"message": "older", "lastTimestamp": "2026-01-01T00:00:01Z"}, text]
    fake.pod(run.job_name, node="gpu-1", waiting="ContainerCreating")
    assert passed_by(run, prod).pending_message == 'Pulling: Pulling image "big"'
    later(run, 3601)
    assert codes(passed_by(run, prod)) == ["image"]
