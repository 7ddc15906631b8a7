"""Places of a campaign from what was chosen: ticked nodes, a filter of the node list, or lines of text. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import Count
from django.http import QueryDict
from django.utils.translation import gettext as _

from inventory.models import Card, Cluster, Node
from inventory.queries import rows as mirror
from resources.card import CardFilter
from resources.node import NodeFilter
from validations.campaign_checks import MOST_TARGETS, Spot
from validations.software import causes, on_nodes

_LONGEST_LINE = 700


class BadPlaces(ValueError):
    """Lines or a filter that name no places. The text says which, and what is wanted."""


def text_of(spots: Iterable[Spot]) -> str:
    """Spots as lines: "cluster/node" or "cluster/node card"."""
    return "\n".join(f"{cluster}/{node} {card}".rstrip() for cluster, node, card in spots)


def ticked(values: Iterable[str]) -> list[Spot]:
    """Values of the ticked boxes, "cluster/node". What has no slash names nothing and raises BadPlaces."""
    return read_lines("\n".join(values))


def read_lines(text: str) -> list[Spot]:
    """One place per line. Without "cluster/" the only cluster is meant. Raises BadPlaces naming the first bad line."""
    names = set(Cluster.objects.values_list("name", flat=True))
    only = next(iter(names)) if len(names) == 1 else ""
    spots = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line:
            continue
        spots.append(_spot(line, number, names, only))
        if len(spots) > MOST_TARGETS:
            raise BadPlaces(
                _("More than %(most)d targets. Split them into several campaigns.") % {"most": MOST_TARGETS}
            )
    return list(dict.fromkeys(spots))


def _spot(line: str, number: int, names: set[str], only: str) -> Spot:
    if len(line) > _LONGEST_LINE or "\0" in line:
        raise BadPlaces(_("Line %(n)d must be “cluster/node”.") % {"n": number})
    place, _space, card = line.partition(" ")
    cluster, slash, node = place.partition("/")
    if slash and cluster in names:
        return cluster, node, card.strip()
    if only:
        return only, place, card.strip()
    known = ", ".join(sorted(names)[:20])
    raise BadPlaces(_("Line %(n)d: unknown cluster. Known clusters: %(known)s.") % {"n": number, "known": known})


def by_filter(query: str) -> list[Spot]:
    """The nodes that a filter of the node list keeps, as its address says it (`stack=nvidia&model=A100`). Raises BadPlaces."""
    found = NodeFilter(QueryDict(query), queryset=mirror.node_totals())
    if not found.is_valid():
        raise BadPlaces("; ".join(f"{name}: {' '.join(texts)}" for name, texts in found.errors.items()))
    rows = found.ordered().values_list("cluster__name", "node_name")[: MOST_TARGETS + 1]
    spots = [(cluster, node, "") for cluster, node in rows]
    if len(spots) > MOST_TARGETS:
        raise BadPlaces(_("More than %(most)d nodes match. Narrow the filter.") % {"most": MOST_TARGETS})
    return spots


def of_models(words: Sequence[str]) -> list[Spot]:
    """The cards of these models, by name or a part of it; all where no word is given. A node whose cards all are is named alone.

    Raises BadPlaces where there is none. Two queries.
    """
    query = QueryDict(mutable=True)
    query.setlist("model", list(words))
    chosen = CardFilter(query, queryset=Card.objects.filter(removed_at=None))
    if not chosen.is_valid():
        raise BadPlaces(" ".join(text for texts in chosen.errors.values() for text in texts))
    every = Card.objects.filter(removed_at=None).order_by().values_list("cluster__name", "node_name")
    counts = {(cluster, node): number for cluster, node, number in every.annotate(Count("pk"))}
    found: dict[tuple[str, str], list[str]] = {}
    rows = chosen.qs.order_by("cluster__name", "node_name", "index", "id")
    for cluster, node, key in rows.values_list("cluster__name", "node_name", "key").iterator():
        found.setdefault((cluster, node), []).append(key)
    if not found:
        raise BadPlaces(_("No card model contains %(words)s.") % {"words": " · ".join(words)})
    return [
        (*place, key) for place, keys in found.items() for key in (keys if len(keys) < counts.get(place, 0) else [""])
    ]


def cards_there() -> int:
    """Cards that a campaign could test: one query."""
    return Card.objects.filter(removed_at=None).count()


def cordoned(spots: Iterable[Spot]) -> list[str]:
    """Those of the nodes on which nothing else is scheduled, as "cluster/node". One query."""
    chosen = {(cluster, node) for cluster, node, _card in spots}
    unavailable_reason = Node.objects.filter(
        unschedulable=True, cluster__name__in={cluster for cluster, _node in chosen}
    )
    return sorted(
        f"{cluster}/{node}" for cluster, node in chosen & set(unavailable_reason.values_list("cluster__name", "name"))
    )


def software(spots: Iterable[Spot]) -> str:
    """Those of the nodes whose GPU software is not ready, as a sentence; "" where none is. At most three queries."""
    chosen = {(cluster, node) for cluster, node, _card in spots}
    names = dict(Cluster.objects.filter(name__in={cluster for cluster, _node in chosen}).values_list("name", "pk"))
    found = causes((names[cluster], node) for cluster, node in chosen if cluster in names)
    return on_nodes(found, {pk: name for name, pk in names.items()})


def each_card(spots: Iterable[Spot]) -> list[Spot]:
    """A place per card for those that name a node only: one query per cluster. A node without known cards stays as it is."""
    wanted = list(spots)
    cards: dict[tuple[str, str], list[str]] = {}
    for cluster in {spot[0] for spot in wanted}:
        names = {node for name, node, card in wanted if name == cluster and not card}
        rows = Card.objects.filter(cluster__name=cluster, removed_at=None).order_by("node_name", "index", "id")
        for node, key in rows.values_list("node_name", "key").iterator():
            if node in names:
                cards.setdefault((cluster, node), []).append(key)
    made: list[Spot] = []
    for cluster, node, card in wanted:
        made += (
            [(cluster, node, key) for key in cards.get((cluster, node), [""])] if not card else [(cluster, node, card)]
        )
    return list(dict.fromkeys(made))
