"""One card: its allocations now and before, its memory over time, and where each number comes from."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from inventory.history import packed
from inventory.history.named import Named
from inventory.history.series import WINDOWS, Window, series
from inventory.models import Card, NodeTotals, Subject
from inventory.models.choices import Mode
from inventory.queries import availability
from inventory.queries import rows as querysets
from inventory.queries.measured import with_usage
from inventory.queries.pod_usage import holders_of
from pages.allocations import allocation_line
from pages.charts import plot, timeline
from pages.charts.bars import why_unknown
from pages.charts.charts import chart_of, window_of, windows
from pages.frame.freshness import notices
from pages.frame.labels import label_of
from pages.frame.links import with_query
from pages.frame.live import live_page
from pages.frame.refusals import NotThere, answered
from pages.permission import SILENCE, may
from pages.rows.cards import card_row
from pages.rows.findings import finding_lines, finding_rows, row_key
from pages.rows.slices import rooms_of
from pages.sections.changes import steady_now
from pages.sections.health import health_lines, sign_of, silent
from pages.sections.next_steps import steps, worst_of
from pages.usage import usage_facts, why_not_collected
from resources import moments
from stacks.engine import base

#: Allocations that the page reads; the rest of the history is one link away.
MOST_HELD, MOST_RECENT = 200, 12
DAY = next(one for one in WINDOWS if one.name == "1d")


def found_card(card_id: int) -> Card:
    """The card, present or removed. Raises NotThere."""
    found = querysets.cards_ever().filter(pk=card_id).first() if card_id < 2**63 else None
    if found is None:
        raise NotThere(_("No card has this number."), "", [(_("all cards"), reverse("cards"))])
    return found


@require_safe
@answered
def card(request: HttpRequest, card_id: int) -> HttpResponseBase:
    found = found_card(card_id)
    window = window_of(request)
    context = _context(found, window) | {"notices": notices(request, {found.cluster_id})}
    context |= {"windows": windows(request, window), "history_open": "window" in request.GET}
    context["may_silence"] = may(request, SILENCE)
    return live_page(request, "cards/card.html", "cards/card_part.html", context)


def _context(found: Card, window: Window) -> dict[str, Any]:
    mine = {"cluster_id": found.cluster_id, "node_name": found.node_name}
    held = list(querysets.holds_of_card(found.pk).order_by("-started_at", "-id")[:MOST_HELD])
    now_held = sorted((one for one in held if one.ended_at is None), key=lambda one: (one.started_at, one.pk))
    rows = querysets.findings_now().filter(card_key=found.key, **mine).order_by("severity_rank", "-first_seen_at", "id")
    findings = finding_lines(rows[:20])
    end = found.removed_at or steady_now(window.seconds)
    begin = end - timedelta(seconds=window.seconds)
    seen_from = _seen_from(held, found)
    room = found.found_room
    here = {"cluster": found.cluster.name, "card_id": found.pk, "ended": "any"}
    availability.cards_now([found])
    with_usage([found])
    row = card_row(found, now_held)
    node = NodeTotals.objects.filter(**mine).only("health_reports").first() if found.removed_at is None else None
    of_node = node.found_health if node is not None else []
    why_not = "" if row.usage.measured_at or row.usage.lost_at else why_not_collected(found)
    reports = found.found_health
    lines = health_lines(worst_of(reports) or reports)
    recent = [one for one in held if one.ended_at is not None and one.ended_at >= begin][:MOST_RECENT]
    return {
        "card": found,
        "mode_words": label_of(Mode, found.mode),
        "row": row,
        "title": f"{row.node} {row.name}",
        "usage": row.usage,
        "usage_facts": usage_facts(row.usage),
        "usage_why": why_not,
        "sparks": _sparks(found) if row.usage.measured_at else None,
        "level": sign_of(found.health),
        "report": lines[0] if lines else None,
        "steps": steps(found, now_held, reports) if found.removed_at is None else [],
        "health_lines": health_lines(reports),
        "health_silent": silent(found, row.usage, why_not, of_node) if found.removed_at is None else [],
        "node_health_lines": health_lines(of_node),
        "rooms": rooms_of((room,), {found.key: (row.name, "")}) if room and not found.removed_at else None,
        "allocations": [allocation_line(one) for one in (*holders_of(found, now_held), *recent)],
        # What the head of the page says is not said again.
        "findings": finding_rows(line for line in findings if row_key(line) or line.row.severity == base.INFO),
        "of_health": [line for line in findings if not row_key(line) and line.row.severity != base.INFO],
        "seen_at": next((line.row.first_seen_at for line in findings if not row_key(line)), None),
        "chart": chart_of(Named(found.cluster, Subject.CARD, str(found.pk), found), window),
        "picture": _picture(found, held, begin, end, seen_from),
        "picture_why": _why_no_picture(found),
        "stretches": _table(held, found, begin, end, seen_from),
        "history_url": with_query(reverse("allocations"), **here),
        "zone": moments.zone_name(),
    }


def _sparks(found: Card) -> dict[str, plot.Path | None]:
    """Memory and activity of a day."""
    told = series(found.cluster_id, Subject.CARD, str(found.pk), DAY, timezone.now())
    moments = [told.begin + timedelta(seconds=told.step_s * step) for step in range(told.length)]
    used, activity = (
        list(zip(moments, told.columns.get(name, ()), strict=False)) for name in (packed.USED, packed.ACTIVITY)
    )
    size = found.memory_total_bytes or found.memory_physical_bytes or 0
    most = max((size, 1, *(value for _at, value in used if value is not None)))
    return {"memory": plot.spark(used, top=most), "activity": plot.spark(activity, look="activity", top=1)}


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
    """Why no curve can be drawn: without identified allocations an empty curve would be wrong."""
    if found.state == "unknown" and found.mode != base.MEMORY:
        return why_unknown(found)
    return ""
