"""A pass rests on more lines than the one that says so: without any of those that show that each card did its work, nothing passes.

`EVIDENCE` says which lines of a suite's log those are. Any other line may be missing: the verdict is then the same, or no pass.
"""

from __future__ import annotations

import re

import pytest

from tests.validations.suites.golden import Case, cases
from validations.suites.engine.base import Outcome, read_log, stored_text

EVIDENCE = {
    "gpu-burn": r"GPU \d|Initialized|.*Burning for|\r95|\r.*\r100|Tested|\tGPU",
    "hip-vectoradd": r" agent prop name|hip Device|PASSED!",
    "nccl-multinode": r"(\[\S+\]<stdout>: ?)?(# nThread|#\s+Rank|\s+\d+\s+\d+\s+float|# Out of|# Avg)",
    "nvbandwidth": r"nvbandwidth Version|Process|Device|Running|\s+0\s|\s?0\s|SUM",
    "rccl-allreduce": r"# nThread|rccl-tests|#\s+Rank|\s+\d+\s+\d+\s+float|# Out of|# Avg",
    "rocm-smi": r"=+ (?:ROCm System|End of ROCm)|GPU\[\d\]\t+: (?:Card Series|PCI Bus)",
    "rocm-validation-suite": r".* - GPU\[|.*Start of GPU|.*met: TRUE|.*\| (?:gst|gpustress)",
}
PASSED = [case for case in cases() if case.suite.id in EVIDENCE and case.expected["verdict"] == "passed"]


def verdict(case: Case, lines: list[str]) -> str:
    return case.suite.parse(read_log("\n".join(lines).encode()), Outcome(exit_code=0)).verdict


def test_each_of_these_suites_has_a_pass_of_one_and_of_two_cards() -> None:
    assert {suite for suite in EVIDENCE if sum(case.suite.id == suite for case in PASSED) < 2} == set()


@pytest.mark.parametrize("case", PASSED, ids=lambda case: case.name)
def test_no_line_that_shows_the_work_of_a_card_can_be_missing(case: Case) -> None:
    lines = stored_text(case.raw).split("\n")
    shown = [at for at, text in enumerate(lines) if re.match(EVIDENCE[case.suite.id], text)]
    assert len(shown) > 2
    assert [lines[at] for at in shown if verdict(case, lines[:at] + lines[at + 1 :]) in ("passed", "warning")] == []


@pytest.mark.parametrize("case", PASSED, ids=lambda case: case.name)
def test_a_log_with_a_line_twice_or_half_is_never_more_than_the_pass_that_it_was(case: Case) -> None:
    """Lines of two programs that write at once; a line that was cut. No card is added, and no figure is another one."""
    lines = stored_text(case.raw).split("\n")
    for at, text in enumerate(lines):
        for other in ([text, text], [text[: len(text) // 2]]):
            raw = "\n".join(lines[:at] + other + lines[at + 1 :]).encode()
            result = case.suite.parse(read_log(raw), Outcome(exit_code=0))
            if result.verdict in ("passed", "warning"):
                measured = {key: {"value": one.value, "unit": one.unit} for key, one in result.measurements.items()}
                assert measured == case.expected["measurements"], text
