"""The one writer of `Run.state`: a run begins, moves forward and ends, each by one compare-and-set with its step, in one transaction.

The states and the ways between them are those of `State`. Knows no cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from runtime.clock import database_now
from validations.lifecycle.wordings import wordings
from validations.models import Run, RunNode, RunStep, State

#: Seconds beyond the Job's own deadline before gpudash ends the run itself: the Job controller then did not.
DEADLINE_GRACE_S = 120


def begin(run: Run, at: datetime | None = None, nodes: Iterable[RunNode] = ()) -> None:
    """Insert the row of a new run, into the queue. at: when it began; None: now. nodes: of a group.

    Raises IntegrityError when another run holds its place.
    """
    run.state, run.state_since = State.QUEUED, at or database_now()
    with transaction.atomic():
        run.save(force_insert=True)
        RunNode.objects.bulk_create(nodes)
        RunStep.objects.create(run=run, state=State.QUEUED, entered_at=run.state_since)


def move(run: Run, new: State, now: datetime, **columns: Any) -> bool:
    """Forward into a state in which it lives on, with these columns.

    False when it is there already, or another process has moved it. What was said of the state before is forgotten.
    """
    if new.rank <= State(run.state).rank:
        return False
    assert new is not State.ENDED
    told = {"pending_reason": "", "pending_message": ""} | columns
    return _enter(run, Run.objects.filter(state=run.state), new, now, step_deadline_at=deadline(run, new, now), **told)


def end(run: Run, from_state: str, at: datetime | None = None, **columns: Any) -> bool:
    """Into the end, with the verdict among the columns. at: when it ended; None: now.

    False when it is not in `from_state`, or its log is not the one we know.
    """
    now = at or database_now()
    same = Run.objects.filter(state=from_state, log_stored=run.log_stored).exclude(state=State.ENDED)
    return _enter(run, same, State.ENDED, now, ended_at=now, step_deadline_at=None, last_error="", **columns)


def _enter(run: Run, same: QuerySet[Run], new: State, now: datetime, **columns: Any) -> bool:
    """same: the row as we know it."""
    columns |= {"state": new.value, "state_since": now, "trouble_since": None} | wordings(run, columns)
    with transaction.atomic():
        if same.filter(pk=run.pk).update(**columns) != 1:
            return False
        RunStep.objects.get_or_create(run_id=run.pk, state=new, defaults={"entered_at": now})
    for name, value in columns.items():
        setattr(run, name, value)
    return True


def note(run: Run, **columns: Any) -> None:
    """Write what is known better now; nothing when it is known already, or when the run has moved."""
    changed = {name: value for name, value in columns.items() if getattr(run, name) != value}
    changed |= wordings(run, changed)
    if changed and Run.objects.filter(pk=run.pk, state=run.state).update(**changed):
        for name, value in changed.items():
            setattr(run, name, value)


def deadline(run: Run, state: State, now: datetime) -> datetime | None:
    """When a run that enters this state has been in it too long."""
    seconds = {
        State.CREATING: settings.RUN_CREATE_TIMEOUT_S,
        State.PENDING: settings.RUN_SCHEDULE_TIMEOUT_S,
        State.PULLING: settings.RUN_PULL_TIMEOUT_S,
        State.RUNNING: job_deadline_s(run) + DEADLINE_GRACE_S,
        State.COLLECTING: settings.RUN_COLLECT_TIMEOUT_S,
    }.get(state)
    return None if seconds is None else now + timedelta(seconds=seconds)


def job_deadline_s(run: Run) -> int:
    """activeDeadlineSeconds of the run's Job."""
    spec = run.manifest.get("spec") if isinstance(run.manifest, dict) else None
    seconds = spec.get("activeDeadlineSeconds") if isinstance(spec, dict) else None
    return seconds if isinstance(seconds, int) else 86_400
