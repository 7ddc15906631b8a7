"""Job and pod → where a run is. Whatever the cluster answers, the reader does not raise and makes no pass of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kube.workloads import Job, NotAList, Pod, read_list
from tests.validations.recorded import FAILED, PASSED
from validations.lifecycle.endings import Ending
from validations.lifecycle.judging import judged
from validations.lifecycle.observe import last_word, observe
from validations.models.state import State
from validations.suites import find
from validations.suites.engine.base import Outcome

SUITE = find("cuda-vectoradd")
assert SUITE is not None
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
CONDITION = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["Complete", "Failed", "FailureTarget", "Suspended", "?"]),
        "status": st.sampled_from(["True", "x"]),
        "reason": JSON,
        "message": JSON,
    },
)
STATE = st.fixed_dictionaries(
    {},
    optional={
        name: st.none()
        | st.fixed_dictionaries({}, optional={"exitCode": JSON, "reason": JSON, "message": JSON, "startedAt": JSON})
        for name in ("waiting", "running", "terminated")
    },
)
CONDITIONS = st.none() | st.lists(CONDITION, max_size=3)
CONTAINER = st.fixed_dictionaries({"name": st.sampled_from(["suite", "x"]), "state": st.none() | STATE})
STATUS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("phase", "reason", "message"), JSON),
        "conditions": CONDITIONS,
        "containerStatuses": st.none() | st.lists(CONTAINER, max_size=2),
    },
)
METADATA = st.fixed_dictionaries({"name": JSON, "uid": JSON}, optional={"deletionTimestamp": JSON, "labels": JSON})
POD = st.fixed_dictionaries(
    {"metadata": METADATA},
    optional={"spec": st.none() | st.fixed_dictionaries({"nodeName": JSON}), "status": st.none() | STATUS},
)
JOB = st.fixed_dictionaries(
    {
        "metadata": st.just({"name": "j", "uid": "u"}),
        "status": st.none() | st.fixed_dictionaries({"conditions": CONDITIONS}),
    }
)


def read(kind: str, items: list[Any], of: Any) -> Any:
    return read_list(msgspec.json.encode({"kind": kind, "items": items}), of)


@pytest.mark.sweep
@settings(max_examples=150, deadline=None)
@given(JOB, st.lists(POD, max_size=2))
def test_no_answer_of_the_cluster_raises(job: Any, pods: list[Any]) -> None:
    jobs, found = read("JobList", [job], Job), read("PodList", pods, Pod)
    assert len(found.objects) + len(found.strange) >= bool(pods)
    for one in jobs.objects:
        seen = observe(one, found.objects)
        assert seen.state in ("pending", "pulling", "running", "collecting")


@pytest.mark.parametrize("body", [b"", b"{", b"7", b"[]", b"{}", b'{"kind":"Status"}', b"<html>", b"\xff" * 9])
def test_what_is_no_list_is_said(body: bytes) -> None:
    with pytest.raises(NotAList):
        read_list(body, Job)


def test_the_name_of_a_strange_object_is_kept() -> None:
    found = read("PodList", [{"metadata": {"name": "odd"}, "status": 7}, 7], Pod)
    assert found.strange == {"odd", ""}


def pods(*items: dict[str, Any]) -> list[Pod]:
    found: list[Pod] = read("PodList", list(items), Pod).objects
    return found


def test_of_several_pods_the_newest_counts() -> None:
    old = {
        "metadata": {"name": "a", "uid": "1", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "status": {"phase": "Failed"},
    }
    new = {
        "metadata": {"name": "b", "uid": "2", "creationTimestamp": "2026-01-01T00:00:01Z"},
        "spec": {"nodeName": "n"},
    }
    for order in ([old, new], [new, old]):
        assert observe(Job(), pods(*order)).pod_name == "b"


def test_a_failure_target_counts_as_failed_since_the_pods_of_a_lost_node_never_end() -> None:
    condition = {"type": "FailureTarget", "status": "True", "reason": "DeadlineExceeded"}
    job = read(
        "JobList", [{"metadata": {"name": "j", "uid": "u"}, "status": {"conditions": [condition]}}], Job
    ).objects[0]
    running = {
        "metadata": {"name": "a", "uid": "1"},
        "status": {"containerStatuses": [{"name": "suite", "state": {"running": {}}}]},
    }
    seen = observe(job, pods(running))
    assert seen.state == "collecting"
    assert seen.ending is not None
    assert seen.ending.code == "timeout"


def test_no_event_is_no_word() -> None:
    assert last_word([]) == ""


@pytest.mark.parametrize("ending", [None, Ending("cancelled", "x"), Ending("timeout", "x"), Ending("evicted", "x")])
@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("raw", [b"", PASSED, FAILED, PASSED[:40]])
@pytest.mark.parametrize("code", [None, 0, 1, 137])
def test_only_a_whole_run_that_ended_by_itself_can_pass(
    ending: Ending | None, complete: bool, raw: bytes, code: int | None
) -> None:
    assert SUITE is not None
    result = judged(SUITE, raw, Outcome(exit_code=code), ending, complete)
    passes = ending is None and complete and raw == PASSED and code == 0
    assert (result.verdict == "passed") == passes
    assert result.reasons or passes
    if ending is not None:
        assert ending.code in [reason.code for reason in result.reasons]
    if ending is not None and ending.code == "cancelled":
        assert result.verdict == "errored"


@pytest.mark.parametrize(
    ("was", "code"),
    [(State.PENDING, "unschedulable"), (State.PULLING, "image"), (State.RUNNING, "timeout")],
    ids=lambda value: str(value),
)
def test_a_deadline_that_left_no_pod_is_told_by_where_the_run_was(was: State, code: str) -> None:
    deadline = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "too long"}
    job = msgspec.convert({"metadata": {"name": "j"}, "status": {"conditions": [deadline]}}, Job)
    seen = observe(job, [], was)
    assert seen.state is State.COLLECTING
    assert seen.ending is not None
    assert seen.ending.code == code


def test_a_container_that_is_killed_while_its_pod_is_deleted_waits_for_the_jobs_word() -> None:
    container = {"name": "suite", "state": {"terminated": {"exitCode": 137, "reason": "Error"}}}
    pod = {
        "metadata": {"name": "p", "uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Failed", "containerStatuses": [container]},
    }
    seen = observe(Job(), [msgspec.convert(pod, Pod)])
    assert (seen.state, seen.reason) == (State.RUNNING, "Terminating")
