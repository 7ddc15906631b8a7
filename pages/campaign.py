"""One campaign: how far it is, its failures first, and the grid of its nodes and cards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from pages.campaigns import campaign_line, found_campaign
from pages.frame import amounts
from pages.frame.freshness import notices
from pages.frame.live import live_page
from pages.frame.refusals import BadParameter, answered
from pages.permission import may_campaign
from pages.sections.campaign_grid import grid
from pages.sections.campaign_lines import TargetLine, target_line
from pages.words import runs as words
from pages.words.missed import cause_words
from validations import campaigns as running
from validations import querysets
from validations.coverage import coverage
from validations.models import Campaign

FAILURES = 20
_ORDER = ("failed", "errored", "warning", "passed", "active", "skipped", "not_tested", "left")


@dataclass(frozen=True)
class Part:
    """A piece of the progress bar. width: 0 to 1."""

    name: str
    title: str
    level: str
    sign: str
    count: int
    width: str


@dataclass(frozen=True)
class Cause:
    """How many cards were not reached for one reason, in words."""

    count: int
    words: str


@dataclass(frozen=True)
class Group:
    """Places that did not pass for one reason."""

    reason: str
    lines: list[TargetLine]


@require_safe
@answered
def campaign(request: HttpRequest, campaign_id: str) -> HttpResponseBase:
    """?page=N: of the nodes of the grid."""
    row = found_campaign(campaign_id)
    return live_page(
        request, "validations/campaign.html", "validations/campaign_part.html", _context(request, row, _page(request))
    )


def _page(request: HttpRequest) -> int:
    unknown = {name[:64]: [_("page is the only parameter of a campaign.")] for name in request.GET if name != "page"}
    text = request.GET.get("page", "1")
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text)):
        unknown["page"] = [_("Must be an integer from 1.")]
    if unknown:
        raise BadParameter(unknown)
    return int(text)


def _context(request: HttpRequest, row: Campaign, page: int) -> dict[str, Any]:
    targets = querysets.campaign_targets(row.pk)
    bad = Q(run__verdict__in=running.FAILURES) | Q(run=None, tried__verdict__in=running.FAILURES)
    failed = targets.filter(bad).order_by("-run__verdict", "position", "id")
    counts = running.progress(row)
    total = _total(counts)
    open_ = row.state in ("running", "paused")
    cards = coverage(row)
    return {
        "campaign": row,
        "line": campaign_line(row),
        "parts": _parts(counts, total),
        "total": total,
        "settled": total - counts["left"] - counts["active"],
        "cards": cards,
        "causes": [Cause(count, cause_words(name)) for name, count in cards.why.items()],
        "not_passed": failed.count(),
        "failures": _grouped([target_line(one) for one in failed[:FAILURES]]),
        "failures_shown": FAILURES,
        "grid": grid(row, page),
        "targets_url": reverse("campaign-targets", args=[row.pk]),
        "notices": notices(request),
        "verbs": [
            verb
            for verb, ok in (("pause", row.state == "running"), ("resume", row.state == "paused"), ("stop", open_))
            if ok
        ],
        "may_launch": may_campaign(request),
    }


def _grouped(lines: list[TargetLine]) -> list[Group]:
    """Those that went wrong for one reason stand together, so that it is told once."""
    found: dict[tuple[str, str], list[TargetLine]] = {}
    for line in lines:
        found.setdefault((line.shown.words, line.reason), []).append(line)
    return [Group(reason, rows) for (_words, reason), rows in found.items()]


def _total(counts: dict[str, int]) -> int:
    return sum(counts.get(name, 0) for name in _ORDER)


def _parts(counts: dict[str, int], total: int) -> list[Part]:
    other = {
        "active": (_("active"), "busy", "▶"),
        "skipped": (_("not applicable"), "none", "–"),
        "not_tested": (_("not tested"), "warning", "?"),
        "left": (_("not started"), "none", "·"),
    }
    made = []
    for name in _ORDER:
        count = counts.get(name, 0)
        if name in other:
            title, level, sign = other[name]
        else:
            look = words.shown(name)
            title, level, sign = look.words, look.level, look.sign
        if count:
            made.append(Part(name, title, level, sign, count, amounts.width(count, total)))
    return made
