"""The report of a campaign, to print or to send: times with their zone, each card, and what was not reached."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from pages.frame.refusals import NotThere, answered
from pages.frame.worded import worded
from pages.permission import campaigners_only, may_campaign
from pages.words import runs as words
from pages.words.missed import cause_words
from resources.certificate import as_file
from validations import querysets, report
from validations.certificate import envelope, issue
from validations.models import Campaign


@require_safe
@answered
def campaign_report(request: HttpRequest, campaign_id: str) -> HttpResponseBase:
    """`?format=json`: the canonical form, as a file."""
    row = _campaign(campaign_id)
    found = report.content(row)
    data = report.canonical(found)
    if request.GET.get("format") == "json":
        response = HttpResponse(data, content_type="application/json")
        response.headers["Content-Disposition"] = f'attachment; filename="gpudash-campaign-{row.pk}.json"'
        return response
    key, no_key = _public()
    places = [_line(one) for one in found["targets"]]
    context = {
        "report": found,
        "campaign": row,
        "suite_title": words.suite_title(row.suite),
        "levels": [words.level(name) for name in found["suite"]["levels"]],
        "reached": [one for one in places if one["outcome"] in report.TESTED],
        "missed": [one for one in places if one["outcome"] not in report.TESTED],
        "others": [_line(one) for one in found["other_runs"]],
        "causes": [(count, cause_words(name)) for name, count in found["coverage"]["why"].items()],
        "other_images": [one for one in found["images"] if not one["own"]],
        "sha256": report.sha256(data),
        "key": key,
        "no_key": no_key,
        "may_sign": may_campaign(request),
        "printed_at": timezone.now(),
        "open": row.ended_at is None,
        "address": request.build_absolute_uri(reverse("campaign", args=[row.pk])),
    }
    return render(request, "validations/report.html", context)


@require_POST
@campaigners_only
@answered
def campaign_certificate(request: HttpRequest, campaign_id: str) -> HttpResponseBase:
    row = _campaign(campaign_id)
    try:
        return as_file(issue.of_campaign(row), f"campaign-{row.pk}")
    except issue.NotIssued as error:
        messages.error(request, worded(error.args[0]))
        return HttpResponseRedirect(reverse("campaign-report", args=[row.pk]))


def _campaign(campaign_id: str) -> Campaign:
    row = querysets.campaigns().of_id(campaign_id)
    if row is None:
        close = [(_("all campaigns"), reverse("campaigns"))]
        raise NotThere(_("No campaign %(id)s.") % {"id": campaign_id[:64]}, "", close)
    return row


def _public() -> tuple[dict[str, str], str]:
    """The public key for readers of the certificate, or why there is none."""
    try:
        key = issue.signing_key().public_key()
    except issue.NotIssued as error:
        return {}, error.args[0]
    return {"id": envelope.key_id(key), "pem": envelope.public_pem(key)}, ""


def _line(one: dict[str, Any]) -> dict[str, Any]:
    outcome = one.get("outcome", "")
    look = words.shown(one["verdict"]) if one["verdict"] else words.Shown("none", "·", "")
    if outcome and outcome not in report.TESTED:
        look = words.Shown("warning", "?", cause_words(outcome))
    elif outcome == report.INCONCLUSIVE or (not outcome and one["own_image"] is False):
        look = words.Shown("none", look.sign, look.words)
    ended = one["ended_at"]
    more = {
        "shown_card": one["card"] or one["tested_card"],
        "ended": datetime.fromisoformat(ended) if ended else None,
    }
    return (
        one
        | more
        | {
            "shown": look,
            "level_words": words.level(one["level"] or ""),
            "why": one.get("why_not") or one["reason_text"],
        }
    )
