"""Campaigns: a list of them, and one with its matrix, its failures first; pause, resume, stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from pages.frame import amounts, choices
from pages.frame.labels import label_of
from pages.frame.links import node_url, with_query
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import NotThere, answered
from pages.frame.table import Column, columns_of
from pages.frame.worded import worded
from pages.permission import campaigners_only, may_campaign
from pages.rows.runs import RunLine, run_line
from pages.sections.answer import answer
from pages.validations import suite_choices
from pages.words import runs as words
from pages.words.missed import cause_words
from resources.campaign import CAMPAIGNS, MATRIX
from validations import campaigns as running
from validations import querysets
from validations.coverage import coverage
from validations.models import Campaign, CampaignState, CampaignTarget, VerdictChoice
from validations.models.run import said_of
from validations.querysets import with_results
from validations.reaching import took_another
from wording.said import restored

TILES, FAILURES = 600, 20
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
class CampaignLine:
    """A campaign in a list. level, words: its state."""

    row: Campaign
    url: str
    suite: str
    level: str
    words: str


@dataclass(frozen=True)
class TargetLine:
    """A place of a campaign: a tile of the matrix, and a row of its table. words: all of it for the title."""

    row: CampaignTarget
    name: str
    node_url: str
    shown: words.Shown
    run: RunLine | None
    reason: str
    words: str


@dataclass(frozen=True)
class Group:
    """Places that did not pass for one reason."""

    reason: str
    lines: list[TargetLine]


def campaign_line(row: Campaign) -> CampaignLine:
    level = {"running": "busy", "paused": "none", "stopped": "warning", "done": "good"}.get(row.state, "none")
    return CampaignLine(
        row=row,
        url=reverse("campaign", args=[row.pk]),
        suite=words.suite_title(row.suite),
        level=level,
        words=label_of(CampaignState, row.state),
    )


SPEC = ListSpec(
    resource=CAMPAIGNS,
    fields=(
        Field("suite", gettext_lazy("Suite"), suite_choices),
        Field("state", gettext_lazy("State"), CampaignState.choices),
        Field("requested_by", gettext_lazy("Started by")),
    ),
    shape=lambda rows: [campaign_line(row) for row in rows],
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
    page="validations/campaign.html",
    part="validations/campaign_part.html",
    caption=gettext_lazy("Targets of the campaign"),
    cells="validations/target_cells",
    key=lambda line: f"target-{line.row.position}",
)


@require_safe
@answered
def campaigns(request: HttpRequest) -> HttpResponseBase:
    def context() -> dict[str, Any]:
        return {"tab": "campaigns", "validated": answer(), "may_launch": may_campaign(request)}

    return list_page(request, SPEC, context)


def _found(campaign_id: str) -> Campaign:
    row = querysets.campaigns().of_id(campaign_id)
    if row is None:
        close = [(_("all campaigns"), reverse("campaigns"))]
        raise NotThere(_("No campaign %(id)s.") % {"id": campaign_id[:64]}, "", close)
    return row


@require_safe
@answered
def campaign(request: HttpRequest, campaign_id: str) -> HttpResponseBase:
    row = _found(campaign_id)
    spec = replace(TARGETS, rows=lambda: with_results(querysets.campaign_targets(row.pk)))
    return list_page(request, spec, lambda: _context(request, row))


def _context(request: HttpRequest, row: Campaign) -> dict[str, Any]:
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
        "tiles": [target_line(one) for one in targets[:TILES]],
        "tiles_hidden": max(0, total - TILES),
        "verbs": [
            verb
            for verb, ok in (("pause", row.state == "running"), ("resume", row.state == "paused"), ("stop", open_))
            if ok
        ],
        "may_launch": may_campaign(request),
        "again_url": with_query(reverse("campaign-new"), suite=row.suite),
        "selector": row.selector if isinstance(row.selector, dict) else {},
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


def target_line(target: CampaignTarget) -> TargetLine:
    name = f"{target.node_name} {target.card_key}".strip()
    run = run_line(_with_cluster(target)) if target.run is not None else None
    if run is not None and took_another(target):
        shown, reason = (
            words.Shown("warning", "?", _("another card")),
            restored(run.row.card_note, said_of(run.row, "card_note")),
        )
    elif target.not_tested:
        shown, reason = words.Shown("warning", "?", _("not tested")), restored(target.not_tested, target.wording)
    elif run is not None:
        shown, reason = _of_run(run), run.reason
    elif target.skipped:
        shown, reason = words.Shown("none", "–", _("not applicable")), restored(target.skipped, target.wording)
    else:
        shown, reason = words.Shown("none", "·", _("not started")), ""
    return TargetLine(
        row=target,
        name=name,
        node_url=node_url(target.cluster.name, target.node_name),
        shown=shown,
        run=run,
        reason=reason,
        words=f"{name}: {shown.words}" + (f". {worded(reason)}" if reason else ""),
    )


def _of_run(run: RunLine) -> words.Shown:
    """In the matrix only the sign is seen: a pass that is no proof is not green there."""
    validated = run.row.verdict != "passed" or run.row.level in ("", "checked")
    return run.shown if validated else replace(run.shown, level="none")


def _with_cluster(target: CampaignTarget) -> Any:
    """The run, its cluster taken from the target: they are the same, and it costs no query."""
    run = target.run
    assert run is not None
    run.cluster = target.cluster
    return run


@require_POST
@campaigners_only
@answered
def campaign_change(request: HttpRequest, campaign_id: str, verb: str) -> HttpResponseBase:
    row = _found(campaign_id)
    try:
        running.change(row, verb)
    except running.WrongState as error:
        messages.info(request, worded(error.args[0]))
    return HttpResponseRedirect(reverse("campaign", args=[row.pk]))
