"""Suspects: cards and nodes with evidence against them, each with the button to validate it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from inventory.failures.gaps import GAP
from inventory.failures.look import DAYS, HOURS
from inventory.failures.rule import CHANCE, MIN_NAMESPACES
from pages.frame.freshness import notices
from pages.frame.live import live_page
from pages.frame.refusals import answered
from pages.permission import LAUNCH, may
from runtime.cached import shareable
from validations.suspects import suspects


@shareable
@require_safe
@answered
def suspects_page(request: HttpRequest) -> HttpResponseBase:
    found = suspects()
    shown = {
        "found": found,
        "several": len({one.of.cluster for one in found.rows}) > 1,
        "days": DAYS,
        "percent": f"{CHANCE:.0%}",
        "least": MIN_NAMESPACES,
        "points": f"{GAP * 100:.0f}",
        "hours": HOURS,
        "may_launch": may(request, LAUNCH),
        "notices": notices(request),
    }
    return live_page(request, "suspects/page.html", "suspects/part.html", shown)
