"""Find room: where a pod that asks for so many cards would go now, and why not elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from inventory.placement.finder.finder import Found, Reason, Refusing, Taking, find
from inventory.placement.finder.nodes import CORDONED, NOT_READY, STALE, TAINT
from inventory.placement.finder.request import NAMES, WAYS, BadRequest, Request, read
from inventory.placement.finder.words import NOT_LOOKED_AT, NOTES, REASONS
from pages.frame import amounts, choices
from pages.frame.freshness import incomplete, notices
from pages.frame.links import card_url, node_url, state_url
from pages.frame.listing import Entry
from pages.frame.live import live_page
from pages.frame.refusals import BadParameter, Errors, answered
from stacks import STACKS

#: Nodes and cards that are shown before "all".
NODES_SHOWN, CARDS_SHOWN = 20, 8
_STACK_OF = {way.name: stack.name for stack in STACKS for way in stack.ways}
_SIGNS = {STALE: "error", NOT_READY: "error", CORDONED: "warning"}


@dataclass(frozen=True)
class CardLink:
    name: str
    url: str
    words: str


@dataclass(frozen=True)
class FitLine:
    """A node that takes the request. asks: what the pod says; more_cards: those that are not linked."""

    node: str
    url: str
    cluster: str
    stack: str
    model: str
    cards: list[CardLink]
    more_cards: int
    free: int | None
    gap: int | None
    cards_free: int | None
    asks: list[str]
    notes: list[str]


@dataclass(frozen=True)
class ReasonLine:
    """Why so many nodes do not. examples: (cluster, node, address).

    tolerate_url: the same with the taint tolerated; "" for other reasons.
    """

    sign: str
    text: str
    about: str
    nodes: str
    examples: list[tuple[str, str, str]]
    more: bool
    tolerate_url: str


@require_safe
@answered
def fit(request: HttpRequest) -> HttpResponseBase:
    _check_names(request)
    given = {name: request.GET.getlist(name) for name in NAMES}
    try:
        found = find(read(given))
    except BadRequest as error:
        return _refused(request, error.errors)
    every = request.GET.get("all") == "1"
    limit = found.nodes if every else NODES_SHOWN
    shown: dict[str, Any] = {
        "found": found,
        "asked": asked_words(found.request),
        "lines": [_line(one) for one in found.taking[:limit]],
        "more": max(0, len(found.taking) - limit),
        "reasons": [_reason(request, one) for one in found.reasons],
        "refusing": [_refusing(one) for one in found.refusing] if every else [],
        "every": every,
        "all_url": state_url(request, all="1"),
        "rules": _rules(found),
        "not_considered": [_(text) for text in NOT_LOOKED_AT],
        "several": len(found.clusters) > 1,
        "notices": notices(request),
        "incomplete": incomplete(request),
        "entries": _entries(request, {}, found.stacks),
    }
    return live_page(request, "fit/page.html", "fit/part.html", shown)


def _check_names(request: HttpRequest) -> None:
    known = {*NAMES, "all"}
    told = {"names": ", ".join(sorted(known))}
    errors = {
        name: [_("Unknown filter. Valid filters: %(names)s.") % told] for name in request.GET if name not in known
    }
    if errors:
        raise BadParameter(errors)


def _refused(request: HttpRequest, errors: Errors) -> HttpResponseBase:
    """The form as it was filled in, and no answer."""
    shown = {
        "refused": [(name, " ".join(texts)) for name, texts in errors.items()],
        "notices": notices(request),
        "entries": _entries(request, errors, frozenset(_STACK_OF.values())),
        "clear_url": reverse("fit"),
    }
    return live_page(request, "fit/page.html", "parts/refused.html", shown, status=400)


def asked_words(asked: Request) -> str:
    """ "2 × 20 GiB"."""
    if asked.memory is None:
        return _("%(n)s × any card") % {"n": asked.cards}
    return f"{asked.cards} × {amounts.gib(asked.memory)}"


def _line(one: Taking) -> FitLine:
    cards = [
        CardLink(
            name=str(card.piece.index if card.piece.index is not None else card.piece.key[-8:]),
            url=card_url(card.piece.id),
            words=f"{card.piece.key} · {card.model}" if card.model else card.piece.key,
        )
        for card in one.cards[:CARDS_SHOWN]
    ]
    return FitLine(
        node=one.node,
        url=node_url(one.cluster, one.node),
        cluster=one.cluster,
        stack=_(one.way.label),
        model=one.figures.model,
        cards=cards,
        more_cards=max(0, len(one.cards) - CARDS_SHOWN),
        free=one.figures.memory_free,
        gap=one.figures.largest_gap,
        cards_free=one.figures.cards_free,
        asks=[f"{name}: {value}" for name, value in {**one.answer.limits, **one.answer.labels}.items()],
        notes=[_(NOTES[note]) for note in one.answer.notes],
    )


def _rules(found: Found) -> list[tuple[str, str]]:
    """(the ways that have it, the rule)."""
    labels: dict[str, list[str]] = {}
    for way in found.ways:
        labels.setdefault(way.rule, []).append(_(way.label))
    return [("; ".join(names), _(rule)) for rule, names in labels.items()]


def _reason(request: HttpRequest, one: Reason) -> ReasonLine:
    typed = " ".join([*request.GET.getlist("tolerate"), one.about]).strip()
    return ReasonLine(
        sign=_SIGNS.get(one.code, "none"),
        text=_(REASONS[one.code]),
        about=one.about,
        nodes=amounts.count(one.nodes),
        examples=[(example.cluster, example.node, node_url(example.cluster, example.node)) for example in one.examples],
        more=one.nodes > len(one.examples),
        tolerate_url=state_url(request, tolerate=typed) if one.code == TAINT else "",
    )


def _refusing(one: Refusing) -> tuple[str, str, str, str, str]:
    """(node, its address, cluster, why, what it is about)."""
    return one.node, node_url(one.cluster, one.node), one.cluster, _(REASONS[one.code]), one.about


def _entries(request: HttpRequest, errors: Errors, stacks: frozenset[str]) -> list[Entry]:
    """stacks: systems that can be asked now; others are offered where they were asked for."""
    ways = [(name, _(way.label)) for name, way in WAYS.items() if _STACK_OF[name] in stacks]
    any_ = _("All")

    def entry(name: str, label: str, placeholder: str = "", options: Any = (), rest: str = any_) -> Entry:
        values = [text for text in request.GET.getlist(name) if text]
        value = values[0] if options and values else " ".join(values)
        offered = [(one, str(title)) for one, title in options]
        if offered and value and value not in dict(offered):
            offered.append((value, value))
        return Entry(name, label, value, offered, placeholder, False, rest, " ".join(errors.get(name, ())))

    made = [
        entry("cards", _("Cards"), "1"),
        entry("memory", _("Memory per card, GiB"), _("20, 20 GiB or 20000 MiB")),
        entry("stack", _("Stack"), options=ways),
        entry("model", _("Card model"), options=choices.models()),
        entry("tolerate", _("Tolerated taints"), "key=value:NoSchedule"),
        entry("selector", _("Node labels"), "key=value"),
    ]
    clusters = choices.clusters()
    return [*made, entry("cluster", _("Cluster"), options=clusters, rest=_("All"))] if len(clusters) > 1 else made
