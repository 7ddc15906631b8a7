"""Why one card or node is unavailable, in words; the labels of `UnavailableReason` stand after a number."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from inventory.models.choices import UnavailableReason

_WORDS: dict[str, str | Promise] = {
    UnavailableReason.STALE: _("cluster data is stale"),
    UnavailableReason.NOT_READY: _("node not ready"),
    UnavailableReason.READINESS_UNKNOWN: _("node readiness unknown"),
    UnavailableReason.CORDONED: _("node cordoned"),
    UnavailableReason.UNHEALTHY: _("unhealthy"),
}


def unavailable_reason_word(why: str) -> str:
    """ "" for nothing, and for what is no reason."""
    return str(_WORDS[why]) if why in _WORDS else ""
