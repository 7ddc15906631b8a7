"""Two runs, nodes or cards side by side: only what differs. With one of them in the address, the other one is chosen.

What is compared is a `Kind`; the table, the choice and what is refused are here once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from inventory.models import Card
from inventory.models.choices import Health
from inventory.queries import rows as querysets
from inventory.queries.rows import NodeRow
from pages.card import found_card
from pages.frame.labels import label_of, pool_words
from pages.frame.links import card_url, node_url, with_query
from pages.frame.refusals import BadParameter, answered
from pages.node import no_such_node
from pages.nodes import condition_of
from pages.rows.cards import card_name
from pages.rows.runs import run_line
from pages.run import found_run
from pages.sections.beside import Differences, Row, Side, differences
from pages.sections.card_facts import card_differences
from pages.sections.compared import run_differences
from pages.sections.health import sign_of
from pages.sections.node_facts import facts_of_nodes
from pages.templatetags.units import ago
from resources.card import CardFilter
from resources.filter_sets import StrictFilterSet
from resources.node import NodeFilter
from resources.run import RunFilter
from validations import querysets as of_runs
from validations.compared import apart, beside
from validations.models import Run

#: Choices that are shown; the others are found by their name.
MOST = 30
_LONGEST = 400


@dataclass(frozen=True)
class Thing:
    """One that is compared, or could be. value: as an address names it. note, words: what is to be known of it; level: of its sign.

    copied: what the button beside its title copies; "" without one.
    """

    row: Any
    value: str
    title: str
    url: str
    note: str
    words: str = ""
    level: str = "none"
    copied: str = ""


@dataclass(frozen=True)
class Kind:
    """What is compared. lists: name of the address of the list. wanted: what a value must be; another: that it must be another one.

    find: raises NotThere; None for what cannot name one. things: rows as they are shown. always: rows of the table that are told
    though they may be the same. others: those that it can be compared with, in the order of the choice. near: heading → which of
    the others are as near as that, the nearest first; the last one has all that are left.
    """

    title: Promise
    lists: str
    lists_title: Promise
    wanted: Promise
    another: Promise
    placeholder: Promise
    find: Callable[[str], Any]
    things: Callable[[Sequence[Any]], list[Thing]]
    differences: Callable[[Any, Any], Differences]
    others: Callable[[Any], QuerySet[Any]]
    near: Callable[[Any], Mapping[Promise, Q]]
    filterset: type[StrictFilterSet]
    always: Callable[[Any, Any], list[Row]] = lambda _then, _now: []

    @property
    def back(self) -> tuple[str, str]:
        return str(self.lists_title), reverse(self.lists)


def _compare(request: HttpRequest, kind: Kind) -> HttpResponseBase:
    """?a=&b=. Two values of `target`, as the boxes of a list send them, are the same."""
    if ticked := request.GET.getlist("target"):
        if len(ticked) != 2:
            raise BadParameter({"target": [_("Select exactly two rows.")]}, kind.back)
        return HttpResponseRedirect(with_query(request.path, a=ticked[0], b=ticked[1]))
    asked = {name: value for name in ("a", "b") if (value := request.GET.get(name, ""))}
    found = {name: _found(kind, value) for name, value in asked.items()}
    if wrong := [name for name, row in found.items() if row is None] or ([] if found else ["a"]):
        raise BadParameter({name: [str(kind.wanted)] for name in wrong}, kind.back)
    if len(found) == 1:
        [(name, row)] = found.items()
        return _choose(request, kind, name, row)
    rows = [found["a"], found["b"]]
    then, now = kind.things(rows)
    if then.value == now.value:
        raise BadParameter({"b": [str(kind.another)]}, (str(kind.title), with_query(request.path, a=then.value)))
    context = {
        "kind": kind,
        "list_url": reverse(kind.lists),
        "sides": [(then, with_query(request.path, b=now.value)), (now, with_query(request.path, a=then.value))],
        "swap_url": with_query(request.path, a=now.value, b=then.value),
        "always": kind.always(*rows),
        "found": kind.differences(*rows),
    }
    return render(request, "compare/page.html", context)


def _found(kind: Kind, value: str) -> Any:
    return None if "\0" in value or len(value) > _LONGEST else kind.find(value)


def _choose(request: HttpRequest, kind: Kind, name: str, row: Any) -> HttpResponseBase:
    """The other one: the nearest first, or what is called so. name: of the one that is there, "a" or "b"."""
    filterset = kind.filterset({"q": (text := request.GET.get("q", "").strip())}, queryset=kind.others(row))
    if not filterset.is_valid():
        raise BadParameter({key: list(texts) for key, texts in filterset.errors.items()}, kind.back)
    found: list[tuple[Promise, Any]] = []
    before = Q(pk__in=[])
    for heading, near in kind.near(row).items():
        left = MOST - len(found)
        found += [(heading, other) for other in filterset.qs.filter(near).exclude(before)[:left]] if left else []
        before |= near
    one, *others = kind.things([row, *(other for _heading, other in found)])
    groups: dict[Promise, list[tuple[Thing, str]]] = {}
    for (heading, _row), thing in zip(found, others, strict=True):
        groups.setdefault(heading, []).append((thing, _address(request, name, one, thing)))
    context = {
        "kind": kind,
        "list_url": reverse(kind.lists),
        "one": one,
        "name": name,
        "text": text,
        "groups": groups.items(),
        "more": len(found) == MOST,
    }
    return render(request, "compare/choose.html", context)


def _address(request: HttpRequest, name: str, one: Thing, other: Thing) -> str:
    a, b = (one, other) if name == "a" else (other, one)
    return with_query(request.path, a=a.value, b=b.value)


def _find_node(value: str) -> NodeRow | None:
    cluster, slash, name = value.partition("/")
    if not slash or not name:
        return None
    found = querysets.node_row(cluster, name)
    if found is None:
        raise no_such_node(cluster, name)
    return found


def _node_things(rows: Sequence[Any]) -> list[Thing]:
    """rows: with their nodes, or totals alone."""
    totals = [row.totals if isinstance(row, NodeRow) else row for row in rows]
    return [_node_thing(row) for row in querysets.with_nodes(totals)]


def _node_thing(row: NodeRow) -> Thing:
    cluster, name = row.totals.cluster.name, row.totals.node_name
    level, words = condition_of(row)
    return Thing(
        row, f"{cluster}/{name}", name, node_url(cluster, name), pool_words(row.totals.pool), words, level, name
    )


def _node_differences(then: NodeRow, now: NodeRow) -> Differences:
    old, new = facts_of_nodes([then, now])
    return differences(apart(old.known, new.known, []), old, new)


def _find_card(value: str) -> Card | None:
    """By its number, or as a box of the list names it: "cluster/node key"."""
    if value.isascii() and value.isdigit() and len(value) < 19:
        return found_card(int(value))
    place, blank, key = value.partition(" ")
    cluster, slash, node = place.partition("/")
    if not (blank and slash):
        return None
    return querysets.cards_ever().filter(cluster__name=cluster, node_name=node, key=key).first()


def _card_things(rows: Sequence[Card]) -> list[Thing]:
    return [
        Thing(
            card,
            str(card.pk),
            f"{card.node_name} {card_name(card)}",
            card_url(card.pk),
            card.model,
            label_of(Health, card.health),
            sign_of(card.health),
            card.uuid,
        )
        for card in rows
    ]


def _run_things(rows: Sequence[Run]) -> list[Thing]:
    lines = [run_line(row) for row in rows]
    return [
        Thing(
            line.row,
            line.row.pk,
            f"{line.row.node_name} · {line.card}",
            line.url,
            ago(line.row.ended_at or line.row.created_at),
            line.shown.words,
            line.shown.level,
            line.row.pk,
        )
        for line in lines
    ]


def _of_both_runs(then: Run, now: Run) -> list[Row]:
    """Verdict and duration are told of any two."""
    old, new = (run_line(run) for run in (then, now))
    verdict, duration = _("Verdict"), _("Duration")
    shown = [Side(line.shown.words, line.shown.level, words=True) for line in (old, new)]
    return [
        Row(verdict, verdict, "", shown[0], shown[1]),
        Row(duration, duration, "", Side(old.took, words=True), Side(new.took, words=True)),
    ]


def _node_near(row: NodeRow) -> Mapping[Promise, Q]:
    pool, model = row.totals.pool, row.totals.model
    return {
        gettext_lazy("Same pool"): Q(pool=pool) if pool else Q(pk__in=[]),
        gettext_lazy("Same model"): Q(model=model) if model else Q(pk__in=[]),
        gettext_lazy("Other nodes"): Q(),
    }


def _card_near(card: Card) -> Mapping[Promise, Q]:
    return {
        gettext_lazy("Same node"): Q(cluster_id=card.cluster_id, node_name=card.node_name),
        gettext_lazy("Same model"): Q(model=card.model) if card.model else Q(pk__in=[]),
        gettext_lazy("Other cards"): Q(),
    }


def _run_near(run: Run) -> Mapping[Promise, Q]:
    node = Q(cluster_id=run.cluster_id, node_name=run.node_name)
    return {
        gettext_lazy("Same card"): node & Q(card_key=run.card_key) if run.card_key else Q(pk__in=[]),
        gettext_lazy("Same node"): node,
        gettext_lazy("Same model"): Q(card_model=run.card_model) if run.card_model else Q(pk__in=[]),
        gettext_lazy("Other runs"): Q(),
    }


NODES = Kind(
    title=gettext_lazy("Compare nodes"),
    lists="nodes",
    lists_title=gettext_lazy("Nodes"),
    wanted=gettext_lazy("Must be a node: “cluster/node”."),
    another=gettext_lazy("Must be another node than a."),
    placeholder=gettext_lazy("node, pool, model, address"),
    find=_find_node,
    things=_node_things,
    differences=_node_differences,
    others=lambda row: querysets.node_totals().exclude(pk=row.totals.pk).order_by("node_name", "id"),
    near=_node_near,
    filterset=NodeFilter,
)
CARDS = Kind(
    title=gettext_lazy("Compare cards"),
    lists="cards",
    lists_title=gettext_lazy("Cards"),
    wanted=gettext_lazy("Must be the number of a card."),
    another=gettext_lazy("Must be another card than a."),
    placeholder=gettext_lazy("node, UUID, model, pod, namespace"),
    find=_find_card,
    things=_card_things,
    differences=card_differences,
    others=lambda card: (
        querysets.cards_present().exclude(pk=card.pk).order_by("cluster_id", "node_name", "index", "id")
    ),
    near=_card_near,
    filterset=CardFilter,
)
RUNS = Kind(
    title=gettext_lazy("Compare runs"),
    lists="validations",
    lists_title=gettext_lazy("Validations"),
    wanted=gettext_lazy("Must be the ID of a run."),
    another=gettext_lazy("Must be another run than a."),
    placeholder=gettext_lazy("node, card, model, user"),
    find=found_run,
    things=_run_things,
    differences=lambda then, now: run_differences(beside(then, now)),
    others=of_runs.runs_beside,
    near=_run_near,
    filterset=RunFilter,
    always=_of_both_runs,
)


@require_safe
@answered
def node_compare(request: HttpRequest) -> HttpResponseBase:
    """a, b: "cluster/node"."""
    return _compare(request, NODES)


@require_safe
@answered
def card_compare(request: HttpRequest) -> HttpResponseBase:
    """a, b: ids."""
    return _compare(request, CARDS)


@require_safe
@answered
def run_compare(request: HttpRequest) -> HttpResponseBase:
    """a, b: ids. b is the one that is looked at, a what it is compared with."""
    return _compare(request, RUNS)
