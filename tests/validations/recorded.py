"""Logs and shortcuts that several tests use."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import F

from inventory.models import Cluster
from validations import tasks
from validations.models import Launcher, Run
from validations.planning import RunDraft
from validations.requests import request_run

PASSED = b"""[Vector addition of 50000 elements]
Copy input data from the host memory to the CUDA device
CUDA kernel launch with 196 blocks of 256 threads
Copy output data from the CUDA device to the host memory
Test PASSED
Done
"""
FAILED = b"""[Vector addition of 50000 elements]
CUDA kernel launch with 196 blocks of 256 threads
Result verification failed at element 17!
"""


def wish(node: str = "gpu-1", suite: str = "cuda-vectoradd", **more: Any) -> RunDraft:
    return RunDraft(suite=suite, node=node, **more)


def launched(cluster: Cluster, **more: Any) -> Run:
    """A run whose Job has been created."""
    run, _ = request_run(wish(**more))
    return passed_by(run, cluster)


def passed_by(run: Run, cluster: Cluster, times: int = 1) -> Run:
    """After this many passes of the reconciler."""
    for _ in range(times):
        tasks.reconcile(cluster.pk)
    run.refresh_from_db()
    return run


def later(run: Run, seconds: float, seen: bool = True) -> None:
    """Let time pass for this run: everything that it remembers moves into the past. seen: the reconciler looked all the while."""
    ago = timedelta(seconds=seconds)
    moved = {"state_since": F("state_since") - ago, "step_deadline_at": F("step_deadline_at") - ago}
    Run.objects.filter(pk=run.pk).update(**moved, trouble_since=F("trouble_since") - ago)
    Run.objects.filter(pk=run.pk).update(
        due_at=F("due_at") - ago, delete_next_at=F("delete_next_at") - ago, log_next_at=F("log_next_at") - ago
    )
    if not seen:
        Launcher.objects.update(reached_at=F("reached_at") - ago)


def codes(run: Run) -> list[str]:
    return [reason["code"] for reason in run.reasons]
