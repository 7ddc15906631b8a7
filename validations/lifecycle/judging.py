"""Log, exit code and what happened from outside → the result of a run. Pure; used at the end of a run and to read a log again.

The verdict is the suite's. This module only takes a pass away: from a run that was ended from outside, and from one whose log is
known to lack a part. It never gives one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

import msgspec

from validations.lifecycle.endings import CANCELLED, GAVE_WAY, IN_USE, NOT_THE_RUNS, POLICIES_OFF, PREEMPTED, Ending
from validations.suites.engine.base import Outcome, Reason, Result, Suite, Verdict, read_log
from wording.said import sentence

logger = logging.getLogger(__name__)

INCOMPLETE = Reason("log-incomplete", sentence("The log is incomplete, so the verdict line proves nothing."))
#: What ends a run from outside and what follows from it, cause first: a lost node loses its pod and the log, a deleted Job its pod.
#: Every other reason (exit code, missing verdict line, what the log says) comes after these, in the order of the suite.
CAUSES = (
    CANCELLED,
    IN_USE,
    POLICIES_OFF,
    PREEMPTED,
    "wrong-node",
    "node-lost",
    "evicted",
    "refused-by-node",
    "job-deleted",
    "pod-deleted",
    "unschedulable",
    "image",
    "container-config",
    "timeout",
    "unreachable",
    "unauthorized",
    "forbidden",
    "kubeconfig",
    "unreadable",
    "internal",
    "invalid-container-status",
    "job-failed",
    "killed",
    INCOMPLETE.code,
)
_RANKS = {code: rank for rank, code in enumerate(CAUSES)}
PASSING: tuple[Verdict, ...] = ("passed", "warning")


def judged(suite: Suite, raw: bytes, outcome: Outcome, ending: Ending | None = None, complete: bool = True) -> Result:
    """The result of a run. raw: the stored log. complete: whether it was read to its end."""
    if ending is not None and (ending.code in NOT_THE_RUNS or (not raw and outcome.exit_code is None)):
        return _errored(suite, ending)
    result = _parsed(suite, raw, outcome)
    if ending is not None:
        result = _ended_from_outside(result, ending)
    if not complete:
        verdict: Verdict = "errored" if result.verdict in PASSING else result.verdict
        result = _with(result, INCOMPLETE, verdict)
    return result


def _parsed(suite: Suite, raw: bytes, outcome: Outcome) -> Result:
    """A parser that fails on a log must not keep the run from its end."""
    try:
        return suite.parse(read_log(raw), outcome)
    except Exception as error:
        logger.exception("the parser of %s failed on a log", suite.id)
        text = sentence(
            "The parser of {id} failed on this log ({name}). This is a bug in gpudash.",
            id=suite.id,
            name=type(error).__name__,
        )
        return without_log(suite.id, suite.parser_version, [Reason("parser", text)])


def graded(suite: Suite, result: Result, options: Mapping[str, object]) -> Result:
    """The same with what it proves: no more than suite and options say, nor than the log itself."""
    grade = suite.grade(options)
    return msgspec.structs.replace(result, grade=grade if result.grade is None else grade.lowered(result.grade))


def _errored(suite: Suite, ending: Ending) -> Result:
    """Nobody got to ask the hardware."""
    verdict: Verdict = "skipped" if ending.code in GAVE_WAY else "errored"
    return without_log(suite.id, suite.parser_version, [Reason(ending.code, ending.text)], verdict)


def without_log(suite: str, version: int, reasons: list[Reason], verdict: Verdict = "errored") -> Result:
    """Nothing was read."""
    return Result(suite=suite, parser_version=version, verdict=verdict, reasons=reasons, facts={}, measurements={})


def _ended_from_outside(result: Result, ending: Ending) -> Result:
    """A "no" of the hardware stays one; anything else is a test that could not be carried out, or that gave way."""
    if result.verdict == "failed" and ending.code not in (CANCELLED, *GAVE_WAY):
        return _with(result, Reason(ending.code, ending.text), "failed")
    return _with(result, Reason(ending.code, ending.text), "skipped" if ending.code in GAVE_WAY else "errored")


def _with(result: Result, reason: Reason, verdict: Verdict) -> Result:
    """The first reason is the cause. What the container's status says of the same cause is not said twice."""
    others = [one for one in result.reasons if one.code != reason.code or one.line is not None]
    reasons = [*others, reason]
    # A "no" of the hardware has decided, whatever happened around it.
    return msgspec.structs.replace(
        result, verdict=verdict, reasons=reasons if verdict == "failed" else sorted(reasons, key=_rank)
    )


def _rank(reason: Reason) -> int:
    """What the log says comes after what happened to the run, also where it has the same code."""
    return _RANKS.get(reason.code, len(_RANKS)) if reason.line is None else len(_RANKS)
