"""Spans of time in words, for pages and terminals."""

from __future__ import annotations

from django.utils.translation import gettext as _

MINUTE, HOUR, DAY = 60, 3600, 86400


def span(seconds: float) -> str:
    """A span of time in its largest unit: 12 s, 3 min, 5 h, 40 d. A negative span (clocks differ) is 0 s."""
    whole = max(0, int(seconds))
    if whole < MINUTE:
        return _("%(n)d s") % {"n": whole}
    if whole < HOUR:
        return _("%(n)d min") % {"n": whole // MINUTE}
    if whole < 2 * DAY:
        return _("%(n)d h") % {"n": whole // HOUR}
    return _("%(n)d d") % {"n": whole // DAY}
