"""A run is judged: what is stored of it becomes its result, and the columns that keep it. Nothing is written here."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from validations import baseline, logstore
from validations.lifecycle.endings import of_row
from validations.lifecycle.judging import PASSING, graded, judged, without_log
from validations.lifecycle.unstarted import with_software
from validations.models import SAYS, Run
from validations.models.run import said_of
from validations.software import CODE
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
            "evidence_line": result.proof if result.verdict in PASSING else None,
            **_level(result),
        }


def outcome_of(run: Run) -> Outcome:
    """How the container ended, from the run's row."""
    return Outcome(exit_code=run.exit_code, reason=run.end_reason, signal=run.signal)


def judge(run: Run, rest: bytes = b"", software: Reason | None = None) -> Judged:
    """The result of a run from what is stored of it, and from the rest of its log, which is not stored yet.

    software: what of the node kept it from starting. Of a run that has ended what was known at its end counts.
    """
    suite = find(run.suite)
    if suite is None:
        return Judged(with_software(_without_suite(run), run, software or _known(run)), None, [])
    result = judged(
        suite,
        logstore.whole(run) + rest,
        outcome_of(run),
        of_row(run.ending, said_of(run, "ending")),
        run.log_complete is not False,
    )
    result = with_software(graded(suite, result, run.options), run, software or _known(run))
    before = baseline.baseline_of(run) if result.measurements else None
    compared = baseline.compare(run.suite, result.measurements, baseline.stored(before)) if before else []
    return Judged(_with_card(run, baseline.with_baseline(result, before, compared)), before, compared)


def _known(run: Run) -> Reason | None:
    """The reason that an earlier judgement had: what the software of the node was then is not asked again."""
    for one in run.reasons if isinstance(run.reasons, list) else ():
        if isinstance(one, dict) and one.get("code") == CODE:
            return Reason(CODE, restored(str(one.get("text") or ""), one.get("wording")))
    return None


def _without_suite(run: Run) -> Result:
    """A run outlives its suite when gpudash is changed: it still comes to its end."""
    ending = of_row(run.ending, said_of(run, "ending"))
    reasons = [Reason(ending.code, ending.text)] if ending else []
    gone = Reason("suite-missing", sentence("This version of gpudash has no suite {suite}.", suite=run.suite))
    if not any(one.code == gone.code for one in reasons):
        reasons.append(gone)
    return without_log(run.suite, run.parser_version or 0, reasons)


def _with_card(run: Run, result: Result) -> Result:
    """A run that did not take the card that was asked for, or is not known to, says so beside its reasons."""
    if not run.card_note or not run.card_requested or result.verdict not in SAYS:
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
