"""The main path against the demo's API server: a request, a Job, a log, a stored verdict, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleetsim.server import Server
from inventory.models import Cluster
from tests.validations.recorded import codes
from validations import tasks
from validations.models import Run
from validations.planning import RunDraft
from validations.requests import request_run


def play(demo: Server, cluster: Cluster, run: Run, seconds: int = 900) -> Iterator[str]:
    """Let the fleet and the reconciler take turns, a second of the fleet each; the states on the way."""
    for _ in range(seconds):
        demo.fleet.step(demo.fleet.now + 1.0)
        tasks.reconcile(cluster.pk)
        run.refresh_from_db()
        yield run.state
        if not run.active and run.job_removed:
            return


@pytest.mark.parametrize(
    ("suite", "node", "verdict", "code"),
    [
        ("cuda-vectoradd", "gpu-t4-01", "passed", ""),
        ("cuda-vectoradd", "gpu-v100-02", "failed", "verification"),
        ("cuda-vectoradd", "hami-4090-02", "errored", "evicted"),
        ("directx-device-discovery", "akswgpu000002", "failed", "no-adapter"),
    ],
)
def test_a_request_becomes_a_stored_verdict(
    demo: Server, demo_cluster: Cluster, suite: str, node: str, verdict: str, code: str
) -> None:
    run, new = request_run(RunDraft(suite=suite, node=node, queue_if_full=True))
    assert new
    states = list(dict.fromkeys(play(demo, demo_cluster, run)))
    assert states[-1] == "ended"
    assert "running" in states
    assert (run.verdict, codes(run)[:1]) == (verdict, [code] if code else []), run.reasons
    assert run.job_removed
    assert run.log_stored > 0
