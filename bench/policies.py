"""Five policies over 40,000 cards: a first look that writes all states, one that finds nothing new, and one after 1 % of the nodes
got another driver. PostgreSQL; in a process of gpudash of its own (`policies_passes`).
"""

from __future__ import annotations

import json
import os
import sys

from bench.answers import Answers
from bench.report import MIB, emit, measure, progress
from bench.tables import tables
from tests.processes import ROOT

NODES, SMALL_NODES = 5000, 200


def run(small: bool) -> None:
    """Raises Missing."""
    nodes = SMALL_NODES if small else NODES
    with tables("policies") as processes:
        environment = {**os.environ, **processes.environment}
        progress(f"policies: a mirror of {nodes} nodes, each card with a run of three suites")
        measure([sys.executable, "-m", "bench.policies_passes", "fill", str(nodes)], environment, str(ROOT))
        progress("policies: passes")
        done = measure([sys.executable, "-m", "bench.policies_passes", "look"], environment, str(ROOT))
        for line in json.loads(done.output):
            answers = Answers.of_json(line.pop("answers"))
            emit(f"policies {line.pop('line')}", answers, cards=nodes * 8, **line, peak_mib=done.peak_bytes / MIB)
