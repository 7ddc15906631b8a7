"""What ends a run from outside: deletion, eviction, deadlines, lost nodes, outages of the cluster, logs that cannot be had."""

from __future__ import annotations

from typing import Any

import pytest

from inventory.models import Cluster, Node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, codes, later, launched, passed_by
from validations import logstore
from validations.models import Launcher


def test_a_job_deleted_by_hand_ends_the_run_with_what_it_has_said(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.logs[run.job_name] = PASSED[:50]
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    for things in (fake.jobs, fake.pods, fake.logs):
        things.clear()
    passed_by(run, prod)
    assert run.verdict == "errored"
    assert "job-deleted" in codes(run)
    assert logstore.whole(run) == PASSED[:50]


def test_a_pod_deleted_by_hand_is_no_pass_even_after_its_verdict_line(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.logs[run.job_name] = PASSED
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    del fake.pods[run.job_name]
    fake.condition(run.job_name, "Failed", "BackoffLimitExceeded")
    passed_by(run, prod)
    assert run.verdict == "errored"
    assert "pod-deleted" in codes(run)


def test_an_evicted_pod_is_errored_with_the_kubelets_words(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED, 137, pod_reason="Evicted", message="The node was low on resource: memory.")
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", ["evicted"])
    assert "low on resource" in run.reasons[0]["text"]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("UnexpectedAdmissionError", "refused-by-node"),
        ("NodeAffinity", "refused-by-node"),
        ("OutOfcpu", "refused-by-node"),
        ("Preempting", "evicted"),
        ("NodeShutdown", "node-lost"),
        ("DeadlineExceeded", "timeout"),
    ],
)
def test_a_pod_that_was_ended_from_outside_has_one_cause(
    prod: Cluster, fake: FakeCluster, reason: str, code: str
) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED, 137, pod_reason=reason, message="The kubelet's words.")
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", [code])
    assert "The kubelet's words." in run.reasons[0]["text"]


def test_a_container_killed_for_memory_is_errored(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED[:60], 137, reason="OOMKilled")
    assert "killed" in codes(passed_by(run, prod))
    assert run.verdict == "errored"


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ({"unschedulable": "no room"}, "unschedulable"),
        ({"node": "gpu-1", "waiting": "ContainerCreating"}, "image"),
        ({"node": "gpu-1", "running": True}, "timeout"),
    ],
)
def test_the_jobs_own_deadline_has_a_reason_for_each_step(
    prod: Cluster, fake: FakeCluster, before: dict[str, Any], code: str
) -> None:
    run = launched(prod)
    fake.pod(run.job_name, **before)
    passed_by(run, prod)
    fake.condition(run.job_name, "Failed", "DeadlineExceeded", "Job was active longer than specified deadline")
    passed_by(run, prod)
    assert run.verdict == "errored"
    assert code in codes(run)


def test_a_deadline_that_kills_a_container_after_its_verdict_line_is_no_pass(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.logs[run.job_name] = PASSED
    fake.pod(run.job_name, node="gpu-1", exit_code=0)
    fake.condition(run.job_name, "Failed", "DeadlineExceeded", "Job was active longer than specified deadline")
    assert passed_by(run, prod).verdict == "errored"
    assert codes(run)[0] == "timeout"


def test_a_job_that_no_controller_ends_is_ended_by_us(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    later(run, 1800 + 121)
    passed_by(run, prod)
    assert "timeout" in codes(run)
    assert fake.jobs == {}


@pytest.mark.parametrize(("ready", "code"), [(False, "node-lost"), (None, "node-lost"), (True, "pod-deleted")])
def test_a_node_that_is_lost_in_the_middle_ends_the_run(
    prod: Cluster, fake: FakeCluster, ready: bool | None, code: str
) -> None:
    run = launched(prod)
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    Node.objects.filter(name="gpu-1").update(ready=ready)
    fake.pod(run.job_name, node="gpu-1", running=True, deleted_at="2026-01-01T00:01:00Z")
    fake.fail("GET", "/log$", 500, "dial tcp: i/o timeout")
    passed_by(run, prod)
    assert run.verdict == "errored"
    assert code in codes(run)


def test_a_run_survives_ten_minutes_without_its_cluster(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.pod(run.job_name, unschedulable="no room")
    passed_by(run, prod)
    outage = fake.fail("GET", "/jobs$", 503, "etcd is away")
    later(run, 650, seen=False)
    passed_by(run, prod)
    assert run.active
    assert "etcd is away" in run.last_error
    assert Launcher.objects.get().failing_since is not None
    outage.times = 0
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert run.verdict == "passed"
    assert 600 <= run.extended_s <= 700
    assert Launcher.objects.get().error == ""


def test_a_run_does_not_wait_for_its_cluster_for_ever(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.fail("GET", "/jobs$", 0)
    later(run, 600 + 3600 + 1, seen=False)
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", ["unreachable"])
    assert not run.job_removed
    fake.faults.clear()
    assert passed_by(run, prod, 2).job_removed
    assert fake.jobs == {}


def test_an_outage_puts_a_deadline_off_only_up_to_the_limit(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.pod(run.job_name, unschedulable="no room")
    passed_by(run, prod)
    later(run, 10_000, seen=False)
    passed_by(run, prod)
    assert (run.extended_s, codes(run)) == (3600, ["unschedulable"])


def test_a_kubeconfig_that_went_bad_is_an_outage_like_any_other(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    Cluster.objects.update(kubeconfig="/nowhere/config")
    passed_by(run, prod)
    assert run.active
    assert "cannot be read" in run.last_error


@pytest.mark.parametrize("status", [500, 0])
def test_a_log_that_cannot_be_fetched_is_tried_again_and_then_no_pass(
    prod: Cluster, fake: FakeCluster, status: int
) -> None:
    run = launched(prod)
    fake.fail("GET", "/log$", status, "the kubelet is away")
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).state == "collecting"
    assert passed_by(run, prod).last_error
    later(run, 301)
    passed_by(run, prod)
    assert (run.verdict, run.log_complete) == ("errored", False)
    assert codes(run)[0] == "log-incomplete"


def test_a_log_that_comes_at_the_second_try_counts_in_full(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.fail("GET", "/log$", 500, times=1)
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert passed_by(run, prod).verdict == "passed"


def test_a_log_that_is_gone_is_no_pass(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.fail("GET", "/log$", 404, "pods not found")
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert (run.verdict, run.log_complete) == ("errored", False)


def test_a_failure_seen_before_the_log_broke_off_stays_a_failure(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.logs[run.job_name] = FAILED
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    fake.fail("GET", "/log$", 404)
    fake.end(run.job_name, FAILED, 1)
    passed_by(run, prod)
    assert run.verdict == "failed"
    assert "log-incomplete" in codes(run)
