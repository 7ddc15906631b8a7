"""Suites: what each proves, how its runs of late ended, and where to launch it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from pages.frame.freshness import notices
from pages.frame.labels import label_of
from pages.frame.links import with_query
from pages.frame.live import live_page
from pages.frame.refusals import answered
from pages.permission import may_launch
from pages.sections.answer import FRESH_DAYS, answer
from pages.sections.floors import baseline_lines, floor_lines
from pages.words import runs as words
from validations.models import LevelChoice, Run, VerdictChoice
from validations.suites import registry
from validations.suites.engine.base import Suite


@dataclass(frozen=True)
class SuiteLine:
    """A suite. proof: what a pass says of the card; level: how much that is, in words.

    counts: (look, number of runs of its own image that ended so in FRESH_DAYS, address of these runs). others: runs of another image.
    """

    suite: Suite
    title: str
    os: str
    proof: str
    level: str
    launch_url: str
    campaign_url: str
    runs_url: str
    last_at: Any
    counts: list[tuple[words.Shown, int, str]] = field(default_factory=list)
    others: int = 0
    others_url: str = ""


@require_safe
@answered
def suites(request: HttpRequest) -> HttpResponseBase:
    context = {
        "tab": "suites",
        "validated": answer(),
        "suites": suite_lines(),
        "floors": floor_lines(),
        "baselines": baseline_lines(),
        "days": FRESH_DAYS,
        "notices": notices(request),
        "may_launch": may_launch(request),
    }
    return live_page(request, "validations/suites.html", "validations/suites_part.html", context)


def suite_lines() -> list[SuiteLine]:
    """All suites, in the order of their titles: two queries."""
    last = dict(Run.objects.filter(ended_at__isnull=False).values_list("suite").annotate(Max("ended_at")))
    counts = _counts()
    lines = [_line(suite, counts, last) for suite in registry().values()]
    return sorted(lines, key=lambda line: line.title.lower())


def _counts() -> dict[tuple[str, str, bool], int]:
    """(suite, verdict, whether its own image was run) → runs."""
    since = timezone.now() - timedelta(days=FRESH_DAYS)
    rows = Run.objects.filter(ended_at__gte=since).values_list("suite", "verdict", "own_image").annotate(Count("pk"))
    return {(suite, str(verdict), own): number for suite, verdict, own, number in rows}


def _line(suite: Suite, counts: dict[tuple[str, str, bool], int], last: dict[str, Any]) -> SuiteLine:
    page = reverse("validations")
    found = [(verdict.value, counts.get((suite.id, verdict.value, True), 0)) for verdict in VerdictChoice]
    others = sum(counts.get((suite.id, verdict.value, False), 0) for verdict in VerdictChoice)
    return SuiteLine(
        suite=suite,
        title=words.suite_title(suite.id),
        os=", ".join(suite.os),
        proof=words.proof(suite, suite.level),
        level=label_of(LevelChoice, suite.level),
        launch_url=with_query(reverse("validation-new"), suite=suite.id),
        campaign_url=with_query(reverse("campaign-new"), suite=suite.id),
        runs_url=with_query(page, suite=suite.id),
        last_at=last.get(suite.id),
        counts=[
            (words.shown(verdict), number, with_query(page, suite=suite.id, verdict=verdict, own_image="true"))
            for verdict, number in found
            if number
        ],
        others=others,
        others_url=with_query(page, suite=suite.id, own_image="false"),
    )
