"""Campaigns: a list of them; pause, resume, stop; and the list of the targets of one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from pages.frame import choices
from pages.frame.labels import label_of
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import NotThere, answered
from pages.frame.table import Column, columns_of
from pages.frame.worded import worded
from pages.permission import campaigners_only, may_campaign
from pages.sections.answer import answer
from pages.sections.campaign_lines import target_line
from pages.validations import suite_choices
from pages.words import runs as words
from resources.campaign import CAMPAIGNS, MATRIX
from resources.filter_sets import StrictFilterSet
from validations import campaigns as running
from validations import querysets
from validations.models import Campaign, CampaignState, VerdictChoice
from validations.querysets import with_results


@dataclass(frozen=True)
class CampaignLine:
    """A campaign in a list. level, words: its state. failures: places whose run failed or ended with an error."""

    row: Campaign
    url: str
    suite: str
    level: str
    words: str
    failures: int = 0


def campaign_lines(rows: list[Campaign]) -> list[CampaignLine]:
    failures = running.failures_of(row.pk for row in rows)
    return [campaign_line(row, failures.get(row.pk, 0)) for row in rows]


def campaign_line(row: Campaign, failures: int = 0) -> CampaignLine:
    level = {"running": "busy", "paused": "none", "stopped": "warning", "done": "good"}.get(row.state, "none")
    return CampaignLine(
        failures=failures,
        row=row,
        url=reverse("campaign", args=[row.pk]),
        suite=words.suite_title(row.suite),
        level="warning" if failures and level == "good" else level,
        words=label_of(CampaignState, row.state),
    )


SPEC = ListSpec(
    resource=CAMPAIGNS,
    fields=(
        Field("suite", gettext_lazy("Suite"), suite_choices),
        Field("state", gettext_lazy("State"), CampaignState.choices),
        Field("requested_by", gettext_lazy("Started by")),
    ),
    shape=campaign_lines,
    page="validations/campaigns.html",
    part="validations/campaigns_part.html",
    caption=gettext_lazy("Campaigns"),
    cells="validations/campaign_cells",
    key=lambda line: f"campaign-{line.row.id}",
)
TARGETS = ListSpec(
    resource=MATRIX,
    columns=(
        *columns_of(MATRIX, ("node", "verdict")),
        Column("why", gettext_lazy("Reason")),
        Column("took", gettext_lazy("Duration"), number=True),
    ),
    fields=(
        Field("cluster", gettext_lazy("Cluster"), choices.clusters),
        Field("node", gettext_lazy("Node")),
        Field("verdict", gettext_lazy("Verdict"), VerdictChoice.choices),
        Field("level", gettext_lazy("Test level"), words.LEVELS),
        Field(
            "not_tested",
            gettext_lazy("Card"),
            (("true", gettext_lazy("Not tested")), ("false", gettext_lazy("Tested or open"))),
        ),
        Field(
            "skipped",
            gettext_lazy("Applicable"),
            (("true", gettext_lazy("Not applicable")), ("false", gettext_lazy("Applicable"))),
        ),
    ),
    shape=lambda rows: [target_line(row) for row in rows],
    page="validations/campaign_targets.html",
    caption=gettext_lazy("Targets of the campaign"),
    cells="validations/target_cells",
    key=lambda line: f"target-{line.row.position}",
)


@require_safe
@answered
def campaigns(request: HttpRequest) -> HttpResponseBase:
    def context(found: StrictFilterSet) -> dict[str, Any]:
        return {"tab": "campaigns", "validated": answer(), "may_launch": may_campaign(request)}

    return list_page(request, SPEC, context)


def found_campaign(campaign_id: str) -> Campaign:
    row = querysets.campaigns().of_id(campaign_id)
    if row is None:
        close = [(_("all campaigns"), reverse("campaigns"))]
        raise NotThere(_("No campaign %(id)s.") % {"id": campaign_id[:64]}, "", close)
    return row


@require_safe
@answered
def campaign_targets(request: HttpRequest, campaign_id: str) -> HttpResponseBase:
    row = found_campaign(campaign_id)
    spec = replace(TARGETS, rows=lambda: with_results(querysets.campaign_targets(row.pk)))
    return list_page(request, spec, lambda _: {"campaign": row, "line": campaign_line(row)})


@require_POST
@campaigners_only
@answered
def campaign_change(request: HttpRequest, campaign_id: str, verb: str) -> HttpResponseBase:
    row = found_campaign(campaign_id)
    try:
        running.change(row, verb)
    except running.WrongState as error:
        messages.info(request, worded(error.args[0]))
    return HttpResponseRedirect(reverse("campaign", args=[row.pk]))
