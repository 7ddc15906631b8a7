"""A run is judged: what is stored of it becomes its result, and the columns that keep it. Nothing is written here."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from validations import baseline, logstore
from validations.lifecycle.endings import of_row
from validations.lifecycle.judging import PASSING, graded, judged, without_log
from validations.models import SAYS, Run
from validations.models.run import said_of
from validations.suites import find
from validations.suites.engine.base import Outcome, Reason, Result
from wording.said import Said, restored, sentence, stored


class Judged(msgspec.Struct, frozen=True):
    """The result of a run, beside the run that it is compared with."""

    result: Result
    before: Run | None
    compared: list[baseline.Compared]

    def columns(self) -> dict[str, Any]:
        """What the run's row keeps of it."""
        result = self.result
        return {
            "verdict": result.verdict,
            "reasons": [kept(one) for one in result.reasons],
            "facts": clean(result.facts),
            "parser_version": result.parser_version,
            "proof_line": result.proof if result.verdict in PASSING else None,
            **_level(result),
        }


def outcome_of(run: Run) -> Outcome:
    """How the container ended, from the run's row."""
    return Outcome(exit_code=run.exit_code, reason=run.end_reason, signal=run.signal)


def judge(run: Run, rest: bytes = b"") -> Judged:
    """The result of a run from what is stored of it, and from the rest of its log, which is not stored yet."""
    suite = find(run.suite)
    if suite is None:
        return Judged(_without_suite(run), None, [])
    result = judged(
        suite,
        logstore.whole(run) + rest,
        outcome_of(run),
        of_row(run.ending, said_of(run, "ending")),
        run.log_complete is not False,
    )
    result = graded(suite, result, run.options)
    before = baseline.baseline_of(run) if result.measurements else None
    compared = baseline.compare(run.suite, result.measurements, baseline.stored(before)) if before else []
    return Judged(_with_card(run, baseline.with_baseline(result, before, compared)), before, compared)


def _without_suite(run: Run) -> Result:
    """A run outlives its suite when gpudash is changed: it still comes to its end."""
    ending = of_row(run.ending, said_of(run, "ending"))
    reasons = [Reason(ending.code, ending.text)] if ending else []
    gone = Reason(
        "suite-missing", sentence("The suite {suite} is not part of this version of gpudash.", suite=run.suite)
    )
    if not any(one.code == gone.code for one in reasons):
        reasons.append(gone)
    return without_log(run.suite, run.parser_version or 0, reasons)


def _with_card(run: Run, result: Result) -> Result:
    """A run that did not take the card that was asked for, or is not known to, says so beside its reasons."""
    if not run.card_note or not run.card_asked or result.verdict not in SAYS:
        return result
    told = Reason("other-card" if run.card_key else "card-unknown", restored(run.card_note, said_of(run, "card_note")))
    return msgspec.structs.replace(result, reasons=[*result.reasons, told])


def _level(result: Result) -> dict[str, str]:
    """What a pass proves; "" for every other verdict."""
    found = {"level": "", "level_note": "", "level_possible": ""}
    if result.grade is not None and result.verdict in SAYS:
        found["level_possible"] = result.grade.level
    if result.grade is not None and result.verdict in PASSING:
        found |= {
            "level": result.grade.level,
            "level_note": clean(result.grade.text),
        }
    return found


def kept(reason: Reason) -> dict[str, Any]:
    """A reason as the run's row keeps it. wording: how the text was made, None where that is not known."""
    form = stored(reason.text)
    return {"code": reason.code, "text": clean(str(reason.text)), "line": reason.line, "wording": form and clean(form)}


def clean(value: Any) -> Any:
    """JSON without NUL characters and without numbers that are none, which PostgreSQL does not take."""
    if isinstance(value, Said):
        return value
    if isinstance(value, str):
        return value.replace("\0", "�")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {clean(key): clean(one) for key, one in value.items()}
    return [clean(one) for one in value] if isinstance(value, list | tuple) else value
