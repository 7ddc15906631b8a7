"""A pass that could not look: the cluster was not reached, or it refuses. What becomes of the runs then.

An outage may pass: deadlines wait for it, up to a limit. A refusal does not pass by waiting: a run ends with it when its step has
taken too long. A cancel is carried out all the same; the Job that may be left is deleted as soon as the cluster lets us.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from random import uniform
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError

from kube.client import ApiError
from runtime.leases.lease import Lease
from validations.lifecycle.end import end_run, end_without_judgement
from validations.lifecycle.endings import Ending, cancelled_by
from validations.lifecycle.moves import note
from validations.lifecycle.refusals import refusal
from validations.lifecycle.step import too_late
from validations.models import STARTED, Launcher, Run
from wording.said import cut, of_error, sentence, stored

logger = logging.getLogger(__name__)

#: How long a cluster that was not reached is left alone, twice as long each time: each try may hold a thread for a time-out.
RETRY_S, LONGEST_S = 10, 120
#: Errors of the database's connection; every other one is of the row that was written.
LOST = (OperationalError, InterfaceError)
#: What only the making of a Job shows; the others are over when a pass gets through.
_AT_CREATION = "create jobs"


def not_seen(lease: Lease, launcher: Launcher, runs: list[Run], error: ApiError, now: datetime) -> None:
    """Write why nobody could look, to the launcher's row and to the runs; end those that need not wait for it."""
    refused = refusal(error, settings.VALIDATION_NAMESPACE)
    text = refused.text if refused else sentence("Cannot reach the cluster: {error}", error=cut(of_error(error), 1900))
    known: dict[str, Any] = {}
    if refused:
        known["refused"] = {
            "at": now.isoformat(),
            "code": refused.code,
            "text": text,
            "wording": stored(text),
            "call": error.call,
        }
    again = now + timedelta(seconds=wait_s(launcher.tries))
    known |= {"failing_since": launcher.failing_since or now, "tries": min(launcher.tries + 1, 1000)}
    lease.update(error=text, wording=stored(text), next_try_at=again, **known)
    told = {"last_error": text, "pending_reason": refused.code if refused else "unreachable", "pending_message": ""}
    _tell(runs, told)
    for run in runs:
        if ending := _ending(run, refused, text, now):
            # The Job is not removed: it is found when the cluster is there again.
            end_run(run, run.state, ending=ending.stored(), log_complete=False)


def wait_s(tries: int) -> float:
    """Seconds until the next try after so many failures before this one; not the same for all clusters of an outage."""
    return min(RETRY_S * 2.0 ** min(tries, 10), LONGEST_S) * uniform(0.8, 1.0)


def _tell(runs: list[Run], told: dict[str, str]) -> None:
    """One write for all runs under way."""
    same = Run.objects.filter(pk__in=[run.pk for run in runs], state__in=STARTED)
    same.exclude(**told).update(**told, wordings={"last_error": stored(told["last_error"])})


def _ending(run: Run, refused: Ending | None, text: str, now: datetime) -> Ending | None:
    if run.cancel_requested_at is not None:
        return cancelled_by(run.cancelled_by)
    if refused is not None:
        return refused if too_late(run, now) else None
    due = run.step_deadline_at
    left = timedelta(seconds=max(settings.RUN_OUTAGE_LIMIT_S - run.extended_s, 0))
    return Ending("unreachable", text) if due is not None and now > due + left else None


def still_refused(launcher: Launcher) -> dict[str, Any]:
    """What is still known to be refused after a pass that could look."""
    kept = launcher.refused
    return kept if isinstance(kept, dict) and kept.get("call") == _AT_CREATION else {}


def mistaken(run: Run, error: Exception, now: datetime) -> None:
    """A mistake of ours with one run. It may pass; it keeps nobody from cancelling the run, and the run from its end."""
    text = sentence(
        "Internal error in gpudash ({name}). The log of the launch worker has the details.",
        name=type(error).__name__,
    )
    try:
        note(run, last_error=text)
        if run.cancel_requested_at is not None:
            end_run(run, run.state, ending=cancelled_by(run.cancelled_by).stored(), log_complete=False)
        elif too_late(run, now):
            end_run(run, run.state, ending=Ending("internal", text).stored(), log_complete=False)
    except LOST:
        raise
    except Exception:
        logger.exception("run %s: cannot be judged", run.pk)
        if run.cancel_requested_at is not None or too_late(run, now):
            end_without_judgement(run, "internal", text)
