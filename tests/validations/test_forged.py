"""Whoever may write into the namespace of the validations makes no pass of it: not by labels, owners, changed pods, or Jobs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from inventory.models import Cluster
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, codes, launched, passed_by, wish
from validations import logstore
from validations.lifecycle.own import difference
from validations.models import Run
from validations.requests import request_run

Obj = dict[str, Any]


def copy(of: Obj) -> Obj:
    made: Obj = json.loads(json.dumps(of))
    return made


def passing(fake: FakeCluster, pod: Obj) -> Obj:
    """The pod has ended well, and its log says so."""
    fake.pods["forged"] = pod
    ended = {"name": "suite", "imageID": "x", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
    pod["status"] = {"phase": "Succeeded", "containerStatuses": [ended]}
    pod["spec"]["nodeName"] = "gpu-1"
    pod["metadata"]["name"] = pod["metadata"]["name"].replace("-abcde", "-fghij")
    fake.logs[pod["metadata"]["labels"]["job-name"]] = PASSED
    return pod


def no_owner(pod: Obj) -> None:
    del pod["metadata"]["ownerReferences"]


def another_uid(pod: Obj) -> None:
    pod["metadata"]["ownerReferences"][0]["uid"] = "of-another-job"


def no_controller(pod: Obj) -> None:
    pod["metadata"]["ownerReferences"][0]["controller"] = False


def another_kind(pod: Obj) -> None:
    pod["metadata"]["ownerReferences"][0]["kind"] = "ReplicaSet"


def two_owners(pod: Obj) -> None:
    pod["metadata"]["ownerReferences"].append(copy(pod["metadata"]["ownerReferences"][0]) | {"uid": "another"})


def no_controllers_label(pod: Obj) -> None:
    for label in ("controller-uid", "batch.kubernetes.io/controller-uid"):
        del pod["metadata"]["labels"][label]


def another_name(pod: Obj) -> None:
    pod["metadata"]["name"] = "stray-abcde"


def older_than_the_job(pod: Obj) -> None:
    pod["metadata"]["creationTimestamp"] = "2025-12-31T23:59:59Z"


STRAYS = [
    no_owner, another_uid, no_controller, another_kind, two_owners, no_controllers_label, another_name, older_than_the_job,
]  # fmt: skip


@pytest.mark.parametrize("stray", STRAYS, ids=lambda one: one.__name__)
def test_a_pod_that_the_job_does_not_own_is_not_looked_at(
    prod: Cluster, fake: FakeCluster, stray: Callable[[Obj], None]
) -> None:
    run = launched(prod)
    stray(passing(fake, fake.made_of(run.job_name)))
    passed_by(run, prod, 2)
    assert (run.state, run.verdict, run.pod_uid) == ("pending", None, "")
    assert not any(call.endswith("/log") for call in fake.calls)


def test_a_stray_pod_beside_the_runs_own_changes_nothing(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    no_owner(passing(fake, fake.made_of(run.job_name)))
    fake.end(run.job_name, FAILED, 1)
    passed_by(run, prod)
    assert (run.verdict, codes(run)[0]) == ("failed", "verification")


def container(pod: Obj) -> Obj:
    of: Obj = pod["spec"]["containers"][0]
    return of


#: What a person who may create or patch pods can do to one that otherwise is as the Job controller makes it.
CHANGES: dict[str, Callable[[Obj], object]] = {
    "image": lambda pod: container(pod).update(image="evil"),
    "command": lambda pod: container(pod).update(command=["echo", "Test PASSED"]),
    "args": lambda pod: container(pod).update(args=["--forged"]),
    "env": lambda pod: container(pod).setdefault("env", []).append({"name": "BASH_ENV", "value": "/tmp/x"}),
    "envFrom": lambda pod: container(pod).update(envFrom=[{"configMapRef": {"name": "x"}}]),
    "volumeMounts": lambda pod: (
        container(pod).setdefault("volumeMounts", []).append({"name": "x", "mountPath": "/bin"})
    ),
    "lifecycle": lambda pod: container(pod).update(lifecycle={"postStart": {"exec": {"command": ["sh"]}}}),
    "ephemeralContainers": lambda pod: pod["spec"].update(ephemeralContainers=[{"name": "debugger"}]),
    "shareProcessNamespace": lambda pod: pod["spec"].update(shareProcessNamespace=True),
    "nvidia.com/gpu": lambda pod: container(pod)["resources"].update(limits={"cpu": "2"}),
    "containers[suite]": lambda pod: container(pod).update(name="other"),
}


@pytest.mark.parametrize("place", CHANGES)
@pytest.mark.parametrize("log", [PASSED, FAILED])
def test_a_pod_that_runs_something_else_proves_nothing_good_or_bad(
    prod: Cluster, fake: FakeCluster, place: str, log: bytes
) -> None:
    run = launched(prod)
    fake.end(run.job_name, log, int(log is FAILED))
    CHANGES[place](fake.pods[run.job_name])
    passed_by(run, prod)
    assert (run.verdict, codes(run), run.level) == ("errored", ["pod-changed"], "")
    assert place in run.reasons[0]["text"] or place == "nvidia.com/gpu"
    assert not run.log_stored
    assert passed_by(run, prod).job_removed
    assert fake.jobs == {}


def test_a_pod_that_is_changed_while_it_runs_proves_nothing(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.logs[run.job_name] = PASSED
    fake.pod(run.job_name, node="gpu-1", running=True)
    assert passed_by(run, prod).state == "running"
    assert logstore.whole(run) == PASSED
    CHANGES["ephemeralContainers"](fake.pods[run.job_name])
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).verdict == "errored"
    assert codes(run) == ["pod-changed"]


def test_a_second_pod_of_the_job_proves_nothing(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    passing(fake, fake.made_of(run.job_name))
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", ["pod-changed"])


def test_a_pod_in_the_place_of_the_one_that_was_seen_proves_nothing(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    del fake.pods[run.job_name]
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", ["pod-changed"])


def test_the_log_of_a_pod_that_took_the_name_meanwhile_is_no_log_of_the_run(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED)

    def replaced() -> None:
        fake.pods[run.job_name]["metadata"]["uid"] = "another"

    fake.on_log = replaced
    passed_by(run, prod)
    assert (run.verdict, run.log_complete, run.log_stored) == ("errored", False, 0)


def test_a_container_that_ended_well_is_no_pass_when_its_job_failed(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED)
    fake.condition(run.job_name, "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", ["job-failed"])


def foreign(fake: FakeCluster, run: Run, **metadata: Any) -> None:
    """A Job with the name and all labels of the run's, and another program."""
    made = copy(run.manifest)
    made["metadata"] |= {"uid": "theirs", "creationTimestamp": "2026-01-01T00:00:00Z"}
    made["metadata"]["labels"] |= metadata
    made["spec"]["template"]["spec"]["containers"][0]["command"] = ["echo", "Test PASSED"]
    fake.jobs[run.job_name] = made


@pytest.mark.parametrize("listed", [True, False])
def test_a_job_that_is_there_already_is_taken_up_only_when_it_is_what_was_posted(
    prod: Cluster, fake: FakeCluster, listed: bool
) -> None:
    fake.fail("POST", "/jobs$", 0, times=1)
    run = launched(prod)
    assert run.state == "creating"
    foreign(fake, run, **({} if listed else {"app.kubernetes.io/managed-by": "helm"}))
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert (run.verdict, codes(run), run.job_uid) == ("errored", ["job-of-other-launcher"], "")
    assert "spec.template.spec.containers[suite].command" in run.reasons[0]["text"]


def test_an_answer_that_was_lost_does_not_make_our_own_job_foreign(prod: Cluster, fake: FakeCluster) -> None:
    """Also where the Job is not in the next list, and is posted once more."""
    fake.fail("POST", "/jobs$", 0, times=1, after=True)
    run = launched(prod)
    labels = fake.jobs[run.job_name]["metadata"]["labels"]
    managed = labels.pop("app.kubernetes.io/managed-by")
    assert passed_by(run, prod).state == "pending"
    labels["app.kubernetes.io/managed-by"] = managed
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).verdict == "passed"
    assert fake.created == [run.job_name]


#: What the API server and admission add to a pod by themselves.
DEFAULTED: Obj = {
    "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30, "priority": 0,
    "preemptionPolicy": "PreemptLowerPriority", "serviceAccountName": "default", "serviceAccount": "default", "nodeName": "gpu-1",
    "initContainers": [{"name": "mesh", "image": "proxy"}],
}  # fmt: skip


def test_what_the_api_server_adds_makes_no_pod_another(prod: Cluster) -> None:
    run, _ = request_run(wish())
    asked = run.manifest["spec"]["template"]["spec"]
    there = copy(asked) | DEFAULTED
    there["tolerations"] = [
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists"},
        *asked.get("tolerations", []),
    ]
    there["containers"].append({"name": "sidecar", "image": "proxy"})
    there["containers"][0] |= {"terminationMessagePath": "/dev/x", "imagePullPolicy": "IfNotPresent"}
    there["containers"][0]["resources"]["requests"] |= {"nvidia.com/gpu": "1"}
    assert difference(asked, there) == ""
    asked["containers"][0]["resources"]["limits"]["memory"] = "2048Mi"
    there["containers"][0]["resources"]["limits"]["memory"] = "2Gi"
    asked["containers"][0]["env"] = [{"name": "A", "value": ""}]
    there["containers"][0]["env"] = [{"name": "A"}]
    assert difference(asked, there) == ""
    there["containers"][0]["env"].append({"name": "CUDA_TASK_PRIORITY", "value": "1"})  # HAMi's webhook
    assert difference(asked, there) == ""
    there["containers"][0]["env"] = [{"name": "A", "valueFrom": {"secretKeyRef": {}}}]
    assert difference(asked, there).endswith("env")


@pytest.mark.parametrize("strange", [None, [], "x", {}, {"containers": None}, {"containers": ["x", {"name": []}]}])
def test_a_strange_spec_is_another_and_raises_nothing(prod: Cluster, strange: Any) -> None:
    run, _ = request_run(wish())
    assert difference(run.manifest["spec"]["template"]["spec"], strange)
    assert difference(strange, run.manifest["spec"]["template"]["spec"])
