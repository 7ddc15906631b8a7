"""Own history at 40,000 cards: a minute written down, an hour folded, and charts of one card and of all over 30 and 90 days.

PostgreSQL, and two processes of gpudash (`charts_visits`): one fills and folds, one asks, so that neither's memory is the other's.
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
    with tables("charts") as processes:
        environment = {**os.environ, **processes.environment}
        progress(f"charts: a mirror of {nodes} nodes, measured")
        measure([sys.executable, "-m", "bench.charts_visits", "fill", str(nodes)], environment, str(ROOT))
        progress("charts: an hour")
        done = measure([sys.executable, "-m", "bench.charts_visits", "record"], environment, str(ROOT))
        for line in json.loads(done.output):
            answers = Answers.of_json(line.pop("answers"))
            emit(f"charts {line.pop('line')}", answers, cards=nodes * 8, **line, peak_mib=done.peak_bytes / MIB)
        progress("charts: pages")
        done = measure([sys.executable, "-m", "bench.charts_visits", "look"], environment, str(ROOT))
        for line in json.loads(done.output):
            kind = "card" if line["name"].startswith("card") else "cluster"
            emit(f"charts {kind}", Answers.of_json(line.pop("answers")), **line)
