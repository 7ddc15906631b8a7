"""Each page, each REST list and /metrics at the size of the large cluster: one process, PostgreSQL, in-process requests.

Each card has results of three suites. The medians are of 15 requests after one that is not counted. Runs in a process of its own
(`visits`), signed in as a viewer.
"""

from __future__ import annotations

import json
import sys

from bench.answers import Answers
from bench.bed import Bed
from bench.report import emit, measure, progress
from tests.processes import ROOT


def run(bed: Bed) -> None:
    synced = bed.synced()
    progress("pages: a result of three suites on each card")
    measure([sys.executable, "-m", "bench.validated"], synced.environment, str(ROOT))
    progress("pages: 15 requests of each")
    done = measure([sys.executable, "-m", "bench.visits"], synced.environment, str(ROOT))
    for line in done.output.splitlines():
        visit = json.loads(line)
        emit(f"pages {visit.pop('sort')}", Answers.of_json(visit.pop("answers")), **visit)
