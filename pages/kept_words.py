"""Why nothing of one card or node is given out, in words; the labels of `KeptOff` are said of several: "4 on cordoned nodes"."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from inventory.models.choices import KeptOff

_WORDS: dict[str, str | Promise] = {
    KeptOff.STALE: _("cluster without word"),
    KeptOff.NOT_READY: _("node not ready"),
    KeptOff.READINESS_UNKNOWN: _("not known whether the node is ready"),
    KeptOff.CORDONED: _("node cordoned"),
    KeptOff.UNHEALTHY: _("unhealthy"),
}


def kept_off_word(why: str) -> str:
    """ "" for nothing, and for what is no reason."""
    return str(_WORDS[why]) if why in _WORDS else ""
