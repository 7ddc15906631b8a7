"""The steps of a run with their times, and where it stopped. Reads the run's rows only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.html import format_html_join
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame.worded import quoted, told, worded_html
from pages.words import runs as words
from validations.models import Run, State, VerdictChoice
from validations.models.run import said_of

#: Title of a step when it is done, and the states that it covers. The verdict itself is the page's first line.
_STEPS: tuple[tuple[Promise, tuple[str, ...]], ...] = (
    (gettext_lazy("Queued"), (State.QUEUED,)),
    (gettext_lazy("Scheduled"), (State.CREATING, State.PENDING)),
    (gettext_lazy("Image"), (State.PULLING,)),
    (gettext_lazy("Ran"), (State.RUNNING,)),
    (gettext_lazy("Judged"), (State.COLLECTING,)),
)
#: Only a container that ran is judged so.
_RAN = (VerdictChoice.PASSED, VerdictChoice.WARNING, VerdictChoice.FAILED)


@dataclass(frozen=True)
class Step:
    """level: good, busy, error, warning or none (not reached). took: in words. since: when it began, while it lasts."""

    title: str
    level: str
    sign: str
    took: str = ""
    since: datetime | None = None
    detail: str = ""


def steps(run: Run) -> list[Step]:
    """All steps in order. Those that an ended run never reached are left out of it."""
    entered = {row.state: row.entered_at for row in run.steps.all()}
    reached = [(title, [one for one in states if one in entered]) for title, states in _STEPS]
    begins = [entered[states[0]] for _title, states in reached if states]
    ends = [*begins[1:], entered.get(State.ENDED)]
    spans = iter(zip(begins, ends, strict=True))
    stopped = _stopped_at(run, entered)
    made = []
    for title, states in reached:
        if states:
            made.append(_step(run, str(title), *next(spans), stopped in states))
        elif run.ended_at is None and entered:
            made.append(Step(str(title), "none", "·"))
    return made


def _step(run: Run, title: str, begun: datetime, ended: datetime | None, stopped: bool) -> Step:
    look = words.shown_run(run)
    if ended is None:
        message = worded_html(told(run.pending_message, said_of(run, "pending_message")))
        detail = format_html_join(" · ", "{}", ((text,) for text in (quoted(run.pending_reason), message) if text))
        return Step(capfirst(look.words), "busy", look.sign, since=begun, detail=detail)
    took = words.duration((ended - begun).total_seconds())
    if stopped:
        return Step(title, look.level, look.sign, _("%(time)s, no further") % {"time": took})
    return Step(title, "good", "✓", took)


def _stopped_at(run: Run, entered: Collection[str]) -> str:
    """The last state of a run that ended before its container ran; "" for one that ran. A short one ran between two looks."""
    if run.ended_at is None or State.RUNNING in entered or run.verdict in _RAN:
        return ""
    return next(
        (state for state in (State.PULLING, State.PENDING, State.CREATING, State.QUEUED) if state in entered), ""
    )
