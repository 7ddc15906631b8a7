"""Around the runs: cancelling, reaping Jobs, lists that are strange, slots, pauses, what is deleted when its time is over."""

from __future__ import annotations

from typing import Any

import pytest

from inventory.models import Cluster
from runtime.models import Message
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, codes, later, launched, passed_by, wish
from validations import tasks
from validations.models import Launcher, LogChunk, Run
from validations.requests import request_cancel, request_run
from validations.waiting import reasons


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
    passed_by(run, prod)
    later(run, 11)
    assert passed_by(run, prod, 2).job_removed
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
    assert "Cannot read the answer of the cluster" in run.last_error
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
    assert "GPUDASH_MAX_RUNS_PER_NODE" in reasons([second])[second.pk].message
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
    Message.objects.update(taken=True)
    assert tasks.dispatch_reconcilers() == 0
    request_run(wish())
    assert tasks.dispatch_reconcilers() == 1
    assert tasks.dispatch_reconcilers() == 0  # it is on its way


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
