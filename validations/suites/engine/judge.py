"""Text and exit code are judged together: one place where observations become a verdict.

Order: a "no" of hardware or driver (failed) weighs more than a test that could not be carried out (errored), that more than
a warning. Passed needs the verdict line and an exit code that is 0, or a caller who says that there is none to be had.
"""

from __future__ import annotations

from collections.abc import Mapping

from validations.suites.engine.exits import Code, observe
from validations.suites.engine.log import Lines
from validations.suites.engine.verdict import Observation, Outcome, Reading, Reason, Result, Verdict
from wording.said import sentence

_WEIGHT: dict[Verdict, int] = {"failed": 0, "errored": 1, "warning": 2, "skipped": 3, "passed": 4}
#: More reasons than these say nothing new; how many were left out is said.
MOST_REASONS = 24


def judge(
    suite: str, version: int, lines: Lines, reading: Reading, outcome: Outcome, exits: Mapping[int, Code] | None = None
) -> Result:
    """The result of a run from what its log and its end say. exits: what the program's own exit codes mean."""
    explained = reading.has("failed", "errored")
    seen = list(reading.observations)
    seen += observe(outcome, explained, exits or {})
    if not _proven(reading, outcome) and not explained and not reading.has("skipped"):
        seen.append(_unproven(lines, reading))
    if lines.cut:
        size = sentence("an unknown number of") if lines.left_out is None else lines.left_out
        seen.append(
            Observation(
                "passed", "log-cut", sentence("Log truncated: {size} bytes are missing in the middle.", size=size)
            )
        )
    seen.sort(key=lambda one: _WEIGHT[one.severity])
    return Result(
        suite=suite,
        parser_version=version,
        verdict=seen[0].severity if seen else "passed",
        reasons=_reasons(seen),
        facts=reading.facts,
        measurements=reading.measurements,
        proof=reading.proof if _proven(reading, outcome) else None,
        grade=reading.grade,
    )


def _proven(reading: Reading, outcome: Outcome) -> bool:
    return reading.proof is not None and (reading.stands_alone or outcome.exit_code is not None)


def _unproven(lines: Lines, reading: Reading) -> Observation:
    """The last line of the log is where the verdict is missing."""
    last = next((number for number, text in reversed(list(lines)) if text.strip()), None)
    text = sentence("The log is empty.") if last is None else reading.missing
    return Observation("errored", "no-verdict", text, last)


def _reasons(seen: list[Observation]) -> list[Reason]:
    reasons = [Reason(one.code, one.text, one.line) for one in seen[:MOST_REASONS]]
    if len(seen) > MOST_REASONS:
        reasons.append(
            Reason(
                "more",
                sentence("{number} more reasons are not listed.", number=len(seen) - MOST_REASONS),
            )
        )
    return reasons
