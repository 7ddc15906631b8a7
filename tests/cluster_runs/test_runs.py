"""Runs on the real control plane: API server, scheduler and Job controller are Kubernetes' own; the kubelet is played."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from random import Random

import pytest
from django.db.models import Count

from inventory.models import Cluster
from tests.cluster_runs.conftest import NAMESPACE, add_node
from tests.cluster_runs.kubelet import Kubelet, Script
from tests.controlplane.admin import MERGE
from tests.processes import Processes, kill
from tests.services import wait_until
from tests.validations.recorded import FAILED, PASSED, codes, later, wish
from validations import campaigns, logstore, tasks
from validations.models import Run
from validations.requests import request_cancel, request_run

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

#: How many launches the test with killed workers makes; a multiple of four.
LAUNCHES = int(os.environ.get("GPUDASH_TEST_LAUNCHES", "1000"))


def jobs(kubelet: Kubelet) -> list[str]:
    return [job["metadata"]["name"] for job in kubelet.admin.list(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs")]


def drive(cluster: Cluster, run: Run, until: Callable[[], bool] | None = None, patience_s: float = 60.0) -> None:
    """Reconcile until the run is over and its Job away (or until something else holds)."""

    def done() -> bool:
        tasks.reconcile(cluster.pk)
        run.refresh_from_db()
        return until() if until is not None else not run.active and run.job_removed

    try:
        wait_until(done, f"{run.pk} is over", patience_s, every_s=0.2)
    except AssertionError as error:
        told = (
            run.state,
            run.pending_reason,
            run.pending_message,
            run.last_error,
            run.verdict,
            run.reasons,
            run.job_removed,
        )
        raise AssertionError(f"{error}: {told}") from None


def test_a_run_passes_and_leaves_no_job(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "good")
    run, _ = request_run(wish(node="good"))
    drive(real, run)
    assert (run.verdict, run.exit_code, run.log_complete) == ("passed", 0, True), run.reasons
    assert logstore.whole(run) == PASSED
    assert run.image_digest.endswith("1" * 64)
    assert jobs(kubelet) == []


def test_the_manifest_of_a_run_is_what_the_api_server_takes(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "dry")
    run, _ = request_run(wish(node="dry"))
    path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs?dryRun=All&fieldValidation=Strict"
    assert kubelet.admin.call("POST", path, run.manifest)["metadata"]["name"] == run.job_name
    request_cancel(run, None)
    drive(real, run)


@pytest.mark.parametrize(
    ("name", "script", "verdict", "code"),
    [
        ("wrong", Script(FAILED, 1), "failed", "verification"),
        ("short", Script(PASSED[:90]), "errored", "no-verdict"),
        ("evicted", Script(PASSED, evicted=True), "errored", "evicted"),
        ("killed", Script(PASSED[:60], 137), "errored", "killed"),
        ("badname", Script(waiting="InvalidImageName"), "errored", "image"),
        ("huge", Script(PASSED[:-18] + b"noise\n" * 2_000_000 + PASSED[-18:]), "passed", "log-cut"),
    ],
)
def test_how_a_container_ends_is_what_the_run_says(
    real: Cluster, kubelet: Kubelet, name: str, script: Script, verdict: str, code: str
) -> None:
    add_node(real, kubelet, name, script=script)
    run, _ = request_run(wish(node=name))
    drive(real, run)
    assert (run.verdict, code in codes(run)) == (verdict, True), run.reasons
    assert jobs(kubelet) == []


def test_a_run_that_no_node_takes_says_why(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "full", gpus=0)
    run, _ = request_run(wish(node="full"))
    drive(real, run, lambda: "Insufficient nvidia.com/gpu" in run.pending_message)
    later(run, 601)
    drive(real, run)
    assert (run.verdict, codes(run)) == ("errored", ["unschedulable"])


def test_an_image_that_is_not_there_ends_the_run_in_time(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "noimage", script=Script(waiting="ImagePullBackOff"))
    run, _ = request_run(wish(node="noimage"))
    drive(real, run, lambda: run.trouble_since is not None)
    later(run, 301)
    drive(real, run)
    assert codes(run) == ["image"]


def test_the_jobs_deadline_ends_a_container_that_hangs(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "hangs", script=Script(PASSED[:60], hangs=True))
    run, _ = request_run(wish(node="hangs", options={"deadline_s": 60}))
    drive(real, run, lambda: run.state == "running")
    path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{run.job_name}"
    kubelet.admin.call("PATCH", path, {"spec": {"activeDeadlineSeconds": 5}}, MERGE)
    drive(real, run)
    assert (run.verdict, "timeout" in codes(run)) == ("errored", True), run.reasons


@pytest.mark.parametrize(("what", "code"), [("pods", "pod-deleted"), ("jobs", "job-deleted")])
def test_what_is_deleted_by_hand_ends_the_run(real: Cluster, kubelet: Kubelet, what: str, code: str) -> None:
    name = f"deleted-{what}"
    add_node(real, kubelet, name, script=Script(PASSED[:60], hangs=True))
    run, _ = request_run(wish(node=name))
    drive(real, run, lambda: run.state == "running" and run.log_stored > 0)
    thing = f"/api/v1/namespaces/{NAMESPACE}/pods/{run.pod_name}"
    if what == "jobs":
        thing = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{run.job_name}?propagationPolicy=Background"
    kubelet.admin.call("DELETE", thing, {})
    drive(real, run)
    assert (run.verdict, code in codes(run)) == ("errored", True), run.reasons
    assert jobs(kubelet) == []


def test_a_quota_says_no_in_its_own_words(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "quota")
    path = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas"
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {"count/jobs.batch": "0"}}}
    kubelet.admin.call("POST", path, quota)
    try:
        run, _ = request_run(wish(node="quota"))
        # Without a controller that fills the quota's status, the API server refuses for want of it.
        drive(real, run, lambda: not run.active or bool(run.last_error))
    finally:
        kubelet.admin.call("DELETE", f"{path}/none", {})
    drive(real, run)
    assert run.verdict in ("errored", "passed")
    if run.verdict == "errored":
        assert codes(run)[0] in ("quota", "forbidden")


def test_a_log_that_the_node_does_not_give_is_no_pass(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "nolog", script=Script(PASSED, log_status=500))
    run, _ = request_run(wish(node="nolog"))
    drive(real, run, lambda: run.state == "collecting" and bool(run.last_error))
    later(run, 301)
    drive(real, run)
    assert (run.verdict, codes(run)[0]) == ("errored", "log-incomplete")


def test_a_cancel_deletes_the_job(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "cancel", script=Script(PASSED, hangs=True))
    run, _ = request_run(wish(node="cancel"))
    drive(real, run, lambda: run.state == "running")
    request_cancel(run, None)
    drive(real, run)
    assert codes(run)[0] == "cancelled"
    assert jobs(kubelet) == []


def test_many_launches_with_workers_killed_at_random(real: Cluster, kubelet: Kubelet, processes: Processes) -> None:
    """No run lost, none doubled, no Job left."""
    suites = ("cuda-vectoradd", "nvidia-smi", "cuda-nbody", "cuda-devicequery")
    nodes = [f"many-{number}" for number in range(LAUNCHES // len(suites))]
    for name in nodes:
        add_node(real, kubelet, name)
    for suite in suites:
        campaigns.create(suite, [("real", name, "") for name in nodes], max_parallel=100)
    chance, workers, kills = Random(1), [_worker(processes) for _ in range(2)], 0
    started = time.monotonic()
    while Run.objects.filter(job_removed=True).count() < LAUNCHES:
        assert time.monotonic() - started < 1700, _counts()
        time.sleep(chance.uniform(5.0, 15.0))
        victim = chance.randrange(len(workers))
        kill(workers[victim])
        workers[victim] = _worker(processes)
        kills += 1
    print(f"{LAUNCHES} launches, {kills} kills, {time.monotonic() - started:.0f} s")
    assert jobs(kubelet) == []
    assert Run.objects.count() == LAUNCHES, "lost or doubled"
    assert not Run.objects.exclude(state="ended").exists()
    first = Run.objects.filter(suite=suites[0])
    assert set(first.values_list("verdict", flat=True)) == {"passed"}
    assert not Run.objects.values("job_uid").annotate(n=Count("pk")).filter(n__gt=1).exists()


def _worker(processes: Processes) -> subprocess.Popen[bytes]:
    return processes.start("worker", [sys.executable, "-m", "tests.cluster_runs.worker"], {})


def _counts() -> dict[str, int]:
    return dict(Run.objects.values_list("state").annotate(Count("pk")))
