"""Notifications: channels, rules and the silences in force, each in short. For administrators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.required import needs
from accounts.roles import Role
from notifications import reading
from notifications.models import Channel, Delivery, DeliveryState, Rule
from pages.frame.live import live_page
from pages.frame.refusals import answered
from pages.silences import silence_lines
from pages.words import notifications as words
from pages.words.runs import Shown
from resources.silence import silences
from runtime.clock import database_now

#: Channels and rules that are listed: more than a team has. Silences have a list of their own.
MOST, SILENCES_SHOWN = 200, 8


@dataclass(frozen=True)
class ChannelLine:
    row: Channel
    url: str
    kind: str
    state: Shown
    answer: str


@dataclass(frozen=True)
class RuleLine:
    """A rule in words. title: what it is about with the types of findings."""

    row: Rule
    url: str
    about: str
    title: str
    scope: str
    severity: str
    when: str


def channel_line(row: Channel) -> ChannelLine:
    state = reading.state_of(row)
    return ChannelLine(
        row=row,
        url=reverse("channel", args=[row.pk]),
        kind=words.kind(row.kind),
        state=words.channel_state(row),
        answer=row.answer if state in (reading.FAILING, reading.GONE) else "",
    )


def rule_line(row: Rule) -> RuleLine:
    about, codes = words.about(row), words.codes(row.codes)
    return RuleLine(
        row=row,
        url=reverse("rule", args=[row.pk]),
        about=about,
        title=f"{about}: {codes}" if codes else about,
        scope=words.scope(row),
        severity=words.severity(row),
        when=words.when(row),
    )


def _summary(rows: Iterable[Channel]) -> list[tuple[str, str]]:
    """(level, text): channels by what is wrong with them."""
    states = [reading.state_of(row) for row in rows]
    bad = sum(state in (reading.FAILING, reading.GONE) for state in states)
    paused = states.count(reading.PAUSED)
    told = [("error", ngettext("%(n)d channel is failing", "%(n)d channels are failing", bad) % {"n": bad})] * bool(bad)
    good = len(states) - bad - paused
    told += [("good", ngettext("%(n)d channel ok", "%(n)d channels ok", good) % {"n": good})] * bool(good)
    return told + [("none", _("%(n)d paused") % {"n": paused})] * bool(paused)


def _undelivered() -> dict[str, int]:
    """Of the deliveries that are kept."""
    failed, uncertain = Q(state=DeliveryState.FAILED), Q(state=DeliveryState.UNCERTAIN)
    counts: dict[str, int] = Delivery.objects.aggregate(
        failed=Count("pk", filter=failed), uncertain=Count("pk", filter=uncertain)
    )
    return counts


@needs(Role.ADMIN)
@require_safe
@answered
def notifications(request: HttpRequest) -> HttpResponseBase:
    channels = list(reading.channels().order_by("name")[:MOST])
    rules = list(reading.rules().select_related("channel").order_by("name")[:MOST])
    in_force = silences().filter(ended_at=None, until__gt=database_now()).order_by("until")
    shown = list(in_force[: SILENCES_SHOWN + 1])
    number = len(shown) if len(shown) <= SILENCES_SHOWN else in_force.count()
    context: dict[str, Any] = {
        "summary": _summary(channels),
        "undelivered": _undelivered(),
        "channels": [channel_line(row) for row in channels],
        "rules": [rule_line(row) for row in rules],
        "silences": silence_lines(request, shown[:SILENCES_SHOWN]),
        "more_silences": number - len(shown[:SILENCES_SHOWN]),
    }
    return live_page(request, "notifications/page.html", "notifications/part.html", context)
