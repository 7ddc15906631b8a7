"""A new campaign: one suite on the chosen nodes or on every card of them, some at a time, with a stop after failures."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from inventory.models import Cluster
from pages import places
from pages.frame.refusals import answered
from pages.permission import campaigners_only, may_campaign
from pages.run import manifest_text
from pages.validation_new import given_options, option_fields, options_open
from validations import campaigns
from validations.campaigns import Spot
from validations.planning import Plan, Refused, RunRequest, plan
from validations.requests import KeyReused
from validations.suites import find, registry

#: Places whose fit is looked at before the start; each costs some queries.
LOOKED_AT = 8


@dataclass(frozen=True)
class CampaignForm:
    """What was filled in. targets: lines of text. per: "node" or "card". selector: the filter that the places came from."""

    suite: str
    name: str
    targets: str
    per: str
    parallel: str
    stop_after: str
    selector: str
    values: Mapping[str, str]
    key: str


@dataclass(frozen=True)
class Fit:
    """The fit of one place. texts: why it does not fit, empty when it does."""

    place: str
    texts: list[str]


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def campaign_new(request: HttpRequest) -> HttpResponseBase:
    if request.method == "POST" and "preview" not in request.POST:
        return _create(request)
    form, problems = _prefilled(request.POST if request.method == "POST" else request.GET)
    return _show(request, form, problems)


def _prefilled(data: QueryDict) -> tuple[CampaignForm, dict[str, list[str]]]:
    """Places from ticked boxes (`target`), a filter of the node list (`nodes`) or the text of the form itself."""
    problems: dict[str, list[str]] = {}
    text = data.get("targets", "")
    try:
        if data.getlist("target"):
            text = places.text_of(places.ticked(data.getlist("target")))
        elif "nodes" in data and not text:
            text = places.text_of(places.by_filter(data.get("nodes", "")))
    except places.BadPlaces as error:
        problems["targets"] = [str(error)]
    return _form(data, text), problems


def _form(data: QueryDict, targets: str) -> CampaignForm:
    def text(name: str, default: str = "", most: int = 200) -> str:
        return data.get(name, default)[:most].replace("\0", "").strip()

    return CampaignForm(
        suite=text("suite"),
        name=text("name"),
        targets=targets.replace("\0", ""),
        per="card" if text("per") == "card" else "node",
        parallel=text("max_parallel", "4"),
        stop_after=text("stop_after_failures"),
        selector=text("nodes", most=2000),
        values=given_options(data),
        key=text("key") or secrets.token_urlsafe(18),
    )


def _spots(form: CampaignForm) -> list[Spot]:
    found = places.read_lines(form.targets)
    return places.each_card(found) if form.per == "card" else found


@campaigners_only
def _create(request: HttpRequest) -> HttpResponse:
    form = _form(request.POST, request.POST.get("targets", ""))
    numbers, problems = _numbers(form)
    try:
        spots = _spots(form)
    except places.BadPlaces as error:
        return _show(request, form, {"targets": [str(error)], **problems}, 400)
    if problems:
        return _show(request, form, problems, 400)
    try:
        row, _new = campaigns.create(
            form.suite,
            spots,
            request.user,
            name=form.name,
            options=_options(form),
            max_parallel=int(numbers["max_parallel"] or 0),
            stop_after_failures=numbers["stop_after_failures"],
            selector=_selector(form),
            key=form.key,
        )
    except Refused as error:
        return _show(request, form, error.problems, 400)
    except KeyReused as error:
        return _show(request, form, {"key": [str(error)]}, 409)
    return HttpResponseRedirect(reverse("campaign", args=[row.pk]))


def _selector(form: CampaignForm) -> dict[str, Any]:
    return dict(QueryDict(form.selector).lists())


def _options(form: CampaignForm) -> dict[str, Any]:
    suite = find(form.suite)
    defaults = {option.name: str(option.default) for option in suite.options} if suite else {}
    return {name: value for name, value in form.values.items() if defaults.get(name) != value}


def _numbers(form: CampaignForm) -> tuple[dict[str, int | None], dict[str, list[str]]]:
    found: dict[str, int | None] = {}
    problems: dict[str, list[str]] = {}
    for name, text in (("max_parallel", form.parallel), ("stop_after_failures", form.stop_after)):
        if text.isascii() and text.isdigit() and len(text) < 7:
            found[name] = int(text)
        elif text or name == "max_parallel":
            problems[name] = [_("A whole number is wanted.")]
        else:
            found[name] = None
    return found, problems


def _show(
    request: HttpRequest, form: CampaignForm, problems: Mapping[str, list[str]], status: int = 200
) -> HttpResponse:
    wrong = dict(problems)
    suite = find(form.suite)
    spots: list[Spot] = []
    try:
        spots = _spots(form)
    except places.BadPlaces as error:
        wrong.setdefault("targets", [str(error)])
    fits, manifest = _fits(form, spots, wrong) if suite is not None else ([], "")
    fields = option_fields(suite, form.values, wrong)
    context = {
        "form": form,
        "suite": suite,
        "suites": sorted(registry().values(), key=lambda one: one.title.lower()),
        "fields": fields,
        "spots": len(spots),
        "fits": fits,
        "bad_fits": [one for one in fits if one.texts],
        "manifest": manifest,
        "options_open": options_open(fields),
        "problems": wrong,
        "other_problems": [(name, texts) for name, texts in wrong.items() if not name.startswith("options.")],
        "clusters": list(Cluster.objects.values_list("name", flat=True)[:20]),
        "may_launch": may_campaign(request),
    }
    return render(request, "validations/campaign_new.html", context, status=status)


def _fits(form: CampaignForm, spots: list[Spot], wrong: dict[str, list[str]]) -> tuple[list[Fit], str]:
    """The fit of the first places, and the manifest of the first that fits. Wrong options go into `wrong`."""
    fits, manifest = [], ""
    for cluster, node, card in spots[:LOOKED_AT]:
        place = f"{cluster}/{node} {card}".rstrip()
        try:
            made = plan(RunRequest(suite=form.suite, cluster=cluster, node=node, card=card, options=_options(form)))
        except Refused as error:
            wrong.update({name: texts for name, texts in error.problems.items() if name.startswith("options.")})
            fits.append(Fit(place, [text for texts in error.problems.values() for text in texts]))
            continue
        fits.append(Fit(place, [one.text for one in made.reasons]))
        if not made.reasons and not manifest:
            manifest = _manifest(made)
    return fits, manifest


def _manifest(made: Plan) -> str:
    return manifest_text(made.manifest).replace(made.run_id, "‹run id›")
