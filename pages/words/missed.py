"""Causes for which cards were not reached, in the words of the pages. Asks no table."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from pages.words import runs as run_words
from validations import missed

_WORDS: dict[str, Promise] = {
    missed.ERRORED: gettext_lazy("run errored"),
    missed.CANCELLED: gettext_lazy("run cancelled"),
    missed.NOTHING: gettext_lazy("test skipped"),
    missed.ANOTHER_CARD: gettext_lazy("another card was allocated"),
    missed.CARD_UNKNOWN: gettext_lazy("card unidentified"),
    missed.NOT_APPLICABLE: gettext_lazy("suite not applicable"),
    missed.NOT_STARTED: gettext_lazy("campaign ended before the run"),
    missed.ACTIVE_RUN: gettext_lazy("active"),
    missed.QUEUED: gettext_lazy("not started yet"),
}


def cause_words(cause: str) -> str:
    """A cause, or the reason code of a refusal, without a full stop."""
    known = _WORDS.get(cause)
    return str(known) if known is not None else run_words.headline(cause) or cause
