"""Launch: choose a suite and a place, see whether it fits and what will run, then launch it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from inventory.models import Card, Cluster, Node
from pages.frame.freshness import notices
from pages.frame.links import node_url
from pages.frame.refusals import answered
from pages.permission import launchers_only, may_launch
from pages.run import manifest_text
from validations.planning import Plan, Refused, RunRequest, plan
from validations.requests import Busy, KeyReused, holder_of, request_run
from validations.suites import find, registry
from validations.suites.engine.base import Option, Suite
from validations.suites.engine.reasons import PASSING

#: Names offered while typing; any other name may be typed.
NODES_OFFERED = 200
OPTION = "option."
_LONGEST = 512


@dataclass(frozen=True)
class OptionField:
    """An option of the suite as a field. bounds: what is allowed, in words. problem: what is wrong with the value, "" for nothing."""

    option: Option
    name: str
    value: str
    bounds: str
    problem: str


@dataclass(frozen=True)
class Form:
    """What was filled in. values: option name → text, those that were given."""

    suite: str
    cluster: str
    node: str
    card: str
    wait: bool
    values: Mapping[str, str]
    key: str

    def run_request(self) -> RunRequest:
        suite = find(self.suite)
        known = {option.name: option for option in suite.options} if suite else {}
        # A field that still shows the default was not given: a run of today and one of tomorrow stay comparable.
        given = {
            name: value for name, value in self.values.items() if name not in known or value != str(known[name].default)
        }
        return RunRequest(
            suite=self.suite,
            cluster=self.cluster,
            node=self.node,
            card=self.card,
            options=dict(given),
            wait_for_room=self.wait,
        )


@dataclass(frozen=True)
class Preview:
    """What would happen. problems: field → texts. waits: all that hinders passes by itself.

    exact: the run is sure to take the card. holder: the active run that has the place.
    """

    plan: Plan | None
    problems: Mapping[str, list[str]]
    manifest: str = ""
    waits: bool = False
    exact: bool = False
    target: str = ""
    holder: Any = None

    @property
    def ready(self) -> bool:
        return self.plan is not None and self.holder is None and not self.plan.reasons


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def validation_new(request: HttpRequest) -> HttpResponseBase:
    if request.method == "POST" and "preview" not in request.POST:
        return _launch(request)
    return _show(request, form_of(request.POST if request.method == "POST" else request.GET))


def form_of(data: Mapping[str, str]) -> Form:
    """The form from parameters; what does not belong to it is left alone."""

    def text(name: str) -> str:
        return str(data.get(name, ""))[:_LONGEST].replace("\0", "")

    return Form(
        suite=text("suite"),
        cluster=text("cluster") or _only_cluster(),
        node=text("node"),
        card=text("card"),
        wait=bool(text("wait_for_room")),
        values=given_options(data),
        key=text("key") or secrets.token_urlsafe(18),
    )


def given_options(data: Mapping[str, str]) -> dict[str, str]:
    """Fields of options that are not blank: option name → text."""
    texts = {str(name): str(data.get(name, ""))[:_LONGEST].replace("\0", "").strip() for name in data}
    return {name[len(OPTION) :]: text for name, text in texts.items() if name.startswith(OPTION) and text}


def _only_cluster() -> str:
    names = list(Cluster.objects.values_list("name", flat=True)[:2])
    return names[0] if len(names) == 1 else ""


def preview_of(form: Form) -> Preview:
    """Plan it without writing anything."""
    try:
        made = plan(form.run_request())
    except Refused as error:
        return Preview(None, error.problems)
    return Preview(
        plan=made,
        problems={},
        manifest=manifest_text(made.manifest).replace(made.run_id, "‹run id›"),
        waits=bool(made.manifest) and bool(made.reasons) and all(one.code in PASSING for one in made.reasons),
        exact=made.card is not None,
        target=_target(made),
        holder=holder_of(made),
    )


def _target(made: Plan) -> str:
    node, asked = made.place.node.name, made.place.card
    if made.card is not None:
        return _("Card %(card)s of node %(node)s. Which card it took is read from its pod.") % {
            "card": made.card.key,
            "node": node,
        }
    if asked is not None:
        return _(
            "Some card of node %(node)s: this sharing system chooses the card itself, so card %(card)s cannot be asked for. "
            "The result will be the node's, unless the mirror sees which card was taken."
        ) % {"node": node, "card": asked.key}
    return _(
        "Some card of node %(node)s. The result will be the node's, unless the mirror sees which card was taken."
    ) % {"node": node}


@launchers_only
def _launch(request: HttpRequest) -> HttpResponse:
    form = form_of(request.POST)
    try:
        run, _new = request_run(form.run_request(), request.user, form.key)
    except Refused as error:
        return _show(request, form, error.problems, 400)
    except Busy as error:
        return _show(request, form, {}, 409, error)
    except KeyReused as error:
        fresh = Form(form.suite, form.cluster, form.node, form.card, form.wait, form.values, secrets.token_urlsafe(18))
        told = _("This form was sent before. Send it again to launch another run. %(text)s") % {"text": error}
        return _show(request, fresh, {"key": [told]}, 409)
    return HttpResponseRedirect(reverse("run", args=[run.pk]))


def _show(
    request: HttpRequest,
    form: Form,
    problems: Mapping[str, list[str]] | None = None,
    status: int = 200,
    busy: Busy | None = None,
) -> HttpResponse:
    suite = find(form.suite)
    preview = preview_of(form) if suite is not None and form.node else None
    wrong = {**(preview.problems if preview else {}), **(problems or {})}
    if form.suite and suite is None:
        wrong["suite"] = [_("There is no suite %(name)s.") % {"name": form.suite[:64]}]
    places = _places(form)
    fields = option_fields(suite, form.values, wrong)
    context = {
        "form": form,
        "suite": suite,
        "suites": sorted(registry().values(), key=lambda one: one.title.lower()),
        "fields": fields,
        "preview": preview,
        "options_open": options_open(fields),
        "problems": wrong,
        "other_problems": [(name, texts) for name, texts in wrong.items() if not name.startswith("options.")],
        "busy": busy.run if busy is not None else preview.holder if preview is not None else None,
        "may_launch": may_launch(request),
        "notices": notices(request),
        "node_url": node_url(form.cluster, form.node) if form.node else "",
        **places,
    }
    return render(request, "validations/new.html", context, status=status)


def _places(form: Form) -> dict[str, Any]:
    """What the fields of the place offer: clusters, some nodes with a GPU, the cards of the node."""
    clusters = list(Cluster.objects.values_list("name", flat=True)[:200])
    nodes = Node.objects.filter(cluster__name=form.cluster, has_gpu=True).order_by("name")
    cards = Card.objects.filter(cluster__name=form.cluster, node_name=form.node, gone_at=None).order_by("index", "id")
    return {
        "clusters": clusters,
        "nodes": list(nodes.values_list("name", flat=True)[:NODES_OFFERED]),
        **_cards(list(cards[:128]), form.card),
    }


def _cards(cards: list[Card], wanted: str) -> dict[str, Any]:
    """The cards that may be chosen, the one that was asked for marked; by key or UUID, else by index, as the plan takes it.

    lost_card: what was asked for, where it is none of these.
    """
    named = [card for card in cards if wanted and wanted in (card.key, card.uuid)]
    chosen = (named or [card for card in cards if wanted and str(card.index) == wanted])[:1]
    return {
        "cards": [(card.key, _card_title(card), card in chosen) for card in cards],
        "lost_card": wanted if wanted and not chosen else "",
    }


def _card_title(card: Card) -> str:
    index = _("card %(index)d") % {"index": card.index} if card.index is not None else card.key
    return f"{index} · {card.model}" if card.model else index


def option_fields(
    suite: Suite | None, values: Mapping[str, str], problems: Mapping[str, list[str]]
) -> list[OptionField]:
    """The options of a suite as fields, with the values given; none without a suite."""
    if suite is None:
        return []
    return [
        OptionField(
            option=option,
            name=f"{OPTION}{option.name}",
            value=values.get(option.name, str(option.default)),
            bounds=bounds(option),
            problem=" ".join(problems.get(f"options.{option.name}", ())),
        )
        for option in suite.options
    ]


def options_open(fields: list[OptionField]) -> bool:
    """Whether the options must be seen: one is wrong, or has no default and is wanted."""
    return any(field.problem or field.option.required for field in fields)


def bounds(option: Option) -> str:
    """What is allowed, in words; "" where the help says it all."""
    if option.kind == "number":
        return _("%(least)s to %(most)s") % {"least": f"{option.minimum:,}", "most": f"{option.maximum:,}"}
    return _("required") if option.required else ""
