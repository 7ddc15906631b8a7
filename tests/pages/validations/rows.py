"""Rows of validations for tests of the pages, as launcher and reconciler would have written them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from inventory.models import Card, Cluster
from validations import logstore
from validations.lastresults import refresh_last
from validations.lifecycle.judging import PASSING
from validations.models import SAYS, Measurement, Run, RunStep, State
from validations.suites import find

PASSED_LOG = b"""[Vector addition of 50000 elements]
Copy input data from the host memory to the CUDA device
CUDA kernel launch with 196 blocks of 256 threads
Copy output data from the CUDA device to the host memory
Test PASSED
Done
"""
WORKLOAD = "w" * 32


def make_run(
    cluster: Cluster,
    *,
    suite: str = "cuda-vectoradd",
    node: str = "gpu-1",
    card: Card | None = None,
    state: str = "ended",
    verdict: str | None = None,
    reasons: Sequence[Mapping[str, Any]] = (),
    log: bytes = b"",
    measurements: Mapping[str, tuple[float, str]] | None = None,
    driver: str = "550.54.15",
    minutes_ago: float = 5.0,
    **columns: Any,
) -> Run:
    """A run with its steps, log and numbers. An ended one passed unless `verdict` says otherwise, and counts as the last result."""
    began = timezone.now() - timedelta(minutes=minutes_ago)
    ended = state == State.ENDED
    run = Run.objects.create(
        suite=suite,
        cluster=cluster,
        node_name=node,
        card=card,
        card_key=card.key if card else "",
        card_model=card.model if card else "",
        card_evidence="target" if card else "",
        driver_version=driver,
        workload_key=WORKLOAD,
        image="registry.example/suite:1",
        manifest={"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "gpudash-x"}},
        state=State.QUEUED,
        state_since=began,
        namespace="gpudash-validations",
        requested_by_name="olga",
        created_at=began,
    )
    if log:
        logstore.append(run, log, len(log))
    columns |= {"state": state, "reasons": list(reasons)}
    if ended:
        columns |= {"verdict": verdict or "passed", "ended_at": began + timedelta(seconds=40), "parser_version": 1}
        columns.setdefault("log_complete", True)
        columns.setdefault("exit_code", 0)
        columns = _level(suite, verdict or "passed") | columns
    Run.objects.filter(pk=run.pk).update(**columns)
    run.refresh_from_db()
    _steps(run, state, began)
    Measurement.objects.bulk_create(
        Measurement(run=run, name=name, value=value, unit=unit) for name, (value, unit) in (measurements or {}).items()
    )
    if ended:
        refresh_last(run)
    return run


def _level(suite: str, verdict: str) -> dict[str, str]:
    """What such a run proves when its log lowers nothing."""
    found = find(suite)
    level = found.level if found is not None and verdict in SAYS else ""
    return {"level_possible": level, "level": level if verdict in PASSING else ""}


def _steps(run: Run, state: str, began: datetime) -> None:
    """Ten seconds for each step up to the state."""
    reached = [one for one in State if one.rank <= State(state).rank]
    RunStep.objects.bulk_create(
        RunStep(run=run, state=one, entered_at=began + timedelta(seconds=10 * number))
        for number, one in enumerate(reached)
    )


def reason(code: str, text: str, line: int | None = None) -> dict[str, Any]:
    return {"code": code, "text": text, "line": line}
