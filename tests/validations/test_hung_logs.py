"""A kubelet that swallows bytes: the runs of its node wait for their log, in their time; the others notice nothing."""

from __future__ import annotations

import time
from typing import Any

import pytest

from inventory.models import Cluster
from kube.client import ApiError
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, codes, later, launched, passed_by
from validations import tasks
from validations.installation import instance_name
from validations.lifecycle import logreads
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.deadlines import TooSlow, within
from validations.lifecycle.launching import acquire
from validations.lifecycle.outage import wait_s
from validations.models import Launcher, Run
from validations.requests import request_cancel


@pytest.fixture
def two(prod: Cluster, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, Run]:
    """A run on a node whose kubelet is asleep, and one on another."""
    for name, seconds in (("LIVE_S", 1.0), ("LIVE_SILENCE_S", 0.5), ("WHOLE_S", 1.0), ("WHOLE_SILENCE_S", 0.5)):
        monkeypatch.setattr(logreads, name, seconds)
    make_node(prod, "deaf", "nvidia", 4, loads=(0.0,))
    hung, good = launched(prod, node="deaf"), launched(prod)
    fake.asleep.add("deaf")
    return hung, good


def test_a_hanging_log_does_not_stop_the_other_runs(prod: Cluster, fake: FakeCluster, two: tuple[Run, Run]) -> None:
    hung, good = two
    for run in two:
        fake.logs[run.job_name] = PASSED
        fake.pod(run.job_name, node=run.node_name, running=True)
    fake.end(good.job_name, PASSED)
    began = time.monotonic()
    passed_by(good, prod)
    assert time.monotonic() - began < 30
    assert good.verdict == "passed"
    hung.refresh_from_db()
    assert hung.state == "running"


@pytest.mark.sweep
def test_a_node_whose_log_hung_is_left_alone_for_a_growing_while_and_says_so(
    prod: Cluster, fake: FakeCluster, two: tuple[Run, Run]
) -> None:
    hung, _ = two
    fake.pod(hung.job_name, node="deaf", running=True)
    assert passed_by(hung, prod).log_tries == 1
    assert "Cannot read the log from node deaf" in hung.last_error
    reads = sum(call.endswith("/log") for call in fake.calls)
    passed_by(hung, prod, 3)
    assert sum(call.endswith("/log") for call in fake.calls) == reads
    first = hung.log_next_at
    later(hung, 60)
    assert passed_by(hung, prod).log_tries == 2
    assert first is not None
    assert hung.log_next_at is not None
    fake.awake.set()
    fake.asleep.clear()
    fake.end(hung.job_name, PASSED)
    later(hung, 60)
    assert passed_by(hung, prod).verdict == "passed"


@pytest.mark.sweep
def test_a_log_that_never_comes_ends_the_run_in_its_time_and_never_as_passed(
    prod: Cluster, fake: FakeCluster, two: tuple[Run, Run]
) -> None:
    hung, _ = two
    fake.end(hung.job_name, PASSED, node="deaf")
    assert passed_by(hung, prod).state == "collecting"
    later(hung, 301)
    passed_by(hung, prod, 2)
    assert (hung.verdict, hung.log_complete) == ("errored", False)
    assert codes(hung)[0] == "log-incomplete"


def test_a_cancel_does_not_wait_for_a_hanging_log(prod: Cluster, fake: FakeCluster, two: tuple[Run, Run]) -> None:
    hung, _ = two
    fake.pod(hung.job_name, node="deaf", running=True)
    passed_by(hung, prod)
    request_cancel(hung, None)
    assert codes(passed_by(hung, prod, 2))[0] == "cancelled"


def test_a_slow_log_is_stored_by_a_later_pass(
    prod: Cluster, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logreads, "WAIT_S", 0.05)
    run = launched(prod)
    fake.asleep.add("gpu-1")
    fake.end(run.job_name, PASSED, node="gpu-1")
    assert passed_by(run, prod).state == "collecting"
    assert run.log_next_at is not None, "another process does not begin the same read"
    fake.awake.set()
    _, work = logreads._under_way[run.pk]
    assert work.done(20)
    assert passed_by(run, prod).verdict == "passed"


def test_a_call_that_hangs_ends_in_its_time_and_the_lease_is_kept(prod: Cluster) -> None:
    kept = []

    class Deaf:
        def get(self, *_: Any, **more: Any) -> bytes:
            time.sleep(30)
            return b""

    api = ClusterApi(Deaf(), "n", instance_name())  # type: ignore[arg-type]
    api.meanwhile = lambda: kept.append(1)
    with pytest.raises(ApiError, match=r"nothing whole came within 0\.1 s"):
        api.get("/", None, 0.1)
    assert kept


def test_within_raises_what_the_work_raises_and_what_happens_meanwhile() -> None:
    assert within(5, lambda: 7, lambda: None, "it") == 7
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0, lambda: None, "it")
    with pytest.raises(TooSlow):
        within(0.01, lambda: time.sleep(1), lambda: None, "it")


def test_a_cluster_that_fails_is_left_alone_ever_longer_up_to_two_minutes() -> None:
    assert 8 <= wait_s(0) <= 10
    assert 16 <= wait_s(1) <= 20
    assert 96 <= wait_s(20) <= 120


def test_one_success_resets_the_waiting(prod: Cluster, fake: FakeCluster) -> None:
    outage = fake.fail("GET", "/jobs$", 0)
    for _ in range(3):
        tasks.reconcile(prod.pk)
    row = Launcher.objects.get()
    assert row.tries == 3
    assert row.next_try_at is not None
    outage.times = 0
    tasks.reconcile(prod.pk)
    row.refresh_from_db()
    assert (row.tries, row.next_try_at) == (0, None)


def test_what_a_pass_has_no_time_for_comes_first_in_the_next(
    prod: Cluster, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = launched(prod), launched(prod, suite="nvidia-smi")
    seen: list[str] = []
    monkeypatch.setattr("validations.lifecycle.step.advance", lambda run, *_: (seen.append(run.pk), time.sleep(0.2)))
    monkeypatch.setattr("validations.lifecycle.reconcile.BUDGET_S", 0.1)
    tasks.reconcile(prod.pk)
    tasks.reconcile(prod.pk)
    assert sorted(seen) == sorted((first.pk, second.pk))
    assert acquire(prod.pk) is not None, "the lease was given back"
