"""A new campaign: one suite on the chosen nodes or on every card of them, some at a time, with a stop after failures."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from pages.frame import amounts, choices
from pages.frame.refusals import answered
from pages.frame.worded import worded
from pages.launch_forms import CampaignForm
from pages.permission import campaigners_only, may_campaign
from pages.rows import targets as places
from pages.run import manifest_text
from validations import campaigns
from validations.planning import Plan, Refused, RunDraft, plan
from validations.requests import KeyReused

#: Places whose fit is looked at before the start; each costs some queries.
LOOKED_AT = 8
#: Cordoned nodes that are named in one line.
CORDONED_NAMED = 10


@dataclass(frozen=True)
class Fit:
    """The fit of one place. texts: why it does not fit, empty when it does."""

    place: str
    texts: list[str]


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def campaign_new(request: HttpRequest) -> HttpResponseBase:
    if request.method == "POST" and not {"preview", "add"} & request.POST.keys():
        return _create(request)
    return _show(request, _prefilled(request, request.POST if request.method == "POST" else request.GET))


def _prefilled(request: HttpRequest, data: QueryDict) -> CampaignForm:
    """Places from ticked boxes (`target`), a filter of the node list (`nodes`) or the text of the form itself.

    Models, of an address or of the form's button, add theirs.
    """
    data = data.copy()
    problems = _add(data)
    try:
        if data.getlist("target"):
            data["targets"] = places.text_of(places.ticked(data.getlist("target")))
        elif "nodes" in data and not data.get("targets"):
            data["targets"] = places.text_of(places.by_filter(data.get("nodes", "")))
    except places.BadPlaces as error:
        problems["targets"] = [worded(error.args[0])]
    form = CampaignForm(data, may_campaign(request))
    form.refuse(problems)
    return form


def _add(data: QueryDict) -> dict[str, list[str]]:
    """Put the cards of the models, or all cards, to the targets. Returns what is wrong."""
    every = data.get("add") == "all"
    words = [word.strip() for text in data.getlist("model") for word in text.split(",") if word.strip()]
    if not (words or every):
        return {}
    try:
        text = places.text_of(places.of_models([] if every else words))
    except places.BadPlaces as error:
        return {"model": [worded(error.args[0])]}
    before = "" if every else data.get("targets", "").strip()
    data["targets"] = "\n".join(dict.fromkeys(f"{before}\n{text}".strip().splitlines()))
    # They are no more what a filter of the node list has chosen.
    data["model"] = data["nodes"] = ""
    if every:
        data["per"] = "card"
    return {}


@campaigners_only
def _create(request: HttpRequest) -> HttpResponse:
    if request.POST.get("model", "").strip():
        form = _prefilled(request, request.POST)
        form.refuse({} if form.errors else {"targets": [_("Targets were added. Check them, then start.")]})
        return _show(request, form, 400)
    form = CampaignForm(request.POST, may_campaign(request))
    if not form.is_valid():
        return _show(request, form, 400)
    try:
        row, _new = campaigns.create(
            form.typed("suite"),
            form.spots,
            request.user,
            name=form.typed("name"),
            options=form.given(),
            max_parallel=form.typed("max_parallel"),
            stop_after_failures=form.typed("stop_after_failures"),
            selector=form.selector,
            key=form.typed("key"),
        )
    except Refused as error:
        form.refuse(error.problems)
        return _show(request, form, 400)
    except KeyReused as error:
        form.refuse({"key": [error.args[0]]})
        return _show(request, form, 409)
    if names := places.cordoned(form.spots):
        messages.warning(request, _cordoned_words(names))
    if told := places.software(form.spots):
        messages.warning(request, worded(told))
    return HttpResponseRedirect(reverse("campaign", args=[row.pk]))


def _cordoned_words(names: list[str]) -> str:
    """What to know before, and after, a start there."""
    text = ngettext(
        "%(n)s node is cordoned: %(names)s. Runs tolerate this and occupy one of its cards.",
        "%(n)s nodes are cordoned: %(names)s. Runs tolerate this and occupy their cards.",
        len(names),
    )
    rest = ["…"] if len(names) > CORDONED_NAMED else []
    return text % {"n": amounts.count(len(names)), "names": ", ".join([*names[:CORDONED_NAMED], *rest])}


def _show(request: HttpRequest, form: CampaignForm, status: int = 200) -> HttpResponse:
    form.is_valid()
    fits, manifest = _fits(form) if form.chosen is not None else ([], "")
    context = {
        "form": form,
        "suite": form.chosen,
        "spots": len(form.spots),
        "all_cards": places.cards_there(),
        "models": choices.models(),
        "fits": fits,
        "cordoned": _cordoned_words(names) if (names := places.cordoned(form.spots)) else "",
        "software": places.software(form.spots),
        "manifest": manifest,
        "problems": form.problems(at_fields=True),
        "may_launch": may_campaign(request),
    }
    return render(request, "validations/campaign_new.html", context, status=status)


def _fits(form: CampaignForm) -> tuple[list[Fit], str]:
    """The fit of the first places, and the manifest of the first that fits."""
    fits, manifest = [], ""
    for cluster, node, card in form.spots[:LOOKED_AT]:
        place = f"{cluster}/{node} {card}".rstrip()
        try:
            made = plan(
                RunDraft(suite=form.typed("suite"), cluster=cluster, node=node, card=card, options=form.given())
            )
        except Refused as error:
            fits.append(Fit(place, [worded(text) for texts in error.problems.values() for text in texts]))
            continue
        fits.append(Fit(place, [worded(one.text) for one in made.reasons]))
        if not made.reasons and not manifest:
            manifest = _manifest(made)
    return fits, manifest


def _manifest(made: Plan) -> str:
    return manifest_text(made.manifest).replace(made.run_id, "‹run id›")
