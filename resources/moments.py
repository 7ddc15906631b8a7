"""Times that lists are asked for: `at` one moment, or `from` and `to` a stretch of time.

A moment is written as in ISO 8601, or as an age: 24h is 24 hours ago. Where it names no zone it is in that of the installation, on
pages in the reader's.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import django_filters as df
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from runtime.clock import database_now

AT, FROM, TO = "at", "from", "to"
NAMES = (AT, FROM, TO)
#: What comes from an address may have lost its plus to a blank.
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(?: ?(Z|z|UTC)| ?([+-])(\d\d):?(\d\d)| (\d\d):(\d\d))?)?",
    re.ASCII,
)
_AGE = re.compile(r"-?(\d{1,5}) ?(m|min|h|d)", re.ASCII)
_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days"}
#: Clocks of a browser and of the database differ by less.
_AHEAD = timedelta(minutes=1)


class Columns(NamedTuple):
    """Where a row says from when to when something was: the column of the end is null while it is."""

    began: str
    ended: str


class Span(NamedTuple):
    """From begin to end, both included; begin None: from ever. Of one moment both are the same."""

    begin: datetime | None
    end: datetime

    @property
    def moment(self) -> bool:
        return self.begin == self.end

    def during(self, columns: Columns) -> Q:
        """Rows of what was then: it had begun, and it ended after, or has not."""
        begun = Q(**{f"{columns.began}__lte": self.end})
        if self.begin is None:
            return begun
        return begun & (Q(**{f"{columns.ended}__isnull": True}) | Q(**{f"{columns.ended}__gt": self.begin}))


def moment_of(text: str) -> datetime | None:
    """The moment that is meant, in UTC; None when it is none. An age asks the database's clock."""
    if age := _AGE.fullmatch(text):
        try:
            return database_now() - timedelta(**{_UNITS[age[2]]: int(age[1])})
        except OverflowError:
            return None
    found = _MOMENT.fullmatch(text)
    return _written(found) if found else None


def _written(found: re.Match[str]) -> datetime | None:
    day, clock, zulu, sign, hours, minutes, *blank = found.groups()
    if blank[0]:
        sign, hours, minutes = "+", *blank
    zone = "+00:00" if zulu else f"{sign}{hours}:{minutes}" if sign else ""
    try:
        moment = datetime.fromisoformat(f"{day}T{clock or '00:00'}{zone}")
        aware = moment if moment.tzinfo else timezone.make_aware(moment)
        return aware.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def with_zone(text: str) -> str:
    """The same with the zone that it is read in, where it names none: who is sent an address may be in another."""
    found = _MOMENT.fullmatch(text)
    moment = _written(found) if found and not any(found.groups()[2:]) else None
    if moment is None:
        return text
    return timezone.localtime(moment).isoformat(timespec="seconds" if moment.second else "minutes")


class MomentField(forms.CharField):
    def clean(self, value: Any) -> datetime | None:
        text = str(super().clean(value)).strip()
        if not text:
            return None
        moment = moment_of(text)
        if moment is None:
            wanted = _(
                "Must be a time, such as 2026-11-22T02:00 (default zone: %(zone)s, or add Z or +08:00), or an "
                "age, such as 24h or 7d. Got: %(text)s."
            )
            raise ValidationError(wanted % {"zone": zone_name(), "text": repr(text[:64])})
        return moment


class MomentFilter(df.Filter):
    """One of the names: the filter set reads all of them together."""

    field_class = MomentField

    def __init__(self, label: str) -> None:
        super().__init__(label=label, max_length=64)

    def filter(self, qs: Any, value: Any) -> Any:
        return qs


def filters() -> dict[str, df.Filter]:
    return {
        AT: MomentFilter(label="state at this time"),
        FROM: MomentFilter(label="state at any time from this time"),
        TO: MomentFilter(label="state at any time until this time"),
    }


def span_of(cleaned: dict[str, Any]) -> Span | None:
    """What the cleaned values of a form ask for; None when they ask for no time."""
    if at := cleaned.get(AT):
        return Span(at, at)
    begin, end = cleaned.get(FROM), cleaned.get(TO)
    return None if begin is None and end is None else Span(begin, end or database_now())


def wrong_together(cleaned: dict[str, Any]) -> list[tuple[str, str]]:
    """(name, what is wrong) of times that make no sense with each other, or that have not come yet."""
    at, begin, end = (cleaned.get(name) for name in NAMES)
    found = []
    if at and (begin or end):
        found.append((AT, _("Use either at, or from and to.")))
    if begin and end and begin > end:
        found.append((TO, _("Must not be before from.")))
    now = database_now() if at or begin else None
    for name, moment in ((AT, at), (FROM, begin)):
        if moment and now and moment > now + _AHEAD:
            found.append((name, _("Must not be in the future.")))
    return found


def zone_name(moment: datetime | None = None) -> str:
    """The zone that times without one are in, as people call it then: UTC, CET; UTC+03:00 where it has no name."""
    local = timezone.localtime(moment)
    name, offset = local.tzname() or "", local.strftime("%z")
    return name if name.isalpha() else f"UTC{offset[:3]}:{offset[3:5]}"
