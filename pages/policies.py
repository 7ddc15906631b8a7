"""Policies: the list with the fleet's number over time, the list of what cards are under them, and the switch of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from inventory.models import Cluster
from pages.frame import amounts, choices
from pages.frame.labels import label_of, pool_words
from pages.frame.links import state_url, with_filters
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.permission import CHANGE_POLICY, check_policy, may_make_policies, may_policy
from pages.sections import policy_chart
from pages.sections.policy_lines import card_lines
from pages.validations import suite_choices
from pages.words import policies as words
from pages.words import runs as run_words
from resources.filter_fields import OneOfFilter, WordsFilter
from resources.filter_sets import StrictFilterSet
from resources.policy import POLICIES, POLICY_CARDS, PolicyFilter
from runtime.cached import once
from runtime.clock import database_now
from validations.models import LevelChoice, Policy, PolicyState, PolicySwitch
from validations.policies import manage, reading
from validations.policies.reading import Counts, Narrowed

#: Parameters of the address that the numbers follow.
NARROWS = ("cluster", "pool", "model", "driver")


@dataclass(frozen=True)
class PolicyLine:
    """A policy in a list. now: what it does at this moment."""

    row: Policy
    url: str
    suite: str
    valid_for: str
    runs_when: str
    counts: Counts
    bar: list[tuple[str, str]]
    now: run_words.Shown
    level: str


def policy_line(row: Any, counts: Counts, at: datetime, all_paused: bool) -> PolicyLine:
    """row: as `reading.with_now` gives it."""
    return PolicyLine(
        row=row,
        url=reverse("policy", args=[row.pk]),
        suite=run_words.suite_title(row.suite),
        valid_for=words.valid_for(row),
        runs_when=words.runs_when(row),
        counts=counts,
        bar=bar(counts),
        now=words.now(row, counts.running, counts.due, at, all_paused),
        level=label_of(LevelChoice, row.level),
    )


def bar(counts: Counts) -> list[tuple[str, str]]:
    """Parts of the bar of cards: (class of `.progress`, width from 0 to 1)."""
    parts = (
        ("passed", counts.valid),
        ("failed", counts.failed),
        ("active", counts.running),
        ("skipped", counts.excluded),
    )
    return [(name, amounts.width(number, counts.cards)) for name, number in parts if number]


class PageFilter(PolicyFilter):
    """What the numbers and the chart are of besides the policies of the list, and how many lines it has."""

    driver = WordsFilter(method="on_counts")
    by = OneOfFilter((policy_chart.DRIVER,), "by", default="", method="on_counts")

    def on_counts(self, rows: Any, _name: str, _value: Any) -> Any:
        """A policy is of no driver: it is listed whatever the counts are of."""
        return rows


def _pools() -> Sequence[tuple[str, str]]:
    return [(name, pool_words(name)) for name in _groups()[0]]


def _models() -> Sequence[tuple[str, str]]:
    return [(name, name) for name in _groups()[1]]


def _groups() -> tuple[list[str], list[str]]:
    return once("groups of policies", lambda: reading.groups_of(database_now() - policy_chart.SPAN))


def _drivers() -> Sequence[tuple[str, str]]:
    return [(name, name) for name in reading.drivers_of(database_now() - policy_chart.SPAN)]


SPEC = ListSpec(
    resource=POLICIES.filtered(PageFilter),
    fields=(
        Field("q", gettext_lazy("Search"), placeholder=gettext_lazy("Search policies"), wide=True),
        Field("cluster", gettext_lazy("Cluster"), choices.clusters),
        Field("pool", gettext_lazy("Pool"), _pools),
        Field("model", gettext_lazy("Model"), _models),
        Field("driver", gettext_lazy("Driver"), _drivers),
        Field(
            "by",
            gettext_lazy("Chart"),
            ((policy_chart.DRIVER, gettext_lazy("by driver")),),
            rest=gettext_lazy("all cards"),
        ),
        Field("suite", gettext_lazy("Suite"), suite_choices),
        Field(
            "paused", gettext_lazy("Paused"), (("true", gettext_lazy("Paused")), ("false", gettext_lazy("Not paused")))
        ),
    ),
    shape=list,
    page="policies/page.html",
    part="policies/part.html",
    caption=gettext_lazy("Policies"),
    cells="policies/cells",
    key=lambda line: f"policy-{line.row.pk}",
)
CARDS = ListSpec(
    resource=POLICY_CARDS,
    fields=(
        Field("state", gettext_lazy("State"), PolicyState.choices),
        Field("reason", gettext_lazy("Reason"), words.reason_choices),
        Field("cluster", gettext_lazy("Cluster"), choices.clusters),
        Field("node", gettext_lazy("Node")),
        Field("pool", gettext_lazy("Pool"), _pools),
        Field("model", gettext_lazy("Model"), _models),
        Field("driver", gettext_lazy("Driver"), _drivers),
    ),
    shape=card_lines,
    page="policies/cards.html",
    caption=gettext_lazy("Cards under policies"),
    cells="policies/card_cells",
    key=lambda line: f"policy-card-{line.row.pk}",
    words={"policy": lambda value: _("policy: %(name)s") % {"name": _policy_name(value)}},
)


@require_safe
@answered
def policies(request: HttpRequest) -> HttpResponseBase:
    at, switch = database_now(), PolicySwitch.objects.filter(paused=True).first()
    narrowed = _narrowed(request)
    counts = reading.counts_now(narrowed)

    def shape(rows: list[Any]) -> list[PolicyLine]:
        for row in rows:
            row.states = counts.get(row.pk, Counts())
        return [policy_line(row, row.states, at, switch is not None) for row in rows]

    def context(found: StrictFilterSet) -> dict[str, Any]:
        hours = reading.hours(at - policy_chart.SPAN, narrowed)
        fleet, change = counts.get(None), policy_chart.change_of(hours)
        by_driver = request.GET.get("by") == policy_chart.DRIVER
        sides = {"by": "driver", "a": change.before, "b": change.driver} if change and change.before else {}
        return {
            "fleet": fleet,
            "causes": words.causes(fleet.reasons) if fleet else "",
            "main_causes": words.causes(fleet.reasons, words.MAIN_CAUSES) if fleet else "",
            "cards_url": reverse("policy-cards"),
            "narrowed": f"&{query}" if (query := _query(request)) else "",
            "chart": policy_chart.chart(hours, at, by_driver=by_driver),
            "by_driver": by_driver,
            "lines_url": state_url(request, by=None if by_driver else policy_chart.DRIVER),
            "compare_url": with_filters(
                reverse("policies-compare"), _only(request, ("cluster", "pool", "model")), sides
            ),
            "change": change,
            "switch": switch,
            "any_policy": Policy.objects.exists(),
            "may_make": may_make_policies(request),
            "may_switch": may_policy(request, CHANGE_POLICY, None),
        }

    return list_page(request, replace(SPEC, shape=shape), context)


@require_safe
@answered
def policy_cards(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, CARDS, lambda _found: {})


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def policies_pause(request: HttpRequest) -> HttpResponseBase:
    """GET says what it stops."""
    check_policy(request, CHANGE_POLICY, None)
    if request.method == "POST":
        manage.pause_all(True, request.user)
        messages.info(request, _("All policies are paused."))
        return HttpResponseRedirect(reverse("policies"))
    active = Policy.objects.filter(paused=False).count()
    return render(request, "policies/pause.html", {"active": active})


@require_POST
@answered
def policies_resume(request: HttpRequest) -> HttpResponseBase:
    check_policy(request, CHANGE_POLICY, None)
    manage.pause_all(False, request.user)
    messages.info(request, _("Policies start runs again."))
    return HttpResponseRedirect(reverse("policies"))


def _narrowed(request: HttpRequest) -> Narrowed:
    """Which counts the address asks for."""
    given = {
        name: tuple(value for value in request.GET.getlist(name) if value and "\0" not in value) for name in NARROWS
    }
    names = given["cluster"]
    found = tuple(Cluster.objects.filter(name__in=names).values_list("pk", flat=True)) if names else None
    return Narrowed(clusters=found, pools=given["pool"], models=given["model"], drivers=given["driver"])


def _only(request: HttpRequest, names: Sequence[str]) -> QueryDict:
    """These parameters of the address."""
    query = QueryDict(mutable=True)
    for name in names:
        query.setlist(name, [value for value in request.GET.getlist(name) if value])
    return query


def _query(request: HttpRequest) -> str:
    return _only(request, NARROWS).urlencode()


def _policy_name(policy_id: str) -> str:
    row = reading.policies().of_id(policy_id)
    return row.name if row is not None else policy_id[:64]
