"""Hosts whose clocks are wrong: what is stored and compared is the database's time, whatever this process believes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from inventory.models import Cluster
from runtime.clock import database_now
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, later, launched, passed_by
from validations import tasks
from validations.lifecycle.launching import acquire
from validations.models import Launcher, Run, RunStep

OFF = [15, -15, -3600]
Wrong = Callable[[float], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Wrong:
    """This process's clock is off by so many seconds from now on."""
    right = timezone.now

    def off(seconds: float) -> None:
        monkeypatch.setattr("django.utils.timezone.now", lambda: right() + timedelta(seconds=seconds))

    return off


@pytest.mark.parametrize("seconds", OFF)
def test_a_run_is_carried_through_by_processes_whose_clocks_differ(
    prod: Cluster, fake: FakeCluster, clock: Wrong, seconds: float
) -> None:
    run = launched(prod)
    clock(seconds)
    fake.pod(run.job_name, node="gpu-1", running=True)
    assert passed_by(run, prod).state == "running"
    assert run.extended_s == 0
    clock(-seconds)
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).verdict == "passed"
    now = database_now()
    moments: list[datetime] = list(RunStep.objects.values_list("entered_at", flat=True))
    stored: list[Any] = [run.created_at, run.state_since, run.ended_at, *moments]
    assert all(abs(now - moment) < timedelta(minutes=5) for moment in stored)


@pytest.mark.parametrize("seconds", OFF)
def test_what_is_due_is_found_by_a_schedule_whose_clock_is_wrong(
    prod: Cluster, fake: FakeCluster, clock: Wrong, seconds: float
) -> None:
    fake.fail("GET", "/jobs$", 0)
    run = launched(prod)
    clock(seconds)
    assert tasks.dispatch_reconcilers() == 0, "it is left alone for some seconds"
    Launcher.objects.update(next_try_at=database_now() - timedelta(seconds=1))
    assert tasks.dispatch_reconcilers() == 1
    later(run, 0)
    assert acquire(prod.pk) is not None
    assert acquire(prod.pk) is None, "the lease of another is respected"


def test_a_deadline_is_the_databases_too(prod: Cluster, fake: FakeCluster, clock: Wrong) -> None:
    clock(-3600)
    run = launched(prod)
    fake.pod(run.job_name, unschedulable="no room")
    passed_by(run, prod)
    clock(3600)
    assert passed_by(run, prod).active
    later(run, 601)
    clock(-3600)
    assert not passed_by(run, prod).active
    assert Run.objects.get().ended_at is not None
