"""What holds for every log: nothing raises, noise proves nothing, a pass needs its verdict line and an exit code of 0."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.validations.suites.golden import ROOT, Case, cases
from validations.suites import registry
from validations.suites.engine.base import TEXT_ALONE, Outcome, Suite, read_log, stored_text, to_json

CASES = cases()
PASSING = [case for case in CASES if case.expected["verdict"] in ("passed", "warning")]
SUITES = list(registry().values())
#: Words that parsers look for, to get deep into them with little.
WORDS = sorted({word for case in CASES for word in stored_text(case.raw).split("\n") if 0 < len(word) < 200})


def _lines(case: Case) -> list[str]:
    return stored_text(case.raw).replace("\r", "\n").split("\n")


OUTCOMES = st.builds(
    Outcome,
    exit_code=st.none() | st.integers(-(2**31), 2**32),
    reason=st.sampled_from(["", "Error", "Completed", "OOMKilled", "Evicted", "\x00?"]) | st.text(max_size=300),
    signal=st.none() | st.integers(0, 200),
    text_alone=st.booleans(),
)
LINES = st.lists(st.sampled_from(WORDS) | st.text(max_size=60), max_size=40).map(
    lambda lines: "\n".join(lines).encode()
)
quick = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.id)
@quick
@given(raw=st.binary(max_size=2000) | LINES, outcome=OUTCOMES)
def test_no_log_and_no_outcome_raises(suite: Suite, raw: bytes, outcome: Outcome) -> None:
    result = suite.parse(read_log(raw), outcome)
    assert result.verdict in ("passed", "failed", "warning", "errored", "skipped")
    assert result.reasons or result.verdict == "passed"
    assert to_json(result)["suite"] == suite.id


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.id)
@quick
@given(raw=st.binary(max_size=4000))
def test_random_bytes_never_pass(suite: Suite, raw: bytes) -> None:
    for outcome in (Outcome(exit_code=0), TEXT_ALONE):
        assert suite.parse(read_log(raw), outcome).verdict == "errored"


@pytest.mark.parametrize("case", PASSING, ids=lambda case: case.name)
@pytest.mark.parametrize("code", [1, -1, 137, 255, -2005270523, 3221225786])
def test_a_passing_log_with_another_exit_code_never_passes(case: Case, code: int) -> None:
    for reason in ("", "Error"):
        result = case.suite.parse(read_log(case.raw), Outcome(exit_code=code, reason=reason))
        assert result.verdict in ("failed", "errored")


@pytest.mark.parametrize("case", PASSING, ids=lambda case: case.name)
def test_a_passing_log_never_passes_with_a_reason_to_the_contrary_or_an_unknown_end(case: Case) -> None:
    for outcome in (Outcome(), Outcome(exit_code=0, reason="OOMKilled"), Outcome(exit_code=0, reason="Evicted")):
        assert case.suite.parse(read_log(case.raw), outcome).verdict == "errored"


@pytest.mark.parametrize("case", PASSING, ids=lambda case: case.name)
def test_a_passing_log_that_ends_before_its_verdict_line_never_passes(case: Case) -> None:
    lines = _lines(case)
    own = (ROOT / case.suite.id / "verdict_line.txt").read_text("utf-8").rstrip("\n")
    pattern = re.compile(r"(?:\[pod/\S+\] )?(?:\S+Z )?" + own)
    plain = [line.replace("\x1b[2C", "  ") for line in lines]
    first = next(at for at, line in enumerate(plain) if pattern.match(line))
    for length in range(first + 1):
        kept = "\n".join(lines[:length]).encode()
        for outcome in (Outcome(exit_code=0), TEXT_ALONE):
            result = case.suite.parse(read_log(kept), outcome)
            assert result.verdict in ("errored", "failed"), (length, result.reasons)


@pytest.mark.parametrize("case", [case for case in PASSING if _lines(case)[8:]], ids=lambda case: case.name)
def test_a_run_whose_proof_was_in_the_part_left_out_never_passes(case: Case) -> None:
    lines = _lines(case)
    kept = [*lines[:2], "[gpudash: 123456 bytes left out]", *lines[-2:]]
    result = case.suite.parse(read_log("\n".join(kept).encode()), Outcome(exit_code=0))
    assert result.verdict in ("errored", "failed")


@pytest.mark.parametrize("case", [case for case in CASES if not {0, 13} & set(case.raw)], ids=lambda case: case.name)
def test_a_verdict_does_not_depend_on_the_line_ends(case: Case) -> None:
    other = case.suite.parse(read_log(case.raw.replace(b"\n", b"\r\n")), case.outcome)
    assert to_json(other) == case.expected


@pytest.mark.sweep
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.id)
def test_long_hostile_lines_do_not_hang_a_parser(suite: Suite) -> None:
    """Each pattern's own beginning, then its filler without its end: 2 MB that a backtracking pattern would not survive."""
    starts = [
        "Created LearningModelDevice with GPU: ", "  Average Evaluate:", "Failed to copy (error code ",
        "frame=  1 fps=1 q=1 Lsize= ", "| ", "#  Rank  0 ", "GPU 0: ", 'Device 0: "', "  Name:", "Number of platforms  ",
        "\x1b[", "\x1b]", "[Device ", "> Compute 8.9 CUDA device: [", "MonteCarloEstimatePiP, Performance = ", "|-----  ",
        "deviceName ",
    ]  # fmt: skip
    raw = (
        "\n".join(
            start + filler * 3000 for start in starts for filler in (" ", "(", "a ", "9", "GPU: ", "\x1b]")
        ).encode()
        * 4
    )
    result = suite.parse(read_log(raw), Outcome(exit_code=0))
    assert result.verdict in ("errored", "failed")
