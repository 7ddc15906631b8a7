"""An API server that hangs on creations holds up creations, and no other run."""

from __future__ import annotations

import time
from typing import Any

import pytest

from inventory.models import Cluster
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, codes, launched, passed_by, wish
from validations import tasks
from validations.lifecycle import creations
from validations.models import Run
from validations.requests import request_cancel, request_run

HUNG = 8


@pytest.fixture
def hung(
    prod: Cluster, fake: FakeCluster, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> tuple[Run, Run, list[Run]]:
    """A run whose container has ended, one that is cancelled, and HUNG that are to be created."""
    monkeypatch.setattr(creations, "WAIT_S", 0.3)
    monkeypatch.setattr("validations.lifecycle.reconcile.WAIT_S", 0.3)
    settings.MAX_RUNS_PER_CLUSTER = settings.MAX_RUNS_PER_USER = settings.MAX_RUNS_PER_NODE = 20
    done, unwanted = launched(prod), launched(prod, suite="nvidia-smi")
    fake.pod(unwanted.job_name, node="gpu-1", running=True)
    fake.end(done.job_name, PASSED)
    request_cancel(unwanted, None)
    for number in range(HUNG):
        make_node(prod, f"new-{number}", "nvidia", 1, loads=(0.0,))
    fake.hangs = "^POST .*/jobs$"
    fake.calls.clear()
    return done, unwanted, [request_run(wish(node=f"new-{number}"))[0] for number in range(HUNG)]


def posts(fake: FakeCluster) -> int:
    return sum(call.startswith("POST") and call.endswith("/jobs") for call in fake.calls)


def test_ending_and_cancelling_do_not_wait_for_creations(
    prod: Cluster, fake: FakeCluster, hung: tuple[Run, Run, list[Run]]
) -> None:
    done, unwanted, new = hung
    began = time.monotonic()
    passed_by(done, prod)
    assert time.monotonic() - began < 5
    unwanted.refresh_from_db()
    assert (done.verdict, codes(unwanted)[0]) == ("passed", "cancelled")
    passed_by(done, prod, 2)
    assert posts(fake) == creations.MOST, "a bounded number hangs"
    assert {Run.objects.get(pk=run.pk).state for run in new} == {"creating"}
    fake.hangs = ""
    fake.awake.set()
    for posted in list(creations._under_way.values()):
        assert posted.work.done(20)
    passed_by(done, prod, 2)
    assert {Run.objects.get(pk=run.pk).state for run in new} == {"pending"}
    assert sorted(fake.created[2:]) == sorted(run.job_name for run in new), "each once"


def test_a_launch_at_once_leaves_a_creation_that_hangs_to_the_passes(
    prod: Cluster, fake: FakeCluster, hung: tuple[Run, Run, list[Run]]
) -> None:
    tasks.reconcile(prod.pk)
    began = time.monotonic()
    for run in hung[2]:
        tasks.launch(run.pk)
    assert time.monotonic() - began < 5
    assert posts(fake) == creations.MOST


def test_a_run_that_is_cancelled_while_its_creation_hangs_leaves_no_job(
    prod: Cluster, fake: FakeCluster, hung: tuple[Run, Run, list[Run]]
) -> None:
    run = hung[2][0]
    passed_by(run, prod)
    request_cancel(run, None)
    assert codes(passed_by(run, prod)) == ["cancelled"]
    fake.hangs = ""
    fake.awake.set()
    for posted in list(creations._under_way.values()):
        assert posted.work.done(20)
    passed_by(run, prod, 2)
    assert run.job_name not in fake.jobs
