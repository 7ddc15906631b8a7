"""What runs in the queue cost a pass of the launcher: seconds of one pass with 50 and with 10,000 queued, and their ratio.

taken  all slots are taken: nothing may be made, and nothing is
free   ten slots are free at each pass, and nothing is in the way: as many Jobs are made
lost   ten slots are free, and the nodes of all that is queued are gone: runs leave the queue, and no Job is made

On PostgreSQL, beside the scripted API server. `python -m bench.queue CASE` is the part on that database, which prints the figures.
"""

from __future__ import annotations

import copy
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.answers import Answers
from bench.report import emit, measure, percentile, progress

if TYPE_CHECKING:
    from inventory.models import Cluster

CASES = ("taken", "free", "lost")
FEW, MANY, PASSES = 50, 10_000, 3
#: Jobs that one pass may make.
SLOTS, MADE_S = 10, 10.0
SUITE = "cuda-vectoradd"


def run(small: bool) -> None:
    """Raises Missing, and CalledProcessError when the measuring part fails."""
    from tests import services
    from tests.processes import ROOT, Processes

    with services.scratch("bench-queue") as folder, services.postgres() as server:
        for case in CASES:
            own = folder / case
            own.mkdir()
            here = Processes(own, server.create(f"queue_{case}"), GPUDASH_LOG_LEVEL="ERROR")
            here.call("migrate", "--verbosity", "0")
            progress(f"queue: {case}")
            command = [sys.executable, "-m", "bench.queue", case, *(["--small"] if small else [])]
            said = json.loads(measure(command, here.environment, str(ROOT)).output)
            emit(f"queue {case}", Answers.of_json(said.pop("answers")), **said)


def measure_here(case: str, small: bool) -> dict[str, Any]:
    """The median pass with few and with many in the queue; each pass must have done what the case is about."""
    from django.conf import settings

    from tests.factories import make_cluster
    from tests.validations.fakecluster import FakeCluster
    from validations import tasks
    from validations.models import Run

    answers, seconds, sizes = Answers(), [], (FEW, MANY // 10 if small else MANY)
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder, FakeCluster() as fake:
            setattr(fake._http.RequestHandlerClass, "disable_nagle_algorithm", True)  # noqa: B010 - as in `played`
            cluster = make_cluster(f"of-{size}")
            cluster.kubeconfig = str(fake.kubeconfig(Path(folder) / "kubeconfig"))
            cluster.save()
            _queue(cluster, size, nodes=SLOTS * (PASSES + 1) + 1 if case == "free" else 1)
            queued = Run.objects.filter(cluster=cluster, state="queued")
            settings.MAX_RUNS_PER_CLUSTER = 1
            tasks.reconcile(cluster.pk)  # the first one takes the slot; it is not counted, since it makes connections
            took = []
            for number in range(1, PASSES + 1):
                if case != "taken":
                    settings.MAX_RUNS_PER_CLUSTER = 1 + SLOTS * number
                left, made = queued.count(), len(fake.created)
                started = time.perf_counter()
                tasks.reconcile(cluster.pk)
                took.append(time.perf_counter() - started)
                # Creations may go on when the pass is over.
                until = time.monotonic() + MADE_S
                while case == "free" and len(fake.created) - made < SLOTS and time.monotonic() < until:
                    time.sleep(0.02)
                _look(case, answers, left - queued.count(), len(fake.created) - made)
            seconds.append(percentile(took, 0.5))
    few, many = seconds
    return {
        "few": FEW,
        "many": sizes[1],
        "few_s": few,
        "many_s": many,
        "ratio": many / few,
        "answers": answers.as_json(),
    }


def _look(case: str, answers: Answers, taken: int, made: int) -> None:
    if case == "lost":
        answers.expect("Jobs made", made, 0)
        answers.count("" if taken >= SLOTS else f"{taken} runs of a node that is gone left the queue in a pass")
    else:
        wanted = SLOTS if case == "free" else 0
        answers.expect("Jobs made and runs taken from the queue", (made, taken), (wanted, wanted))


def _queue(cluster: Cluster, size: int, nodes: int) -> None:
    """So many runs, each of a node of its own, of which the first `nodes` are there; copies of one that was asked for."""
    from inventory.models import Card
    from tests.factories import Batch, make_node
    from validations.models import Run
    from validations.planning import RunDraft
    from validations.requests import request_run

    batch = Batch(cluster)
    for number in range(nodes):
        make_node(cluster, f"gpu-{number}", "nvidia", 1, loads=(0.0,), batch=batch)
    batch.write()
    first, _ = request_run(RunDraft(suite=SUITE, node="gpu-0", cluster=cluster.name))
    first.refresh_from_db()
    cards = {card.node_name: card for card in Card.objects.filter(cluster=cluster)}
    rows = []
    for number in range(1, size + 1):
        row = copy.copy(first)
        row.pk, row.node_name = f"{cluster.pk}q{number:013}", f"gpu-{number}"
        row.card = cards.get(row.node_name)
        row.card_key = row.card_uuid = row.card.key if row.card is not None else f"GPU-{row.node_name}-0"
        rows.append(row)
    Run.objects.bulk_create(rows)


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    print(json.dumps(measure_here(sys.argv[1], "--small" in sys.argv[2:])))
