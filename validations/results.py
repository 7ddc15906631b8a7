"""A result is stored: with the run's end, or when its log is read again. One transaction; the last results are made anew in it."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import F

from inventory.clock import database_now
from validations import attribution, baseline, logstore
from validations.attribution import CARD_COLUMNS, Taken
from validations.enqueue import soon
from validations.judging import PASSING, graded, judged, without_log
from validations.lastresults import refresh_last
from validations.lifecycle.endings import of_row
from validations.models import SAYS, Campaign, Measurement, Reparse, Run, RunStep, State
from validations.suites import find
from validations.suites.engine.base import Outcome, Reason, Result


class NotEnded(Exception):
    """Only an ended run with a log can be read again."""


def outcome_of(run: Run) -> Outcome:
    """How the container ended, from the run's row."""
    return Outcome(exit_code=run.exit_code, reason=run.end_reason, signal=run.signal)


def judge_run(run: Run) -> tuple[Result, Run | None, list[baseline.Compared]]:
    """The result of a run from what is stored of it, beside the run that it is compared with."""
    suite = find(run.suite)
    if suite is None:
        return _without_suite(run), None, []
    result = judged(suite, logstore.whole(run), outcome_of(run), of_row(run.ending), run.log_complete is not False)
    result = graded(suite, result, run.options)
    before = baseline.baseline_of(run) if result.measurements else None
    compared = baseline.compare(run.suite, result.measurements, baseline.stored(before)) if before else []
    return _with_card(run, baseline.with_baseline(result, before, compared)), before, compared


def _without_suite(run: Run) -> Result:
    """A run outlives its suite when gpudash is changed: it still comes to its end."""
    ending = of_row(run.ending)
    reasons = [Reason(ending.code, ending.text)] if ending else []
    gone = Reason("suite-missing", f"The suite {run.suite} is not part of this version of gpudash.")
    if not any(one.code == gone.code for one in reasons):
        reasons.append(gone)
    return without_log(run.suite, run.parser_version or 0, reasons)


def _with_card(run: Run, result: Result) -> Result:
    """A run that did not take the card that was asked for, or is not known to, says so beside its reasons."""
    if not run.card_note or not run.card_asked or result.verdict not in SAYS:
        return result
    told = Reason("other-card" if run.card_key else "card-unknown", run.card_note)
    return msgspec.structs.replace(result, reasons=[*result.reasons, told])


def end_run(run: Run, from_state: str, took: Taken | None = None, **columns: Any) -> bool:
    """Judge and end a run, inside the caller's transaction or one of its own. False when it was not in `from_state` any more.

    took: the card that the pod took; None when there was none to look at.
    """
    with transaction.atomic():
        asked = {name: getattr(run, name) for name in CARD_COLUMNS}
        columns |= attribution.columns(run, took) if took is not None else {}
        for name, value in columns.items():
            setattr(run, name, value)
        result, before, compared = judge_run(run)
        if result.verdict not in SAYS and not run.card_key:
            # Nothing was said of a card: the run stays where it was to go.
            columns |= asked
            for name, value in asked.items():
                setattr(run, name, value)
        now = database_now()
        done = {**columns, **_columns(result), "state": State.ENDED.value, "state_since": now, "ended_at": now}
        done |= {"step_deadline_at": None, "trouble_since": None, "last_error": ""}
        if Run.objects.filter(pk=run.pk, state=from_state).update(**done) != 1:
            return False
        for name, value in done.items():
            setattr(run, name, value)
        RunStep.objects.get_or_create(run=run, state=State.ENDED, defaults={"entered_at": now})
        Measurement.objects.bulk_create(baseline.rows(run, result, before, compared))
        refresh_last(run)
        _make_room(run)
    return True


def _make_room(run: Run) -> None:
    """A run that found no room on this node while this one was there is due again, before those that were asked for later."""
    held = Run.objects.filter(cluster_id=run.cluster_id, node_name=run.node_name, state=State.QUEUED)
    held.filter(due_at__gt=F("created_at")).update(due_at=F("created_at"))


def end_without_judgement(run: Run, code: str, text: str) -> None:
    """The last way out for a run that cannot be judged: errored, with this reason, and nothing that came from outside is stored."""
    now = database_now()
    done: dict[str, Any] = {"state": State.ENDED.value, "state_since": now, "ended_at": now, "verdict": "errored"}
    done |= {"reasons": [{"code": code, "text": text, "line": None}], "ending": [code, text], "log_complete": False}
    done |= {"step_deadline_at": None, "trouble_since": None, "last_error": ""}
    with transaction.atomic():
        if Run.objects.filter(pk=run.pk, state=run.state).update(**done):
            RunStep.objects.get_or_create(run_id=run.pk, state=State.ENDED, defaults={"entered_at": now})
            refresh_last(run)
            _make_room(run)


def _columns(result: Result) -> dict[str, Any]:
    return {
        "verdict": result.verdict,
        "reasons": clean(msgspec.to_builtins(result.reasons)),
        "facts": clean(result.facts),
        "parser_version": result.parser_version,
        "proof_line": result.proof if result.verdict in PASSING else None,
        **_level(result),
    }


def _level(result: Result) -> dict[str, str]:
    """What a pass proves; "" for every other verdict."""
    found = {"level": "", "level_note": "", "level_possible": ""}
    if result.grade is not None and result.verdict in SAYS:
        found["level_possible"] = result.grade.level
    if result.grade is not None and result.verdict in PASSING:
        found |= {"level": result.grade.level, "level_note": clean(result.grade.text)}
    return found


def clean(value: Any) -> Any:
    """JSON without NUL characters and without numbers that are none, which PostgreSQL does not take."""
    if isinstance(value, str):
        return value.replace("\0", "�")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {clean(key): clean(one) for key, one in value.items()}
    return [clean(one) for one in value] if isinstance(value, list | tuple) else value


def request_reparse(run: Run, user: Any = None) -> None:
    """Ask for the stored log to be read again, by a worker: a request must not wait for a parser. Raises NotEnded."""
    _check_log(run)
    name = user.get_username() if user else ""
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(reparse_requested_at=database_now(), reparse_requested_by=name)
        soon("reparse_run", run.pk)


def _check_log(run: Run) -> None:
    if run.ended_at is None or run.verdict == "skipped":
        raise NotEnded("The run has not ended, or has never run.")
    if run.log_pruned_at is not None:
        raise NotEnded("The log of this run was deleted when its time was over.")
    if find(run.suite) is None:
        raise NotEnded(f"The suite {run.suite} is not part of this version of gpudash; the old result stays.")


def reparse(run: Run, by: str = "") -> Reparse | None:
    """Read the stored log again with the parser of today. None when nothing changed. Raises NotEnded.

    The old result is kept in the row that is returned; the run carries the new one. by: name of who asked.
    """
    _check_log(run)
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        result, before, compared = judge_run(run)
        measured = baseline.stored(run)
        new = _columns(result)
        Run.objects.filter(pk=run.pk).update(proof_line=new.pop("proof_line"), reparse_requested_at=None)
        if all(getattr(run, name) == value for name, value in new.items()) and measured == result.measurements:
            return None
        row = Reparse.objects.create(
            run=run,
            at=database_now(),
            requested_by_name=by,
            old_parser_version=run.parser_version,
            old_verdict=run.verdict or "",
            old_reasons=run.reasons,
            old_facts=run.facts,
            old_measurements=msgspec.to_builtins(measured),
            new_parser_version=result.parser_version,
            new_verdict=result.verdict,
        )
        Run.objects.filter(pk=run.pk).update(**new)
        Campaign.objects.filter(pk=run.campaign_id).update(settled=False)
        Measurement.objects.filter(run=run).delete()
        Measurement.objects.bulk_create(baseline.rows(run, result, before, compared))
        refresh_last(run)
    return row
