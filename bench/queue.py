"""What runs in the queue cost a pass of the launcher: seconds of one pass with 50 and with 10,000 queued, and their ratio.

On PostgreSQL, beside the scripted API server, all slots taken. `python -m bench.queue` is the part on that database.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.report import emit, percentile

FEW, MANY, PASSES = 50, 10_000, 5


def run(small: bool) -> None:
    """Raises Missing, and CalledProcessError when the measuring part fails."""
    from tests import services
    from tests.processes import ROOT, Processes

    with services.scratch("bench-queue") as folder, services.postgres() as server:
        here = Processes(folder, server.create("queue"), GPUDASH_LOG_LEVEL="ERROR", GPUDASH_MAX_RUNS_PER_CLUSTER="1")
        here.call("migrate", "--verbosity", "0")
        command = [sys.executable, "-m", "bench.queue", *(["--small"] if small else [])]
        subprocess.run(command, cwd=ROOT, env=here.environment, check=True)


def measure_here(small: bool) -> None:
    from tests.factories import make_cluster, make_node
    from tests.validations.fakecluster import FakeCluster
    from tests.validations.recorded import launched
    from validations.models import Run

    with tempfile.TemporaryDirectory() as folder, FakeCluster() as fake:
        cluster = make_cluster("bench")
        cluster.kubeconfig = str(fake.kubeconfig(Path(folder) / "kubeconfig"))
        cluster.save()
        make_node(cluster, "gpu-1", "nvidia", 1, loads=(0.0,))
        since = launched(cluster).state_since
        seconds = []
        for size in (FEW, MANY // 10 if small else MANY):
            Run.objects.filter(state="queued").delete()
            rows = [
                Run(id=f"q{n:014}", cluster=cluster, node_name=f"n{n}", suite="s", namespace="n", state_since=since)
                for n in range(size)
            ]
            Run.objects.bulk_create(rows)
            seconds.append(_pass_s(cluster.pk))
        emit("queue", few=FEW, many=size, few_s=seconds[0], many_s=seconds[1], ratio=seconds[1] / seconds[0])


def _pass_s(cluster_id: int) -> float:
    from validations import tasks

    took = []
    for _ in range(PASSES):
        started = time.perf_counter()
        tasks.reconcile(cluster_id)
        took.append(time.perf_counter() - started)
    return percentile(took, 0.5)


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    measure_here("--small" in sys.argv[1:])
