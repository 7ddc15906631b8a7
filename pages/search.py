"""Search: one word over nodes, cards, pods and waiting pods; a few of each, and links to the lists that have all.

"namespace/pod" is looked for as such; the one node, card or pod of exactly this name is shown at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from inventory.models import Allocation, Card, Cluster, NodeTotals, Pod
from inventory.queries import rows as querysets
from pages.allocations import allocation_line
from pages.frame.labels import pool_words
from pages.frame.links import card_url, node_url, pod_url, with_query
from pages.frame.refusals import BadParameter, answered
from pages.frame.worded import quoted
from pages.rows.cards import card_name
from resources.allocation import AllocationFilter
from resources.card import CardFilter
from resources.filter_sets import StrictFilterSet
from resources.node import NodeFilter
from resources.pod import PodFilter

SHOWN = 6


@dataclass(frozen=True)
class Hit:
    """pod: the name of the pod that it is; "" for what is none."""

    title: str
    url: str
    note: str
    cluster: str
    pod: str = ""


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
    groups = groups_of(text) if text else []
    if one := _one_pod(groups, text):
        return HttpResponseRedirect(one)
    context = {"groups": [group for group in groups if group.hits], "text": text}
    return render(request, "search.html", context)


def _exact(text: str) -> str:
    """The page of the one node, card or pod that has exactly this name or UUID; "" when it is not one."""
    if not text or "\0" in text or len(text) > 253:
        return ""
    nodes = list(querysets.node_totals().filter(node_name=text)[:2])
    if len(nodes) == 1:
        return node_url(nodes[0].cluster.name, nodes[0].node_name)
    cards = list(querysets.cards_ever().filter(uuid=text)[:2])
    if cards:
        return card_url(cards[0].pk) if len(cards) == 1 else ""
    namespace, slash, name = text.rpartition("/")
    pods = _pods_named(namespace, name) if slash else set()
    return pod_url(*pods.pop()) if len(pods) == 1 else ""


def _pods_named(namespace: str, name: str) -> set[tuple[str, str, str]]:
    """(cluster, namespace, name) of pods that are or were. With the ids of the clusters the indexes by name serve it."""
    clusters = dict(Cluster.objects.values_list("pk", "name"))
    where = {"cluster_id__in": list(clusters), "namespace": namespace}
    pods = Pod.objects.filter(name=name, **where).values_list("cluster_id", flat=True)
    held = querysets.allocations_ever().filter(pod=name, **where).order_by().values_list("cluster_id", flat=True)
    return {(clusters[pk], namespace, name) for pk in {*pods, *held.distinct()}}


def _one_pod(groups: list[Group], text: str) -> str:
    """The page of the one pod that is called so, of what the groups have found; "" when there is none, or are several."""
    found = {hit.url for group in groups for hit in group.hits if hit.pod and text in (hit.pod, hit.title)}
    others = any(not hit.pod for group in groups for hit in group.hits)
    return found.pop() if len(found) == 1 and not others else ""


def groups_of(text: str) -> list[Group]:
    """What each list finds. "team-a/train": each part is a word of its own, since no column has both. Raises BadParameter."""
    return _groups(" ".join(text.split("/")).strip())


def _groups(text: str) -> list[Group]:
    return [
        _group(_("Nodes"), "nodes", NodeFilter, querysets.node_totals(), _node_hit, text),
        _group(_("Cards"), "cards", CardFilter, querysets.cards_present(), _card_hit, text),
        _group(
            _("Current allocations"),
            "allocations",
            AllocationFilter,
            querysets.allocations_now(),
            _allocation_hit,
            text,
        ),
        _group(
            _("Past allocations"),
            "allocations",
            AllocationFilter,
            querysets.allocations_ended(),
            _allocation_hit,
            text,
            ended="true",
        ),
        _group(_("Pending pods"), "pending", PodFilter, querysets.pods_pending(), _pod_hit, text),
    ]


def _group(title: str, name: str, kind: type[StrictFilterSet], rows: Any, hit: Any, text: str, **more: str) -> Group:
    filterset = kind({"q": text, **more}, queryset=rows)
    if not filterset.is_valid():
        raise BadParameter({key: list(texts) for key, texts in filterset.errors.items()})
    found = list(filterset.qs.order_by("id")[: SHOWN + 1])
    hits = {one.url or one.title: one for one in (hit(row) for row in found[:SHOWN])}
    return Group(title, list(hits.values()), len(found) > SHOWN, with_query(reverse(name), q=text, **more))


def _node_hit(row: NodeTotals) -> Hit:
    return Hit(row.node_name, node_url(row.cluster.name, row.node_name), str(pool_words(row.pool)), row.cluster.name)


def _card_hit(row: Card) -> Hit:
    note = f"{row.model} {row.uuid}".strip()
    return Hit(f"{row.node_name} {card_name(row)}", card_url(row.pk), note, row.cluster.name)


def _allocation_hit(row: Allocation) -> Hit:
    line = allocation_line(row)
    note = f"{line.amount} · {row.node_name} {line.card}".strip()
    return Hit(f"{row.namespace}/{row.pod}", line.pod_url, note, row.cluster.name, row.pod)


def _pod_hit(row: Pod) -> Hit:
    url = pod_url(row.cluster.name, row.namespace, row.name)
    return Hit(f"{row.namespace}/{row.name}", url, quoted(row.pending_reason), row.cluster.name, row.name)
