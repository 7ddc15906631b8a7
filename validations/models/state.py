"""The states of a run and its verdicts, with label, sign and groups: the one place where they are named."""

from __future__ import annotations

from typing import NamedTuple

from django.db import models
from django.utils.translation import gettext_lazy as _


class State(models.TextChoices):
    """Where a run is. The ways between them: see `Run`.

    queued      the row is there; a slot within the limits is waited for
    creating    a process has claimed the run; the Job may or may not exist
    pending     the Job exists; no node has taken the pod
    pulling     the node has the pod; the container has not started
    running     the container runs
    collecting  the container has ended; its log is fetched and judged
    ended       there is a verdict
    """

    QUEUED = "queued", _("queued")
    CREATING = "creating", _("creating Job")
    PENDING = "pending", _("pending")
    PULLING = "pulling", _("pulling image")
    RUNNING = "running", _("running")
    COLLECTING = "collecting", _("collecting log")
    ENDED = "ended", _("ended")

    @property
    def rank(self) -> int:
        return list(State).index(self)


ACTIVE = tuple(state.value for state in State if state is not State.ENDED)
#: States in which a run counts against the limits "at once".
STARTED = tuple(state.value for state in State if state not in (State.QUEUED, State.ENDED))


class VerdictChoice(models.TextChoices):
    """The verdicts of `validations.suites.engine.verdict`, for columns and filters."""

    PASSED = "passed", _("passed")
    WARNING = "warning", _("warning")
    FAILED = "failed", _("failed")
    ERRORED = "errored", _("errored")
    SKIPPED = "skipped", _("skipped")


class LevelChoice(models.TextChoices):
    """What a pass says of the card, as `validations.suites.engine.verdict.LEVELS` has it."""

    NONE = "none", _("proves nothing")
    DETECTED = "detected", _("detected only")
    RAN = "ran", _("ran, result not checked")
    CHECKED = "checked", _("result checked")


#: Levels of a pass that says something of the card and does not prove it good; best first.
LOWER = (LevelChoice.RAN.value, LevelChoice.DETECTED.value)
#: Verdicts that say something about the hardware; the others say that nobody asked it.
SAYS = (VerdictChoice.PASSED.value, VerdictChoice.WARNING.value, VerdictChoice.FAILED.value)

#: Verdicts that are no pass: the card stays to be tested.
NOT_PASSED = tuple(verdict.value for verdict in VerdictChoice if verdict is not VerdictChoice.PASSED)


class Look(NamedTuple):
    """How a state or verdict is shown besides its label. tone: good, warning, error, busy or none."""

    sign: str
    tone: str


LOOKS: dict[str, Look] = {
    State.QUEUED.value: Look("…", "none"),
    State.CREATING.value: Look("…", "busy"),
    State.PENDING.value: Look("…", "busy"),
    State.PULLING.value: Look("↓", "busy"),
    State.RUNNING.value: Look("▶", "busy"),
    State.COLLECTING.value: Look("▶", "busy"),
    VerdictChoice.PASSED.value: Look("✓", "good"),
    VerdictChoice.WARNING.value: Look("!", "warning"),
    VerdictChoice.FAILED.value: Look("✕", "error"),
    VerdictChoice.ERRORED.value: Look("?", "warning"),
    VerdictChoice.SKIPPED.value: Look("–", "none"),
}
