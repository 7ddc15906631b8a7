"""The main path against the demo's API server: a request, a Job, a log, a stored verdict, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings

from gpudash.demo.server import Server
from inventory.models import Cluster, Node
from validations import tasks
from validations.models import Run
from validations.planning import Wish, plan
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


def free_node(cluster: Cluster, suite: str) -> str:
    names = Node.objects.filter(cluster=cluster, has_gpu=True).order_by("name").values_list("name", flat=True)
    return next(str(name) for name in names if not plan(Wish(suite=suite, node=name)).reasons)


@pytest.mark.parametrize("suite", ["cuda-vectoradd", "nvidia-smi", "directx-device-discovery"])
def test_a_request_becomes_a_stored_verdict(demo: Server, demo_cluster: Cluster, suite: str) -> None:
    run, new = request_run(Wish(suite=suite, node=free_node(demo_cluster, suite)))
    assert new
    states = list(dict.fromkeys(play(demo, demo_cluster, run)))
    print(
        states,
        run.verdict,
        run.reasons,
        run.facts,
        run.exit_code,
        run.image_digest,
        run.log_stored,
        run.started_at,
        run.ended_at,
    )
    assert run.state == "ended"
    assert run.verdict in ("passed", "warning", "failed", "errored")
    assert run.job_removed
    assert run.namespace == settings.VALIDATION_NAMESPACE
