"""The life of a run against a scripted API server: the good way, and every way in which it goes wrong."""

from __future__ import annotations

from typing import Any

import pytest

from inventory.models import Cluster, Node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, codes, later, launched, passed_by, wish
from validations import logstore, tasks
from validations.models import Launcher, LogChunk, Run
from validations.requests import request_cancel, request_run


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
    assert (run.facts["elements"], run.proof_line) == (50000, 5)
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
    assert passed_by(run, prod).waiting_reason == "Unschedulable"
    assert "Insufficient" in run.waiting_message
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
    assert passed_by(run, prod).waiting_message == 'Pulling: Pulling image "big"'
    later(run, 3601)
    assert codes(passed_by(run, prod)) == ["image"]


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
    assert passed_by(run, prod).waiting_message == "FailedCreate: exceeded quota: pods"
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
    assert run.verdict == "errored"
    assert codes(run)[0] == "evicted"
    assert "low on resource" in run.reasons[0]["text"]


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


def test_a_cancelled_run_is_errored_and_its_job_deleted(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.logs[run.job_name] = PASSED
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    assert request_cancel(run, None)
    passed_by(run, prod)
    assert (run.verdict, codes(run)[0]) == ("errored", "cancelled")
    assert fake.jobs == {}
    assert not request_cancel(run, None)


def test_a_cancelled_run_is_not_even_a_failure(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.logs[run.job_name] = FAILED
    fake.pod(run.job_name, node="gpu-1", running=True)
    request_cancel(passed_by(run, prod), None)
    assert passed_by(run, prod).verdict == "errored"


def test_a_run_cancelled_in_the_queue_makes_no_job(prod: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(wish())
    assert request_cancel(run, None)
    assert codes(passed_by(run, prod)) == ["cancelled"]
    assert fake.created == []


def test_jobs_that_no_run_knows_are_reaped_and_those_of_others_are_not(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    orphan = {**fake.jobs[run.job_name]["metadata"]}
    labels = orphan["labels"] | {"gpudash.io/run": "0000000000abcde"}
    name = "gpudash-0000000000abcde"
    fake.jobs[name] = {"metadata": orphan | {"name": name, "uid": "o", "labels": labels}}
    foreign = labels | {"gpudash.io/instance": "another"}
    fake.jobs["theirs"] = {"metadata": orphan | {"name": "theirs", "uid": "t", "labels": foreign}}
    # A name that no run of ours has is not ours, whatever its labels say.
    fake.jobs["copied"] = {"metadata": orphan | {"name": "copied", "uid": "c", "labels": labels}}
    passed_by(run, prod)
    assert set(fake.jobs) == {run.job_name, "theirs", "copied"}


def test_a_job_that_cannot_be_deleted_now_is_deleted_later(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.fail("DELETE", "/jobs/", 500, times=2)
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).verdict == "passed"
    assert fake.jobs
    assert passed_by(run, prod, 3).job_removed
    assert fake.jobs == {}


@pytest.mark.parametrize(
    "item", [7, None, {}, {"metadata": []}, {"metadata": {"name": 5}}, {"metadata": {"name": "x"}, "status": "gone"}]
)
def test_strange_objects_in_a_list_stop_nothing(prod: Cluster, fake: FakeCluster, item: Any) -> None:
    run = launched(prod)
    fake.strange = {"JobList": [item], "PodList": [item]}
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).verdict == "passed"


def test_a_job_that_cannot_be_read_is_not_taken_for_deleted(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    job = fake.jobs.pop(run.job_name)
    fake.strange = {"JobList": [{**job, "status": {"conditions": "none"}}]}
    passed_by(run, prod)
    assert run.active
    assert "could not be read" in run.last_error
    fake.strange, fake.jobs[run.job_name] = {}, job
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).verdict == "passed"


@pytest.mark.parametrize(
    "body", [b"<html>sign in</html>", b'{"kind":"JobList","items":[', b"[]", b'{"kind":"PodList"}']
)
def test_an_answer_that_is_no_list_is_an_outage(prod: Cluster, fake: FakeCluster, body: bytes) -> None:
    run = launched(prod)
    fake.fail("GET", "/jobs$", 200, times=1, body=body)
    passed_by(run, prod)
    assert run.active
    assert run.last_error
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).verdict == "passed"


def test_long_lists_come_in_pages(prod: Cluster, fake: FakeCluster) -> None:
    fake.page = 1
    first, second = launched(prod), launched(prod, suite="nvidia-smi")
    for run in (first, second):
        fake.end(run.job_name, PASSED)
    assert passed_by(first, prod).verdict == "passed"
    second.refresh_from_db()
    assert second.state == "ended"


def test_a_node_without_slots_leaves_the_run_in_the_queue_with_the_reason(
    prod: Cluster, fake: FakeCluster, settings: Any
) -> None:
    settings.MAX_RUNS_PER_NODE = 1
    first, second = launched(prod), launched(prod, suite="nvidia-smi")
    assert (first.state, second.state) == ("pending", "queued")
    assert "GPUDASH_MAX_RUNS_PER_NODE" in second.waiting_message
    fake.end(first.job_name, PASSED)
    passed_by(first, prod)
    assert passed_by(second, prod).state == "pending"


def test_a_run_does_not_queue_for_ever(prod: Cluster, fake: FakeCluster, settings: Any) -> None:
    settings.MAX_RUNS_PER_CLUSTER = 1
    launched(prod)
    second = launched(prod, suite="nvidia-smi")
    later(second, 86_401)
    assert codes(passed_by(second, prod)) == ["timeout"]


def test_the_launch_task_does_what_a_pass_would_do_only_sooner(prod: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(wish())
    tasks.launch(run.pk)
    tasks.launch(run.pk)
    run.refresh_from_db()
    assert (run.state, fake.created) == ("pending", [run.job_name])


def test_a_cluster_without_runs_is_left_alone_between_sweeps(prod: Cluster, fake: FakeCluster) -> None:
    assert tasks.dispatch_reconcilers() == 1
    tasks.reconcile(prod.pk)
    assert tasks.dispatch_reconcilers() == 0
    request_run(wish())
    assert tasks.dispatch_reconcilers() == 1


def test_a_cluster_that_is_not_reached_is_not_tried_all_the_time(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    outage = fake.fail("GET", "/jobs$", 0)
    passed_by(run, prod)
    assert tasks.dispatch_reconcilers() == 0
    outage.times = 0
    Launcher.objects.update(next_try_at=run.created_at)
    assert tasks.dispatch_reconcilers() == 1
    passed_by(run, prod)
    assert Launcher.objects.get().next_try_at is None


def test_logs_of_old_runs_are_deleted_and_their_verdicts_stay(prod: Cluster, fake: FakeCluster, settings: Any) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert tasks.prune_logs() == 0
    settings.HISTORY_DAYS = -1
    assert tasks.prune_logs() == 1
    run.refresh_from_db()
    assert (run.verdict, LogChunk.objects.count()) == ("passed", 0)
    assert run.log_pruned_at is not None


def test_a_cluster_that_is_removed_takes_its_runs_along(prod: Cluster, fake: FakeCluster) -> None:
    from inventory import clusters

    launched(prod)
    clusters.remove(prod)
    assert Run.objects.count() == 0
