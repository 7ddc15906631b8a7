"""The first reason of a run is its cause, not what followed from it."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.validations.recorded import FAILED, PASSED
from validations.lifecycle.endings import GAVE_WAY, Ending
from validations.lifecycle.judging import CAUSES, judged
from validations.suites import find
from validations.suites.engine.base import Outcome

SUITE = find("cuda-vectoradd")
assert SUITE is not None
#: Reasons that the status of a container or a pod gives by itself.
OF_A_STATUS = {"node-lost": "NodeLost", "evicted": "Evicted", "killed": "OOMKilled"}


@pytest.mark.parametrize("code", [code for code in CAUSES if code != "log-incomplete"])
@pytest.mark.parametrize("log", [PASSED, PASSED[:60], b"x"], ids=["whole", "part", "nothing"])
def test_what_ended_a_run_comes_before_a_missing_part_of_its_log(code: str, log: bytes) -> None:
    result = judged(SUITE, log, Outcome(exit_code=137, reason="Error"), Ending(code, "told"), complete=False)
    codes = [one.code for one in result.reasons]
    told = codes[: codes.index("log-incomplete") + 1]
    verdict = "skipped" if code in GAVE_WAY else "errored"
    assert (result.verdict, told) == (verdict, sorted(told, key=CAUSES.index))
    assert code in told


@pytest.mark.parametrize("cause", [code for code in CAUSES if code != "log-incomplete"])
@pytest.mark.parametrize("status", OF_A_STATUS)
@pytest.mark.parametrize("complete", [True, False])
def test_of_two_causes_the_one_that_brings_the_other_is_first(cause: str, status: str, complete: bool) -> None:
    outcome = Outcome(exit_code=137, reason=OF_A_STATUS[status])
    found = [one.code for one in judged(SUITE, PASSED, outcome, Ending(cause, "told"), complete).reasons]
    ranks = [CAUSES.index(code) for code in found if code in CAUSES]
    assert ranks == sorted(ranks)
    assert found.count(cause) == 1
    assert found[0] in (cause, status)


def test_the_order_is_declared_once_for_each_code() -> None:
    assert len(set(CAUSES)) == len(CAUSES)
    for first, second in combinations(("node-lost", "evicted", "job-deleted", "pod-deleted", "log-incomplete"), 2):
        assert CAUSES.index(first) < CAUSES.index(second)


def test_a_missing_part_alone_is_the_cause_of_a_missing_verdict() -> None:
    result = judged(SUITE, PASSED[:60], Outcome(exit_code=0), None, complete=False)
    assert [one.code for one in result.reasons][:2] == ["log-incomplete", "no-verdict"]


def test_a_no_of_the_hardware_stays_first() -> None:
    result = judged(SUITE, FAILED, Outcome(exit_code=1), Ending("node-lost", "told"), complete=False)
    codes = [one.code for one in result.reasons]
    assert (result.verdict, codes[0]) == ("failed", "verification")
    assert codes.index("node-lost") < codes.index("log-incomplete")
