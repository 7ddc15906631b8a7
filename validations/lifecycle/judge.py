"""A run is judged: what is stored of it becomes its result, and the columns that keep it. Nothing is written here."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import msgspec
from django.conf import settings

from validations import baseline, logstore, pool_baseline
from validations.below_floor import floors_of, with_floors
from validations.groups import not_alone, without_pass
from validations.lifecycle.endings import of_row
from validations.lifecycle.judging import PASSING, graded, judged, without_log
from validations.lifecycle.members import strangers
from validations.lifecycle.unstarted import with_software
from validations.models import SAYS, Run
from validations.models.run import said_of
from validations.software import CODE
from validations.suites import find
from validations.suites.engine.base import Outcome, Reason, Result
from wording.said import Said, restored, sentence, stored


class Judged(msgspec.Struct, frozen=True):
    """The result of a run, and what it was judged against. log_sha256: of the whole log that was judged."""

    result: Result
    against: baseline.Against
    log_sha256: str

    def columns(self) -> dict[str, Any]:
        """What the run's row keeps of it."""
        result = self.result
        return {
            "verdict": result.verdict,
            "reasons": [kept(one) for one in result.reasons],
            "facts": clean(result.facts),
            "judged_by": clean(self.against.told(result)) if result.verdict in SAYS else "",
            "parser_version": result.parser_version,
            "log_sha256": self.log_sha256,
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
    suite, log = find(run.suite), logstore.whole(run) + rest
    digest = hashlib.sha256(log).hexdigest()
    if suite is None:
        return Judged(with_software(_without_suite(run), run, software or _known(run)), baseline.Against(), digest)
    result = judged(
        suite,
        log,
        outcome_of(run),
        of_row(run.ending, said_of(run, "ending")),
        run.log_complete is not False,
    )
    result = _of_group(result, run)
    result = with_software(graded(suite, result, run.options), run, software or _known(run))
    against = _against(run, result)
    result = baseline.with_baseline(result, against.before, against.compared)
    result = with_floors(baseline.with_spreads(result, against.spreads), against.floors)
    return Judged(_with_card(run, result), against, digest)


def _against(run: Run, result: Result) -> baseline.Against:
    """Last pass, floors and pool of the run. Of a result without measurements nothing is asked."""
    if not result.measurements:
        return baseline.Against()
    # Other groups have other nodes between which other links are.
    alone = bool(run.node_name)
    before = baseline.baseline_of(run) if alone else None
    snapshot = run.node_snapshot if isinstance(run.node_snapshot, dict) else {}
    return baseline.Against(
        before=before,
        compared=baseline.compare(run.suite, result.measurements, baseline.stored(before)) if before else [],
        floors=floors_of(result, run.card_model, str(snapshot.get("instance_type") or ""), settings.FLOORS),
        spreads=baseline.spreads(result, pool_baseline.of_pool(run)) if alone else {},
    )


def _of_group(result: Result, run: Run) -> Result:
    """A group passes where its log names the hosts of all its pods; nodes that have not passed alone are named beside its result."""
    if run.node_name or result.verdict not in SAYS:
        return result
    if result.verdict in PASSING and (text := strangers(run, result.facts)):
        missing = Reason("group-not-formed", text)
        return msgspec.structs.replace(result, verdict="errored", reasons=[missing, *result.reasons])
    names = without_pass(run.nodes.all())
    return msgspec.structs.replace(result, reasons=[*result.reasons, not_alone(names)]) if names else result


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
