"""What a cluster says and no table can hold: it is that run's own trouble, it is told, and nothing is passed by it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DataError

from inventory.models import Cluster
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, codes, later, launched, passed_by
from validations import tasks
from validations.lifecycle import end
from validations.models import Run
from validations.reparse import request_reparse

pytestmark = pytest.mark.django_db(transaction=True)

#: What the container's end says: field, value.
STRANGE: list[tuple[str, Any]] = [
    ("signal", 2**40), ("exitCode", 2**40), ("exitCode", -(2**70)), ("reason", "a\0b"), ("startedAt", "99999-01-01T00:00:00Z"),
    ("startedAt", "9999-12-31T23:59:59-14:00"), ("startedAt", "no time"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), STRANGE, ids=str)
def test_a_strange_end_is_that_runs_own_trouble(prod: Cluster, fake: FakeCluster, name: str, value: Any) -> None:
    strange, good = launched(prod), launched(prod, suite="nvidia-smi")
    for run in (strange, good):
        fake.end(run.job_name, PASSED)
    fake.pods[strange.job_name]["status"]["containerStatuses"][0]["state"]["terminated"][name] = value
    passed_by(strange, prod)
    good.refresh_from_db()
    assert (strange.state, good.state) == ("ended", "ended")
    if isinstance(value, int):
        assert (strange.verdict, "invalid-container-status" in codes(strange)) == ("errored", True)
        assert str(value) in str(strange.reasons)


@pytest.mark.parametrize("field", ["name", "uid", "imageID"])
def test_a_nul_in_a_name_stops_nothing(prod: Cluster, fake: FakeCluster, field: str) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED)
    pod = fake.pods[run.job_name]
    where = pod["status"]["containerStatuses"][0] if field == "imageID" else pod["metadata"]
    where[field] = f"{where[field]}\0x"
    passed_by(run, prod, 2)
    assert run.state == "ended"


def test_a_row_that_cannot_be_stored_ends_in_its_time_and_its_neighbours_at_once(
    prod: Cluster, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = launched(prod), launched(prod, suite="nvidia-smi")
    for run in (bad, good):
        fake.end(run.job_name, PASSED)
    judged = end.judge

    def judge(run: Run, *rest: Any) -> Any:
        if run.pk == bad.pk:
            raise DataError("integer out of range")
        return judged(run, *rest)

    monkeypatch.setattr(end, "judge", judge)
    passed_by(bad, prod)
    good.refresh_from_db()
    assert (bad.active, good.state) == (True, "ended")
    assert "DataError" in bad.last_error
    later(bad, 301)
    passed_by(bad, prod)
    assert (bad.verdict, codes(bad)) == ("errored", ["internal"])
    assert bad.log_complete is False


def test_a_log_that_cannot_be_read_again_is_not_tried_for_ever(
    prod: Cluster, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED)
    request_reparse(passed_by(run, prod))

    def broken(*_: Any) -> None:
        raise DataError("a mistake")

    monkeypatch.setattr(tasks, "reparse", broken)
    tasks.reparse_run(run.pk)
    run.refresh_from_db()
    assert (run.verdict, run.reparse_requested_at) == ("passed", None)
