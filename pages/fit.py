"""Find capacity: where a pod that asks for so many cards would go now, the pod to copy, and why not elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from inventory.forecast.pools import asked
from inventory.placement.finder.finder import Found, Looked, Reason, Refusing, Taking, clusters_of, find, look
from inventory.placement.finder.manifest import manifests
from inventory.placement.finder.nodes import CORDONED, NOT_READY, STALE, TAINT
from inventory.placement.finder.request import NAMES, WAYS, BadRequest, Request, read
from inventory.placement.finder.words import NOT_LOOKED_AT, NOTES, REASONS
from inventory.placement.moves.plan import Move
from inventory.placement.moves.read import named, planned
from inventory.placement.nearly import Nearly, nearly
from pages.frame import amounts, choices
from pages.frame.fields import Entry
from pages.frame.freshness import incomplete, notices
from pages.frame.links import card_url, node_url, pod_url, state_url
from pages.frame.live import live_page
from pages.frame.refusals import BadParameter, Errors, answered
from pages.rows.pods import Moving, PodLink, moving
from pages.sections.forecast import lines as forecast_lines
from resources.moves import MovePlan, moves_of
from runtime.clock import database_now
from runtime.scope import ANOTHER
from stacks import STACKS

#: Nodes and cards that are shown before "all".
NODES_SHOWN, CARDS_SHOWN = 20, 8
#: Fields that are behind "More".
_MORE = frozenset(("stack", "tolerate", "selector", "cluster"))
_STACK_OF = {way.name: stack.name for stack in STACKS for way in stack.ways}
_SIGNS = {STALE: "error", NOT_READY: "error", CORDONED: "warning"}


@dataclass(frozen=True)
class CardLink:
    name: str
    url: str
    words: str


@dataclass(frozen=True)
class FitLine:
    """A node that takes the request. asks: what the pod says; more_cards: those that are not linked.

    pod_url: the same page with a pod for this node; chosen: that is shown.
    """

    node: str
    url: str
    cluster: str
    stack: str
    model: str
    cards: list[CardLink]
    more_cards: int
    gap: int | None
    cards_free: int | None
    cpu_free: str
    host_memory_free: int | None
    asks: list[str]
    notes: list[str]
    pod_url: str
    chosen: bool


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


@dataclass(frozen=True)
class NearlyLine:
    """A node that would fit if pods moved. missing: cards."""

    node: str
    url: str
    cluster: str
    missing: int
    moving: list[Moving]


@dataclass(frozen=True)
class MoveLine:
    """A pod that would move. url: "" where it may not be named; again: who creates it again; to: (node, its address)."""

    pod: PodLink
    memory: int
    priority: int
    again: str
    to: tuple[str, str]


@dataclass(frozen=True)
class MovesPanel:
    """The plan. already, node: (node, its address, cluster); None for none. text: to copy."""

    already: tuple[str, str, str] | None
    node: tuple[str, str, str] | None
    lines: list[MoveLine]
    told: MovePlan
    close_url: str


@require_safe
@answered
def fit(request: HttpRequest) -> HttpResponseBase:
    _check_names(request)
    given = {name: request.GET.getlist(name) for name in NAMES}
    try:
        wanted = read(given)
        looked = look(wanted)
    except BadRequest as error:
        return _refused(request, error.errors)
    found = find(wanted, looked=looked)
    every = request.GET.get("all") == "1"
    limit = found.nodes if every else NODES_SHOWN
    chosen = _chosen(request, found)
    lines = [_line(request, one, one is chosen) for one in found.taking[:limit]]
    outlook, more = forecast_lines(
        found.request, asked(clusters_of(found.request), found.request.models, database_now())
    )
    shown: dict[str, Any] = {
        "found": found,
        "forecast_lines": outlook,
        "forecast_more": more,
        "asked": asked_words(found.request),
        "host": _host_words(found.request),
        "lines": lines,
        "more": max(0, len(found.taking) - limit),
        "with_notes": any(line.notes for line in lines),
        "chosen": chosen,
        "manifest": "".join(manifests([chosen], found.request)) if chosen else "",
        "nearly": [_nearly(one) for one in nearly(found)],
        "moves": _moves(request, wanted, looked),
        "moves_url": state_url(request, moves="fit"),
        "free_url": state_url(request, moves="node"),
        "reasons": [_reason(request, one) for one in found.reasons],
        "refusing": [_refusing(one) for one in found.refusing] if every else [],
        "every": every,
        "all_url": state_url(request, all="1"),
        "rules": _rules(found),
        "not_considered": [_(text) for text in NOT_LOOKED_AT],
        "several": len(found.clusters) > 1,
        "notices": notices(request),
        "incomplete": incomplete(request),
    }
    return live_page(request, "fit/page.html", "fit/part.html", shown | _form(request, {}, found.stacks))


def _check_names(request: HttpRequest) -> None:
    known = {*NAMES, "all", "node", "moves"}
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
        "clear_url": reverse("fit"),
    }
    form = _form(request, errors, frozenset(_STACK_OF.values()))
    return live_page(request, "fit/page.html", "parts/refused.html", shown | form, status=400)


def asked_words(asked: Request) -> str:
    """ "2 × 20 GiB"."""
    if asked.memory is None:
        return _("%(n)s × any card") % {"n": asked.cards}
    return f"{asked.cards} × {amounts.gib(asked.memory)}"


def _host_words(asked: Request) -> str:
    """What is asked of the node itself: "8 CPU · 64 GiB host memory"; "" for nothing."""
    parts = [_("%(n)s CPU") % {"n": _cpu(asked.cpu_millis)}] if asked.cpu_millis is not None else []
    if asked.host_memory is not None:
        parts.append(_("%(memory)s host memory") % {"memory": amounts.gib(asked.host_memory)})
    return " · ".join(parts)


def _cpu(millis: int) -> str:
    return f"{millis / 1000:,.10g}"


def _place(one: Taking) -> str:
    return f"{one.cluster}/{one.node}"


def _chosen(request: HttpRequest, found: Found) -> Taking | None:
    """The node that a pod is written for: the one that was chosen, while it fits; else the first."""
    place = request.GET.get("node", "")
    mine = (one for one in found.taking if _place(one) == place) if place else iter(())
    return next(mine, found.taking[0] if found.taking else None)


def _line(request: HttpRequest, one: Taking, chosen: bool) -> FitLine:
    cards = [
        CardLink(
            name=str(card.piece.index if card.piece.index is not None else card.piece.key[-8:]),
            url=card_url(card.piece.id),
            words=f"{card.piece.key} · {card.model}" if card.model else card.piece.key,
        )
        for card in one.cards[:CARDS_SHOWN]
    ]
    figures = one.figures
    return FitLine(
        node=one.node,
        url=node_url(one.cluster, one.node),
        cluster=one.cluster,
        stack=_(one.way.label),
        model=figures.model,
        cards=cards,
        more_cards=max(0, len(one.cards) - CARDS_SHOWN),
        gap=figures.largest_gap,
        cards_free=figures.cards_free,
        cpu_free=_cpu(figures.cpu_free) if figures.cpu_free is not None else "",
        host_memory_free=figures.host_memory_free,
        asks=[f"{name}: {value}" for name, value in {**one.answer.limits, **one.answer.labels}.items()],
        notes=[_(NOTES[note]) for note in one.notes],
        pod_url=f"{state_url(request, node=_place(one))}#pod",
        chosen=chosen,
    )


def _nearly(one: Nearly) -> NearlyLine:
    return NearlyLine(
        node=one.node,
        url=node_url(one.cluster, one.node),
        cluster=one.cluster,
        missing=one.missing,
        moving=[moving(one.cluster, found) for found in one.blocked],
    )


def _moves(request: HttpRequest, asked: Request, looked: Looked) -> MovesPanel | None:
    """None unless the address requests it: it reads all pods that have cards."""
    wanted = request.GET.get("moves", "")
    if wanted not in ("fit", "node"):
        return None
    plan, _looked = planned(asked, whole_node=wanted == "node", looked=looked)

    def place(one: tuple[int, str]) -> tuple[str, str, str]:
        cluster = looked.names[one[0]]
        return one[1], node_url(cluster, one[1]), cluster

    moves = plan.plan.moves if plan.plan else ()
    return MovesPanel(
        already=place(plan.already) if plan.already else None,
        node=place(plan.plan.place) if plan.plan else None,
        lines=[_move(looked.names[one.to[0]], one) for one in moves],
        told=moves_of(plan, looked.names, wanted == "node"),
        close_url=state_url(request, moves=None),
    )


def _move(cluster: str, one: Move) -> MoveLine:
    pod = one.pod
    if named(pod):
        link = PodLink(pod.name, pod_url(cluster, pod.namespace, pod.name), f"{pod.namespace}/{pod.name}")
        owner = f"{pod.owner_kind} {pod.owner_name}"
    else:
        link, owner = PodLink(_(ANOTHER), "", ""), _("its controller")
    again = _("bare pod: not recreated") if pod.bare else owner
    return MoveLine(link, pod.memory, pod.priority, again, (one.to[1], node_url(cluster, one.to[1])))


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


def _form(request: HttpRequest, errors: Errors, stacks: frozenset[str]) -> dict[str, Any]:
    """The fields in sight, those behind "More", and what of these is set."""
    entries = _entries(request, errors, stacks)
    more = [one for one in entries if one.name in _MORE]
    return {
        "entries": [one for one in entries if one.name not in _MORE],
        "more_entries": more,
        "more_open": any(one.error for one in more),
        "set": [one for one in more if one.value],
    }


def _entries(request: HttpRequest, errors: Errors, stacks: frozenset[str]) -> list[Entry]:
    """stacks: systems that can be asked now; others are offered where they were asked for."""
    ways = [(name, _(way.label)) for name, way in WAYS.items() if _STACK_OF[name] in stacks]
    any_ = _("All")

    def entry(name: str, label: str, placeholder: str = "", options: Any = ()) -> Entry:
        values = [text for text in request.GET.getlist(name) if text]
        value = values[0] if options and values else " ".join(values)
        offered = [(one, str(title)) for one, title in options]
        if offered and value and value not in dict(offered):
            offered.append((value, value))
        wrong = " ".join(errors.get(name, ()))
        shown, url = dict(offered).get(value, value), state_url(request, **{name: None})
        return Entry(name, label, value, offered, placeholder, False, any_, wrong, shown, url)

    made = [
        entry("cards", _("Cards"), "1"),
        entry("memory", _("Memory per card, GiB"), "20"),
        entry("model", _("Card model"), options=choices.models()),
        entry("cpu", _("CPU"), "8"),
        entry("host_memory", _("Host memory, GiB"), "64"),
        entry("stack", _("Stack"), options=ways),
        entry("tolerate", _("Tolerated taints"), "key=value:NoSchedule"),
        entry("selector", _("Node labels"), "key=value"),
    ]
    clusters = choices.clusters()
    return [*made, entry("cluster", _("Cluster"), options=clusters)] if len(clusters) > 1 else made
