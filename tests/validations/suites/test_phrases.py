"""What a suite declares of its log (docs/reference/verdicts.md is made of it) is what it does."""

from __future__ import annotations

import pytest

from tests.validations.suites.golden import Case, cases
from validations.suites import registry
from validations.suites.engine.base import Outcome, Suite, read_log, stored_text
from validations.suites.engine.phrases import Phrase

SUITES = list(registry().values())
DECLARED = [(suite, phrase) for suite in SUITES for phrase in suite.phrases]
#: What is no GPU may stand beside one that is: only where there is no other the log is no pass.
ALONE = {"cpu-only", "layered-driver", "software-adapter"}
PASSING = {case.suite.id: case for case in cases() if case.expected["verdict"] == "passed" and b"\0" not in case.raw}


def example(phrase: Phrase) -> str:
    return phrase.example or phrase.words


def _id(value: object) -> str:
    return (
        value.id if isinstance(value, Suite) else value.words[:60].strip() if isinstance(value, Phrase) else str(value)
    )


def test_every_suite_declares_its_proof_its_source_and_what_fails_it() -> None:
    for suite in SUITES:
        assert suite.proof, suite.id
        assert suite.source, suite.id
        assert any(phrase.severity == "failed" for phrase in suite.phrases), suite.id
        assert len({phrase.words for phrase in suite.phrases}) == len(suite.phrases), suite.id


@pytest.mark.parametrize(("suite", "phrase"), DECLARED, ids=_id)
def test_a_declared_text_means_what_is_declared(suite: Suite, phrase: Phrase) -> None:
    seen = suite.read(read_log(example(phrase).encode())).observations
    assert (phrase.severity, phrase.code) in [(one.severity, one.code) for one in seen], seen
    # The first that is found decides among those of one weight: another row must not be meant.
    assert {one.severity for one in seen} <= {phrase.severity, "passed"} or phrase.severity == "failed"


def _mixed(case: Case, phrase: Phrase) -> bytes:
    return f"{stored_text(case.raw)}\n{example(phrase)}\n".encode()


def _beside_a_gpu(suite: Suite, phrase: Phrase) -> bool:
    return phrase.code in ALONE and (suite.level == "detected" or phrase.words.endswith("and no GPU"))


@pytest.mark.parametrize(("suite", "phrase"), [one for one in DECLARED if not _beside_a_gpu(*one)], ids=_id)
def test_a_declared_text_in_a_log_that_passed_makes_it_no_pass(suite: Suite, phrase: Phrase) -> None:
    """But for NCCL's own warnings: it goes another way then, and the end of the run says whether it got there."""
    if suite.id.startswith("nccl-") and "NCCL WARN" in phrase.example:
        phrase = phrase._replace(example=example(phrase).splitlines()[-1])
    result = suite.parse(read_log(_mixed(PASSING[suite.id], phrase)), Outcome(exit_code=0))
    assert result.verdict != "passed"
    if phrase.severity == "warning":
        assert result.verdict in ("warning", "errored"), result.reasons


@pytest.mark.parametrize("suite", [suite for suite in SUITES if suite.exits], ids=_id)
def test_a_declared_exit_code_means_what_is_declared(suite: Suite) -> None:
    for number, code in suite.exits.items():
        result = suite.parse(read_log(PASSING[suite.id].raw), Outcome(exit_code=number, reason="Error"))
        assert (result.verdict, result.reasons[0].code) == (code.severity, code.code)
        assert number != 0
