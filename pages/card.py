"""One card: who holds it now and held it before, its memory over time, and where each number comes from."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from inventory import querysets
from inventory.measured import with_usage
from inventory.models import Card
from inventory.stacks.engine import base
from pages import timeline
from pages.allocations import allocation_line
from pages.bars import why_unknown
from pages.cardrows import card_row
from pages.findings import finding_lines
from pages.frame.freshness import notices
from pages.frame.links import state_url, with_query
from pages.frame.live import live_page
from pages.frame.refusals import BadParameter, NotThere, answered
from pages.rooms import rooms_of
from pages.usage import usage_facts, why_not_collected

#: Allocations that the page reads; the rest of the history is one link away.
MOST_HELD = 200
WINDOWS = (
    ("6h", 6, gettext_lazy("6 hours")),
    ("1d", 24, gettext_lazy("1 day")),
    ("7d", 168, gettext_lazy("7 days")),
    ("30d", 720, gettext_lazy("30 days")),
)


@require_safe
@answered
def card(request: HttpRequest, card_id: int) -> HttpResponseBase:
    found = querysets.cards_ever().filter(pk=card_id).first() if card_id < 2**63 else None
    if found is None:
        raise NotThere(_("There is no card with this number."), "", [(_("all cards"), reverse("cards"))])
    hours = _hours(request)
    context = _context(found, hours) | {"notices": notices(request, {found.cluster_id})}
    context["windows"] = [(str(title), state_url(request, window=name), span == hours) for name, span, title in WINDOWS]
    return live_page(request, "cards/card.html", "cards/card_part.html", context)


def _hours(request: HttpRequest) -> int:
    wanted = request.GET.get("window", "1d")
    for name, hours, _title in WINDOWS:
        if name == wanted:
            return hours
    raise BadParameter(
        {"window": [_("One of %(names)s is wanted.") % {"names": ", ".join(name for name, *_rest in WINDOWS)}]}
    )


def _context(found: Card, hours: int) -> dict[str, Any]:
    mine = {"cluster_id": found.cluster_id, "node_name": found.node_name}
    held = list(querysets.allocations_ever().filter(card=found).order_by("-started_at", "-id")[:MOST_HELD])
    now_held = sorted((one for one in held if one.ended_at is None), key=lambda one: (one.started_at, one.pk))
    findings = (
        querysets.findings_now().filter(card_key=found.key, **mine).order_by("severity_rank", "-first_seen_at", "id")
    )
    end = found.gone_at or _steady_now(hours)
    begin = end - timedelta(hours=hours)
    seen_from = _seen_from(held, found)
    room = found.found_room
    here = {"cluster": found.cluster.name, "card_id": found.pk, "ended": "any"}
    with_usage([found])
    row = card_row(found, now_held)
    return {
        "card": found,
        "row": row,
        "usage": row.usage,
        "usage_facts": usage_facts(row.usage),
        "usage_why": "" if row.usage.measured_at or row.usage.lost_at else why_not_collected(found),
        "rooms": rooms_of((room,), {found.key: (row.name, "")}) if room and not found.gone_at else None,
        "now_held": [allocation_line(one) for one in now_held],
        "before": [allocation_line(one) for one in held if one.ended_at is not None][:20],
        "cut": len(held) == MOST_HELD,
        "findings": finding_lines(findings[:20]),
        "picture": _picture(found, held, begin, end, seen_from),
        "picture_why": _why_no_picture(found),
        "stretches": _table(held, found, begin, end, seen_from),
        "siblings": querysets.cards_present().filter(**mine).exclude(pk=found.pk).order_by("index", "id")[:32],
        "history_url": with_query(reverse("allocations"), **here),
    }


def _steady_now(hours: int) -> datetime:
    """Now, forward to the next 480th of the window: else the picture would differ by less than a pixel at each refresh."""
    step = hours * 3600 // 480
    return datetime.fromtimestamp(math.ceil(timezone.now().timestamp() / step) * step, tz=UTC)


def _seen_from(held: list[Any], found: Card) -> Any:
    """From when on the history of a card is complete: since it was seen, or since the oldest allocation that was read."""
    if len(held) == MOST_HELD:
        return max(found.first_seen_at, held[-1].started_at)
    return found.first_seen_at


def _picture(found: Card, held: list[Any], begin: Any, end: Any, seen_from: Any) -> timeline.Picture | None:
    if _why_no_picture(found):
        return None
    return timeline.picture(held, begin, end, found.memory_total_bytes, seen_from)


def _table(held: list[Any], found: Card, begin: Any, end: Any, seen_from: Any) -> list[timeline.Stretch]:
    """The same in numbers, newest first."""
    if seen_from >= end:
        return []
    return timeline.stretches(held, max(begin, seen_from), end)[::-1][:60]


def _why_no_picture(found: Card) -> str:
    """Why no curve can be drawn: without a source that places holders on this card, an empty curve would be a lie."""
    if found.state == "unknown" and found.mode != base.MEMORY:
        return why_unknown(found)
    return ""
