"""Validations: does every card work, and who says so? The answer, and a table of all runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from pages.frame import choices
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.permission import may_launch
from pages.rows.runs import run_line
from pages.sections.answer import answer
from pages.words import runs as words
from pages.words.runs import suite_title
from resources.run import RUNS
from validations import querysets
from validations.models import Campaign, CampaignState, Run, VerdictChoice
from validations.suites import registry


def suite_choices() -> Sequence[tuple[str, str]]:
    return [(suite.id, suite_title(suite.id)) for suite in registry().values()]


def _shape(rows: list[Any]) -> list[Any]:
    return [run_line(run) for run in rows]


SPEC = ListSpec(
    resource=RUNS,
    fields=(
        Field("q", _("Search"), placeholder=_("run, suite, node, card, model, user"), wide=True),
        Field("cluster", _("Cluster"), choices.clusters),
        Field("suite", _("Suite"), suite_choices),
        Field("verdict", _("Verdict"), VerdictChoice.choices),
        Field("level", _("Test level"), words.LEVELS),
        Field("active", _("State"), (("true", _("Active")), ("false", _("Ended")))),
        Field("node", _("Node")),
        Field("card", _("Card"), placeholder=_("UUID or index")),
        Field("requested_by", _("Started by")),
    ),
    shape=_shape,
    page="validations/page.html",
    part="validations/part.html",
    caption=_("Runs"),
    cells="validations/run_cells",
    key=lambda line: f"run-{line.row.id}",
    style="runs told",
)


@require_safe
@answered
def validations(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, SPEC, lambda _: _context(request))


def _context(request: HttpRequest) -> dict[str, Any]:
    return {
        "tab": "runs",
        "validated": answer(),
        "may_launch": may_launch(request),
        "under_way": querysets.runs_active().count(),
        "campaigns_open": Campaign.objects.filter(state__in=(CampaignState.RUNNING, CampaignState.PAUSED)).count(),
        "any_run": Run.objects.exists(),
    }
