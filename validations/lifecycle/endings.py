"""Why a run ended other than by its own container: a code and a text that says what happened.

An ending never makes a pass: see `validations.lifecycle.judging`.
"""

from __future__ import annotations

import msgspec

from wording.said import Said, cut, restored, sentence

CANCELLED = "cancelled"
#: A run of a policy that gave way, or was not started because it would not have.
IN_USE, POLICIES_OFF, PREEMPTED = "in-use", "policies-off", "preempted"
GAVE_WAY = frozenset((IN_USE, POLICIES_OFF, PREEMPTED))
#: What ran was not the run's: its log says nothing, good or bad.
NOT_THE_RUNS = frozenset(("pod-changed", "job-of-other-launcher"))


class Ending(msgspec.Struct, frozen=True):
    """code: a reason code that stays. text: in words, the cluster's own where it had some."""

    code: str
    text: str

    def stored(self) -> list[str]:
        return [self.code, cut(self.text if isinstance(self.text, Said) else self.text.replace("\0", ""), 4000)]


def cancelled_by(name: str) -> Ending:
    """name: who asked for the end, "" for nobody by name."""
    return Ending(CANCELLED, sentence("Cancelled by {name}.", name=name or sentence("an operator")))


def of_row(stored: object, form: object = None) -> Ending | None:
    """The ending as it is kept in a run's row, with the form of its text; None for none. One that is not written yet has its form."""
    if isinstance(stored, list) and len(stored) == 2:
        code, text = stored
        return Ending(str(code), text if isinstance(text, Said) else restored(str(text), form))
    return None
