"""`manage.py inspect -o json` of the whole large cluster: seconds from the start of the command to its last byte, and its peak.

Needs PostgreSQL; the mirror is made straight in the tables (`rows`). Each node and each card of it must be in what is printed.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

from bench.answers import Answers
from bench.report import MIB, emit, measure, progress
from bench.tables import tables
from tests.processes import ROOT

ROUNDS = 3


def run(small: bool) -> None:
    """Raises Missing."""
    nodes = 200 if small else 5000
    with tables("inspect", GPUDASH_LOG_LEVEL="WARNING") as here:
        progress(f"inspect: a mirror of {nodes} nodes")
        filling = [sys.executable, "-m", "bench.rows", str(nodes), "1"]
        subprocess.run(filling, cwd=ROOT, env=here.environment, check=True, stdout=subprocess.DEVNULL)
        answers, seconds, cpu, peak = Answers(), [], [], 0
        for _ in range(ROUNDS):
            done = measure([sys.executable, "manage.py", "inspect", "-o", "json"], here.environment, str(ROOT))
            seconds.append(done.seconds)
            cpu.append(done.cpu_s)
            peak = max(peak, done.peak_bytes)
            _look(answers, json.loads(done.output), nodes)
        emit(
            "inspect", answers, nodes=nodes, seconds=statistics.median(seconds), cpu_s=statistics.median(cpu),
            peak_mib=peak / MIB, bytes=len(done.output),
        )  # fmt: skip


def _look(answers: Answers, said: dict[str, object], nodes: int) -> None:
    found = said["nodes"]
    assert isinstance(found, list)
    answers.expect("nodes", len(found), nodes)
    answers.expect(
        "nodes whose cards are all there", sum(len(one["cards"]) >= one["cards_total"] > 0 for one in found), nodes
    )
