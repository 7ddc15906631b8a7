"""Parse speed of each suite, one JSON object per line: `python -m tests.validations.suites.speed`.

The input is a recorded log of the suite, repeated: what counts is the cost of a line, in time of one core.
`lines` reads noise of the same size, such as a program's own debug output.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from tests.validations.suites.golden import cases
from validations.suites import registry
from validations.suites.engine.base import Outcome, Suite, read_log

MEGABYTES = 8
NOISE = b"2026/03/04 05:06:07 info: worker 17 of pool default finished step 4711 in 12.5 ms, queue is empty\n"


def measure() -> Iterator[dict[str, object]]:
    """MB/s of reading and parsing together, on one core."""
    recorded = cases()
    for suite in registry().values():
        case = max(
            (case for case in recorded if case.suite is suite and b"\0" not in case.raw), key=lambda one: len(one.raw)
        )
        once = suite.parse(read_log(case.raw), case.outcome)
        yield _timed(suite, "log", case.raw, once.verdict, case.expected["verdict"])
        # A log that says nothing proves nothing.
        yield _timed(suite, "noise", NOISE, suite.parse(read_log(NOISE), Outcome(exit_code=0)).verdict, "errored")


def _timed(suite: Suite, kind: str, piece: bytes, verdict: str, expected: str) -> dict[str, object]:
    """verdict: of the piece alone, beside the one that is known otherwise: what is fast and wrong is not fast."""
    raw = piece * (MEGABYTES * 1_000_000 // len(piece))
    start = time.process_time()
    suite.parse(read_log(raw), Outcome(exit_code=0))
    seconds = time.process_time() - start
    speed = round(len(raw) / 1e6 / seconds, 1)
    return {
        "bench": "parse",
        "suite": suite.id,
        "input": kind,
        "mb_per_s": speed,
        "verdict": verdict,
        "expected": expected,
    }


if __name__ == "__main__":
    for line in measure():
        print(json.dumps(line))
