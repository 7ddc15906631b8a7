"""Causes for which cards were not reached, in the words of the pages. Asks no table."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from pages import run_words
from validations import missed

_WORDS: dict[str, Promise] = {
    missed.ERRORED: gettext_lazy("the run errored"),
    missed.CANCELLED: gettext_lazy("the run was cancelled"),
    missed.NOTHING: gettext_lazy("the test did nothing there"),
    missed.ANOTHER_CARD: gettext_lazy("the run took another card"),
    missed.CARD_UNKNOWN: gettext_lazy("it is not known which card the run took"),
    missed.NO_FIT: gettext_lazy("the suite does not fit there"),
    missed.NOT_BEGUN: gettext_lazy("the campaign ended before their turn"),
    missed.UNDER_WAY: gettext_lazy("under way"),
    missed.WAITING: gettext_lazy("waiting for their turn"),
}


def cause_words(cause: str) -> str:
    """A cause, or the reason code of a refusal, without a full stop."""
    known = _WORDS.get(cause)
    return str(known) if known is not None else run_words.headline(cause) or cause
