"""An API server that hangs on calls for one run holds up no other: a pass loses the time of one such call, however many there are."""

from __future__ import annotations

import time

import pytest

from inventory.models import Cluster
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, codes, launched, passed_by
from validations.lifecycle import cluster_api, removal
from validations.models import Run
from validations.requests import request_cancel

MANY = 6
#: Of one call that hangs, here.
ONE_S = 0.4
DELETES, EVENTS = "^DELETE .*/jobs/", "^GET .*/events$"


@pytest.fixture
def runs(prod: Cluster, fake: FakeCluster, settings: object, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    monkeypatch.setattr(cluster_api, "ONE_S", ONE_S, raising=False)
    for name in ("MAX_RUNS_PER_CLUSTER", "MAX_RUNS_PER_USER", "MAX_RUNS_PER_NODE"):
        setattr(settings, name, 20)
    for number in range(MANY):
        make_node(prod, f"new-{number}", "nvidia", 1, loads=(0.0,))
    made = [launched(prod, node=f"new-{number}") for number in range(MANY)]
    fake.calls.clear()
    return made


def seconds_of_a_pass(run: Run, cluster: Cluster) -> float:
    began = time.monotonic()
    passed_by(run, cluster)
    return time.monotonic() - began


def called(fake: FakeCluster, method: str) -> int:
    return sum(call.startswith(method) for call in fake.calls)


def test_endings_do_not_wait_for_each_others_deletions(prod: Cluster, fake: FakeCluster, runs: list[Run]) -> None:
    fake.end(runs[0].job_name, PASSED)
    for run in runs[1:]:
        request_cancel(run, None)
    fake.hangs = DELETES
    # The log of the one that passed is waited for too.
    assert seconds_of_a_pass(runs[0], prod) < 2 * ONE_S + 2
    assert (Run.objects.get(pk=runs[0].pk).verdict, called(fake, "DELETE")) == ("passed", 1)
    for run in runs[1:]:
        run.refresh_from_db()
        assert codes(run) == ["cancelled"]
    fake.hangs = ""
    fake.awake.set()
    passed_by(runs[0], prod, 2)
    assert fake.jobs == {}


def test_one_job_whose_deletion_hangs_does_not_keep_the_others(
    prod: Cluster, fake: FakeCluster, runs: list[Run]
) -> None:
    fake.hangs = f"^DELETE .*/{runs[0].job_name}$"
    for run in runs:
        request_cancel(run, None)
    passed_by(runs[0], prod, 3)
    assert set(fake.jobs) == {runs[0].job_name}


def test_jobs_that_no_run_knows_are_bounded_too(prod: Cluster, fake: FakeCluster, runs: list[Run]) -> None:
    Run.objects.all().delete()
    fake.hangs = DELETES
    began = time.monotonic()
    launched(prod)
    assert time.monotonic() - began < 2 * ONE_S + 2
    assert called(fake, "DELETE") == 1


def test_a_pass_has_an_end_where_each_deletion_is_slow(
    prod: Cluster, fake: FakeCluster, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "REMOVE_S", 0.0, raising=False)
    for run in runs:
        request_cancel(run, None)
    passed_by(runs[0], prod)
    assert called(fake, "DELETE") == 0
    assert {Run.objects.get(pk=run.pk).state for run in runs} == {"ended"}


def test_events_that_hang_hold_up_no_end(prod: Cluster, fake: FakeCluster, runs: list[Run]) -> None:
    """Runs without a pod ask for events at each look."""
    fake.end(runs[-1].job_name, PASSED)
    Run.objects.update(pending_message="")
    fake.hangs = EVENTS
    assert seconds_of_a_pass(runs[-1], prod) < ONE_S + 3
    asked = sum(call.endswith("/events") for call in fake.calls)
    assert (runs[-1].verdict, asked) == ("passed", 1)
