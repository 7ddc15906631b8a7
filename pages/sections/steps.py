"""The steps of a run with their times, and where it stopped. Reads the run's rows only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.utils.functional import Promise
from django.utils.html import format_html_join
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame.worded import quoted, told, worded_html
from pages.words import runs as words
from validations.models import Run, RunStep, State
from validations.models.run import said_of

#: Title of a step when it is done, and the states that it covers.
_TITLES: dict[str, Promise] = {
    State.QUEUED: gettext_lazy("Queued"),
    State.CREATING: gettext_lazy("Job created"),
    State.PENDING: gettext_lazy("Scheduled"),
    State.PULLING: gettext_lazy("Image, start"),
    State.RUNNING: gettext_lazy("Ran"),
    State.COLLECTING: gettext_lazy("Log collected"),
    State.ENDED: gettext_lazy("Verdict"),
}


@dataclass(frozen=True)
class Step:
    """level: good, busy, error, warning or none (not reached). took: in words. since: when it began, while it lasts."""

    state: str
    title: str
    level: str
    sign: str
    took: str
    since: datetime | None
    detail: str


def steps(run: Run) -> list[Step]:
    """All steps in order. Those that an ended run never reached are left out of it."""
    rows = {row.state: row for row in run.steps.all()}
    ordered = [state.value for state in State if state.value in rows]
    if not ordered:
        return []
    spans = {one: rows[other].entered_at - rows[one].entered_at for one, other in pairwise(ordered)}
    stopped = _stopped_at(run, ordered)
    made = []
    for state in State:
        if state.value not in rows:
            if run.ended_at is None:
                made.append(Step(state, str(_TITLES[state]), "none", "·", "", None, ""))
            continue
        seconds = spans[state.value].total_seconds() if state.value in spans else None
        made.append(_step(run, rows[state.value], seconds, stopped))
    return made


def _step(run: Run, row: RunStep, seconds: float | None, stopped: str) -> Step:
    title = str(_TITLES.get(row.state, row.state))
    if row.state == State.ENDED:
        look = words.shown_run(run)
        return Step(row.state, title, look.level, look.sign, look.words, None, "")
    if seconds is None:
        look = words.shown_run(run)
        message = worded_html(told(run.pending_message, said_of(run, "pending_message")))
        detail = format_html_join(" · ", "{}", ((text,) for text in (quoted(run.pending_reason), message) if text))
        return Step(row.state, capfirst(look.words), "busy", look.sign, "", row.entered_at, detail)
    took = words.duration(seconds)
    if row.state == stopped:
        look = words.shown_run(run)
        return Step(row.state, title, look.level, look.sign, _("%(time)s, no further") % {"time": took}, None, "")
    return Step(row.state, title, "good", "✓", took, None, "")


def _stopped_at(run: Run, ordered: Sequence[str]) -> str:
    """The last step of a run that ended before its container ran; "" for one that ran."""
    if run.ended_at is None or State.RUNNING.value in ordered:
        return ""
    before = [state for state in ordered if state not in (State.COLLECTING.value, State.ENDED.value)]
    return before[-1] if before else ""
