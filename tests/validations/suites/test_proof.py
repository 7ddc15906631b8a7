"""No pass without its proof: whatever else a log holds, without the suite's own line it passes nothing, however it was cut.

`verdict_line.txt` beside a suite's recorded logs is the pattern of that line.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.validations.suites.golden import ROOT, Case, cases
from validations.suites import registry
from validations.suites.engine.base import TEXT_ALONE, Lines, Outcome, Suite, read_log, stored_text

CASES = cases()
SUITES = list(registry().values())
PASSING = [case for case in CASES if case.expected["verdict"] in ("passed", "warning")]
#: Passing logs that are plain text, so that a part of them is one too.
PLAIN = [case for case in PASSING if not {0, 0x1B} & set(case.raw)]
OWN = {suite.id: re.compile((ROOT / suite.id / "verdict_line.txt").read_text("utf-8").rstrip("\n")) for suite in SUITES}
WORDS = sorted({line for case in CASES for line in stored_text(case.raw).split("\n") if 0 < len(line) < 300})
#: A program that runs another one as well: gpu-burn begins with `nvidia-smi -L`, which lists the cards.
RUNS_TOO = {("nvidia-smi", "gpu-burn")}
ENDS = (Outcome(exit_code=0), TEXT_ALONE)
quick = settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def passes(suite: Suite, raw: bytes) -> bool:
    return any(suite.parse(read_log(raw), outcome).verdict in ("passed", "warning") for outcome in ENDS)


def has_proof(suite: Suite, lines: Lines) -> bool:
    return any(OWN[suite.id].match(text) for text in lines.texts)


def _name(value: object) -> str:
    return value.id if isinstance(value, Suite) else value.name if isinstance(value, Case) else str(value)


@pytest.mark.parametrize("suite", SUITES, ids=_name)
@quick
@given(lines=st.lists(st.sampled_from(WORDS) | st.text(max_size=60), max_size=60))
def test_lines_of_all_programs_without_the_own_proof_pass_nothing(suite: Suite, lines: list[str]) -> None:
    kept = [line for line in lines if not has_proof(suite, read_log(line.encode("utf-8", "replace")))]
    raw = "\n".join(kept).encode("utf-8", "replace")
    # Lines may come together to one, as a console's wrapped record does; that one is looked for again.
    assert not passes(suite, raw) or has_proof(suite, read_log(raw))


@pytest.mark.parametrize("suite", SUITES, ids=_name)
def test_the_log_of_another_suite_passes_nothing(suite: Suite) -> None:
    others = [case for case in PASSING if case.suite is not suite and (suite.id, case.suite.id) not in RUNS_TOO]
    assert [case.name for case in others if passes(suite, case.raw)] == []


@pytest.mark.parametrize("case", PASSING, ids=_name)
def test_a_passing_log_has_its_own_proof_and_passes_nothing_without_it(case: Case) -> None:
    lines = read_log(case.raw)
    assert has_proof(case.suite, lines)
    kept = [text for text in lines.texts if not OWN[case.suite.id].match(text)]
    assert not passes(case.suite, "\n".join(kept).encode())


@pytest.mark.parametrize("case", PASSING, ids=_name)
def test_the_line_that_a_result_rests_on_cannot_be_missed(case: Case) -> None:
    """Without the line that the result names, the log proves nothing, or another line of it does as well."""
    result = case.suite.parse(read_log(case.raw), case.outcome)
    assert result.proof is not None
    lines = stored_text(case.raw).split("\n")
    assert lines[result.proof - 1].strip()
    del lines[result.proof - 1]
    again = case.suite.parse(read_log("\n".join(lines).encode()), case.outcome)
    assert again.verdict not in ("passed", "warning") or again.proof is not None


@pytest.mark.parametrize("case", PLAIN, ids=_name)
@settings(max_examples=30)
@given(data=st.data())
def test_a_log_cut_anywhere_passes_only_with_its_proof(case: Case, data: st.DataObject) -> None:
    """Cut at its end, as a stopped container leaves it, or at its begin, as a node's log rotation does."""
    start = data.draw(st.just(0) | st.integers(0, len(case.raw)))
    end = data.draw(st.integers(start, len(case.raw)))
    kept = case.raw[start:end]
    assert not passes(case.suite, kept) or has_proof(case.suite, read_log(kept))


@pytest.mark.parametrize("case", [case for case in PLAIN if b"Z " not in case.raw[:60]], ids=_name)
def test_a_pasted_log_is_read_as_the_one_that_it_was(case: Case) -> None:
    """`kubectl logs --prefix`, `--timestamps`, both, and Windows' line ends change nothing, whatever the suite."""
    texts = stored_text(case.raw).split("\n")
    pod, stamp = "[pod/gpudash-1m7yt5myb45pcqv-x4cjg/suite] ", "2026-03-04T05:06:07.123456789Z "
    for prefix in (pod, stamp, pod + stamp):
        for ending in ("\n", "\r\n"):
            raw = ending.join(prefix + text for text in texts).encode()
            result = case.suite.parse(read_log(raw), case.outcome)
            assert (result.verdict, result.facts) == (case.expected["verdict"], case.expected["facts"]), prefix
