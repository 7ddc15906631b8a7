"""The time that a list is asked for, on its page: in words, as choices, and as a small form. Knows requests, not tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame import times
from pages.frame.links import state_url
from resources import moments
from resources.filter_sets import StrictFilterSet

#: Ages that are offered, of `from`.
_CHOICES = (
    ("1h", gettext_lazy("last hour")),
    ("24h", gettext_lazy("last 24 h")),
    ("7d", gettext_lazy("last 7 days")),
)


@dataclass(frozen=True)
class When:
    """words: the time that is asked for, "" for now. chips: (title, address, whether it is in force).

    at, begin, end: for the fields of the form, in the zone of `zone`. errors: name → what is wrong with it. kept: the other
    parameters, which the form carries. days: for how long what has ended is kept; old: what is asked for is older than that.
    """

    words: str
    chips: list[tuple[str, str, bool]]
    at: str
    begin: str
    end: str
    zone: str
    errors: dict[str, str]
    kept: list[tuple[str, str]]
    days: int
    old: bool


def when_of(request: HttpRequest, filterset: StrictFilterSet) -> When | None:
    """None for a list that knows no times."""
    if filterset.period is None:
        return None
    errors = {name: " ".join(map(str, texts)) for name, texts in filterset.errors.items() if name in moments.NAMES}
    span = filterset.span
    oldest = (span.begin or span.end) if span else None
    limit = timezone.now() - timedelta(days=settings.HISTORY_DAYS)
    asked = {name: request.GET.get(name, "") for name in moments.NAMES}
    return When(
        words=_words(span, asked) if span else "",
        chips=_chips(request, asked, filterset),
        at=_field(span.end if span and asked[moments.AT] else None),
        begin=_field(span.begin if span and asked[moments.FROM] else None),
        end=_field(span.end if span and asked[moments.TO] else None),
        zone=moments.zone_name(span.end if span else None),
        errors=errors,
        kept=_kept(request, filterset),
        days=settings.HISTORY_DAYS,
        old=oldest is not None and oldest < limit,
    )


def _words(span: moments.Span, asked: dict[str, str]) -> str:
    if span.moment:
        return _("At %(at)s") % {"at": shown(span.end)}
    title = dict(_CHOICES).get(asked[moments.FROM])
    if title is not None and not asked[moments.TO]:
        return _("Since %(start)s (%(title)s)") % {"start": shown(span.begin), "title": title}
    if span.begin is None:
        return _("Until %(end)s") % {"end": shown(span.end)}
    if not asked[moments.TO]:
        return _("Since %(start)s") % {"start": shown(span.begin)}
    return _("From %(start)s to %(end)s") % {"start": shown(span.begin), "end": shown(span.end)}


def shown(moment: datetime | None) -> str:
    """A moment with its zone; seconds only where it has some."""
    return times.with_zone(moment, seconds=bool(moment.second)) if moment else ""


def _of_now(request: HttpRequest, filterset: StrictFilterSet) -> set[str]:
    """Parameters that cannot go with a time: a choice of one leaves them out."""
    ordered = {name.removeprefix("-") for name in request.GET.get("ordering", "").split(",")}
    return {*filterset.of_now, *(["ordering"] if filterset.of_now & ordered else [])}


def _chips(request: HttpRequest, asked: dict[str, str], filterset: StrictFilterSet) -> list[tuple[str, str, bool]]:
    none: dict[str, str | None] = dict.fromkeys(moments.NAMES)
    chips = [(_("now"), state_url(request, **none), not any(asked.values()))]
    none |= dict.fromkeys(_of_now(request, filterset))
    for age, title in _CHOICES:
        in_force = asked == {moments.AT: "", moments.FROM: age, moments.TO: ""}
        chips.append((str(title), state_url(request, **none | {moments.FROM: age}), in_force))
    return chips


def _field(moment: datetime | None) -> str:
    """What a field for a date and a time takes."""
    return timezone.localtime(moment).strftime("%Y-%m-%dT%H:%M") if moment else ""


def _kept(request: HttpRequest, filterset: StrictFilterSet) -> list[tuple[str, str]]:
    left_out = {*moments.NAMES, "cursor", "format", *_of_now(request, filterset)}
    return [(name, one) for name, values in request.GET.lists() if name not in left_out for one in values if one]
