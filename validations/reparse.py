"""A stored log is read again: the parser may have learnt since. The old result is kept beside the new one."""

from __future__ import annotations

from typing import Any

import msgspec
from django.db import transaction

from audit.actions import Action
from audit.acts import act
from runtime.clock import database_now
from validations import baseline, pool_baseline
from validations.enqueue import soon
from validations.lastresults import refresh_last
from validations.lifecycle.judge import judge
from validations.models import Campaign, Measurement, PoolBaseline, Reparse, Run
from validations.suites import find
from wording.said import sentence


class NotEnded(Exception):
    """Only an ended run with a log can be read again."""


def request_reparse(run: Run, user: Any = None) -> None:
    """Ask for the stored log to be read again, by a worker: a request must not wait for a parser. Raises NotEnded."""
    _check_log(run)
    name = user.get_username() if user else ""
    with act(Action.RUN_REPARSE, run.pk, suite=run.suite):
        Run.objects.filter(pk=run.pk).update(reparse_requested_at=database_now(), reparse_requested_by=name)
        soon("reparse_run", run.pk)


def _check_log(run: Run) -> None:
    if run.ended_at is None or run.verdict == "skipped":
        raise NotEnded(sentence("The run has not ended, or it never started."))
    if run.log_pruned_at is not None:
        raise NotEnded(sentence("The log of this run was deleted after its retention time."))
    if find(run.suite) is None:
        raise NotEnded(
            sentence("This version of gpudash has no suite {suite}. The old result is kept.", suite=run.suite)
        )


def reparse(run: Run, by: str = "") -> Reparse | None:
    """Read the stored log again with the parser of today. None when nothing changed. Raises NotEnded.

    The old result is kept in the row that is returned; the run carries the new one. by: name of who asked.
    """
    _check_log(run)
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        judged = judge(run)
        result, measured, new = judged.result, baseline.stored(run), judged.columns()
        Run.objects.filter(pk=run.pk).update(evidence_line=new.pop("evidence_line"), reparse_requested_at=None)
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
        measured_now = Measurement.objects.bulk_create(baseline.rows(run, result, judged.against))
        PoolBaseline.objects.filter(run=run).delete()
        pool_baseline.keep(run, measured_now)
        refresh_last(run)
    return row
