"""Validations: how fast logs are read, and what a run costs beyond its Job.

parse         MB/s of reading and parsing together, for each suite
run-overhead  seconds from request to stored verdict, less those that the Job took; and calls of the API per run: alone, and in a
              campaign. In a team's deployment with default settings (one tasks and one launch worker of four threads each, beat,
              PostgreSQL, Redis), beside an API server whose Jobs run at once. `python -m bench.validations [--small]` is the part
              that runs on that deployment's database and prints the figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.answers import Answers
from bench.report import emit, measure, percentile, progress

if TYPE_CHECKING:
    from bench.played import PlayedCluster
    from inventory.models import Cluster
    from validations.models import Run

SUITE = "cuda-vectoradd"
#: Between two runs alone, spread over the two seconds of the schedule, so that they do not all begin at the same beat of it.
PAUSE_STEP_S, SCHEDULE_S = 0.37, 2.0
ONE_S, CAMPAIGN_S = 60.0, 240.0
AT_ONCE = 50


def parse() -> None:
    from tests.validations.suites.speed import measure as speeds

    for line in speeds():
        answers = Answers()
        answers.expect("verdict", line.pop("verdict"), line.pop("expected"))
        emit(f"parse {line.pop('input')}", answers, **{name: value for name, value in line.items() if name != "bench"})


def overhead(small: bool) -> None:
    """Raises Missing, and CalledProcessError when the measuring part fails."""
    from tests import services
    from tests.processes import ROOT, Processes

    with services.scratch("bench-runs") as folder, services.postgres() as server, services.redis() as broker:
        team = Processes(folder, server.create("runs"), broker, GPUDASH_LOG_LEVEL="WARNING")
        team.call("migrate", "--verbosity", "0")
        command = [sys.executable, "-m", "bench.validations", *(["--small"] if small else [])]
        try:
            team.celery("tasks", "worker", "-Q", "default", "-P", "threads", "-c", "4", "-n", "tasks@bench")
            team.celery("launch", "worker", "-Q", "launch", "-P", "threads", "-c", "4", "-n", "launch@bench")
            team.celery("beat", "beat", "-s", str(folder / "beat"), "--pidfile", "", "--max-interval", "1")
            for line in measure(command, team.environment, str(ROOT)).output.splitlines():
                said = json.loads(line)
                emit(f"run-overhead {said.pop('mode')}", Answers.of_json(said.pop("answers")), **said)
        except subprocess.CalledProcessError:
            print(team.tail(), file=sys.stderr)
            raise
        finally:
            team.stop()


def measure_here(small: bool) -> None:
    """On the database and the broker of the environment, with workers running."""
    from bench.played import PlayedCluster

    alone, together = (5, 50) if small else (15, 1_000)
    with tempfile.TemporaryDirectory() as folder, PlayedCluster() as played:
        cluster = _cluster(played, Path(folder), 1 + alone + together)
        _one(cluster, 0)  # the workers are up, and connected
        _wait(_all_jobs_gone, ONE_S)
        progress(f"run-overhead: {alone} runs, one after the other")
        _alone(played, cluster, alone)
        progress(f"run-overhead: a campaign of {together}, {AT_ONCE} at once")
        _campaign(played, cluster, 1 + alone, together)


def _cluster(played: PlayedCluster, folder: Path, nodes: int) -> Cluster:
    from tests.factories import Batch, make_cluster, make_node

    row = make_cluster("bench")
    row.kubeconfig = str(played.kubeconfig(folder / "kubeconfig"))
    row.save()
    batch = Batch(row)
    for number in range(nodes):
        make_node(row, _node(number), "nvidia", 1, loads=(0.0,), batch=batch)
    batch.write()
    return row


def _node(number: int) -> str:
    return f"gpu-{number:04d}"


def _alone(played: PlayedCluster, cluster: Cluster, count: int) -> None:
    started, first_call = time.monotonic(), len(played.calls)
    runs = []
    for number in range(1, 1 + count):
        runs.append(_one(cluster, number))
        time.sleep(number * PAUSE_STEP_S % SCHEDULE_S)
    _wait(_all_jobs_gone, ONE_S)
    _report(played, "alone", runs, count, first_call, started)


def _one(cluster: Cluster, number: int) -> Run:
    """A run on this node, from its request to its end."""
    from validations.planning import RunDraft
    from validations.requests import request_run

    run, _ = request_run(RunDraft(suite=SUITE, node=_node(number), cluster=cluster.name))
    _wait(partial(_ended, run), ONE_S)
    run.refresh_from_db()
    return run


def _campaign(played: PlayedCluster, cluster: Cluster, first: int, count: int) -> None:
    from validations import campaigns
    from validations.models import Campaign, Run

    started, first_call = time.monotonic(), len(played.calls)
    spots = [(cluster.name, _node(number), "") for number in range(first, first + count)]
    made, _ = campaigns.create(SUITE, spots, max_parallel=AT_ONCE)
    _wait(lambda: not Campaign.objects.filter(pk=made.pk, state="running").exists(), CAMPAIGN_S)
    _wait(_all_jobs_gone, ONE_S)
    _report(played, "campaign", Run.objects.filter(campaign=made), count, first_call, started, at_once=AT_ONCE)


def _ended(run: Run) -> bool:
    run.refresh_from_db(fields=["state"])
    return not run.active


def _all_jobs_gone() -> bool:
    from validations.models import Run

    return not Run.objects.filter(job_removed=False).exists()


def _wait(done: Callable[[], bool], patience_s: float) -> None:
    """Until the answer is yes. After `patience_s` the benchmark goes on: its report says what has not ended."""
    ends = time.monotonic() + patience_s
    while not done() and time.monotonic() < ends:
        time.sleep(0.05)


def _report(
    played: PlayedCluster,
    mode: str,
    found: Iterable[Run],
    wanted: int,
    first_call: int,
    started: float,
    **more: object,
) -> None:
    from bench.played import JOB_S, kinds

    seconds = time.monotonic() - started
    runs = list(found)
    passed = [run for run in runs if run.verdict == "passed" and run.job_name in played.took]
    beyond = [_seconds(run) - played.took[run.job_name] for run in passed]
    calls = played.calls[first_call:]
    names = {run.job_name for run in runs}
    created = [name for name in played.created if name in names]
    answers = Answers(right=len(passed))
    answers.missing("run", wanted - len(runs))
    answers.wrong.update(str(run.verdict or run.state) for run in runs if run not in passed)
    told = {
        "mode": mode,
        "runs": wanted,
        **more,
        "job_s": JOB_S,
        "p50_s": percentile(beyond, 0.5) if beyond else None,
        "p95_s": percentile(beyond, 0.95) if beyond else None,
        "max_s": max(beyond, default=None),
        "all_s": seconds,
        "api_calls": len(calls),
        "api_calls_per_run": len(calls) / wanted,
        "calls": dict(sorted(kinds(calls).items())),
        "created_twice": len(created) - len(set(created)),
        "jobs_left": len(played.jobs),
        "answers": answers.as_json(),
    }
    print(json.dumps(told), flush=True)


def _seconds(run: Run) -> float:
    """From the request to the stored verdict."""
    assert run.ended_at is not None
    return (run.ended_at - run.created_at).total_seconds()


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    measure_here("--small" in sys.argv[1:])
