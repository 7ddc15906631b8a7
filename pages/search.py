"""Search: one word over nodes, cards, pods and waiting pods; a few of each, and links to the lists that have all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from inventory import querysets
from inventory.models import Allocation, Card, NodeTotals, Pod
from pages.allocations import allocation_line
from pages.cardrows import card_name
from pages.frame.links import card_url, node_url, with_query
from pages.frame.refusals import BadParameter, answered
from resources.allocation import AllocationFilter
from resources.card import CardFilter
from resources.filter_sets import StrictFilterSet
from resources.node import NodeFilter
from resources.pod import PodFilter

SHOWN = 6


@dataclass(frozen=True)
class Hit:
    title: str
    url: str
    note: str


@dataclass(frozen=True)
class Group:
    """What one list found. more: whether there is more than is shown; url: the list itself."""

    title: str
    hits: list[Hit]
    more: bool
    url: str


@require_safe
@answered
def search(request: HttpRequest) -> HttpResponseBase:
    text = request.GET.get("q", "").strip()
    unknown = [name for name in request.GET if name != "q"]
    if unknown:
        raise BadParameter({unknown[0][:64]: [_("q is the only parameter of the search.")]})
    exact = _exact(text)
    if exact:
        return HttpResponseRedirect(exact)
    groups = _groups(text) if text else []
    context = {"search_text": text, "groups": [group for group in groups if group.hits], "text": text}
    return render(request, "search.html", context)


def _exact(text: str) -> str:
    """The page of the one node or card that has exactly this name or UUID; "" when it is not one."""
    if not text or "\0" in text or len(text) > 253:
        return ""
    nodes = list(querysets.node_totals().filter(node_name=text)[:2])
    if len(nodes) == 1:
        return node_url(nodes[0].cluster.name, nodes[0].node_name)
    cards = list(querysets.cards_ever().filter(uuid=text)[:2])
    return card_url(cards[0].pk) if len(cards) == 1 else ""


def _groups(text: str) -> list[Group]:
    return [
        _group(_("Nodes"), "nodes", NodeFilter, querysets.node_totals(), _node_hit, text),
        _group(_("Cards"), "cards", CardFilter, querysets.cards_present(), _card_hit, text),
        _group(_("Held now"), "allocations", AllocationFilter, querysets.allocations_now(), _allocation_hit, text),
        _group(_("Waiting pods"), "waiting", PodFilter, querysets.pods_waiting(), _pod_hit, text),
    ]


def _group(title: str, name: str, kind: type[StrictFilterSet], rows: Any, hit: Any, text: str) -> Group:
    filterset = kind({"q": text}, queryset=rows)
    if not filterset.is_valid():
        raise BadParameter({key: list(texts) for key, texts in filterset.errors.items()})
    found = list(filterset.qs.order_by("id")[: SHOWN + 1])
    return Group(title, [hit(row) for row in found[:SHOWN]], len(found) > SHOWN, with_query(reverse(name), q=text))


def _node_hit(row: NodeTotals) -> Hit:
    return Hit(row.node_name, node_url(row.cluster.name, row.node_name), f"{row.cluster.name} · {row.pool}")


def _card_hit(row: Card) -> Hit:
    return Hit(f"{row.node_name} {card_name(row)}", card_url(row.pk), f"{row.model} {row.uuid}".strip())


def _allocation_hit(row: Allocation) -> Hit:
    line = allocation_line(row)
    url = with_query(reverse("allocations"), namespace=row.namespace, pod=row.pod)
    return Hit(f"{row.namespace}/{row.pod}", url, f"{line.amount} · {row.node_name} {line.card}".strip())


def _pod_hit(row: Pod) -> Hit:
    url = with_query(reverse("waiting"), namespace=row.namespace, pod=row.name)
    return Hit(f"{row.namespace}/{row.name}", url, row.waiting_reason)
