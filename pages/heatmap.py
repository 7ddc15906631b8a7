"""The heat map: all cards in one picture, node by node, filled as far as they are allocated; or by use, health or validation.

Each part leads to a closer look. The classes of the legend filter: cells of others stay where they are, and are faint.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from inventory.models import Cluster
from inventory.queries.totals import PoolKey
from pages.charts.heat import cells, colours
from pages.charts.heat.cells import Asked, Cell, Heat
from pages.charts.heat.picture import Picture, picture
from pages.frame import amounts
from pages.frame.freshness import incomplete, notices
from pages.frame.links import card_url, node_url, state_url
from pages.frame.live import live_page
from pages.frame.parameters import clusters_asked
from pages.frame.refusals import BadParameter, answered
from pages.words.unavailable import unavailable_reason_word
from runtime.cached import shareable

PARAMETERS = frozenset({"cluster", "pool", "by", "from", "to", "only"})
#: Nodes whose names are written beside their cards.
MOST_NAMED = 200


@dataclass(frozen=True)
class Link:
    """A cell that can be followed; url "" for one that the legend filters out. words: all of it."""

    url: str
    key: str
    words: str


@dataclass(frozen=True)
class Box:
    """What stands together: the cards of a node, or all cells where these are nodes. name: "" where it is not written."""

    name: str
    url: str
    links: list[Link]


@dataclass(frozen=True)
class Pool:
    """One pool: a picture, or boxes of cells that are links. told: (cells, words) of each class."""

    name: str
    cluster: str
    key: str
    url: str
    size: str
    told: list[tuple[int, str]]
    picture: Picture | None
    boxes: list[Box]


@dataclass(frozen=True)
class Entry:
    """An entry of the legend. url: the map with only this class besides those chosen, or without it. chosen: it is one of those."""

    key: str
    words: str
    count: int
    url: str
    chosen: bool


@shareable
@require_safe
@answered
def heat_map(request: HttpRequest) -> HttpResponseBase:
    chosen, asked = asked_of(request.GET)
    legend = colours.classes(asked.colouring)
    only = _only(request.GET, [one.key for one in legend])
    if not chosen:
        return live_page(request, "map/page.html", "overview/none.html", {})
    found = cells.heat(asked)
    cells_of = Counter(cell.key for own in found.by_pool.values() for cell in own)
    legend = [one for one in legend if cells_of[one.key] or one.key in only]
    words = {one.key: one.words for one in legend}
    keys = sorted(found.by_pool, key=lambda key: (-len(found.by_pool[key]), key[1]))[: cells.MOST_POOLS]
    names = {one.pk: one.name for one in chosen}
    ids = set(names)
    view = _View(request, asked, names, words, only, drawn=asked.pool is None and cells_of.total() > cells.MOST_LINKS)
    context = {
        "notices": notices(request, ids),
        "incomplete": incomplete(request, ids),
        "found": found,
        "legend": [_entry(request, one, cells_of[one.key], only) for one in legend],
        "only": [(cells_of[one.key], one.words) for one in legend if one.key in only],
        "chosen_keys": only,
        "all_url": state_url(request, only=None),
        "drawn": view.drawn,
        "per": _per(found),
        "clusters": [
            (names[pk], [_pool(view, found, key) for key in keys if key[0] == pk])
            for pk in names
            if any(key[0] == pk for key in keys)
        ],
        "several": len(names) > 1,
        "more_pools": len(found.by_pool) - len(keys),
        "colourings": [
            (
                str(title),
                state_url(request, only=None, by=None if name == colours.ALLOCATED else name),
                name == asked.colouring,
            )
            for name, title in colours.COLOURINGS.items()
        ],
        "way": _way(request, asked),
    }
    return live_page(request, "map/page.html", "map/part.html", context)


@dataclass(frozen=True)
class _View:
    """What the cells of all pools have in common. names: of the clusters; words: of the classes; only: those that are shown."""

    request: HttpRequest
    asked: Asked
    names: dict[int, str]
    words: dict[str, str]
    only: frozenset[str]
    drawn: bool


def asked_of(query: QueryDict) -> tuple[list[Cluster], Asked]:
    """The clusters and the rest of an address of the map. Raises BadParameter."""
    chosen, errors = clusters_asked(query, PARAMETERS)
    by = query.get("by", colours.ALLOCATED)
    if by not in colours.COLOURINGS:
        errors["by"] = [_("Must be one of: %(names)s.") % {"names": ", ".join(colours.COLOURINGS)}]
    for name in ("pool", "from", "to"):
        text = query.get(name, "")
        if "\0" in text or len(text) > 255:
            errors[name] = [_("No pool has this name.") if name == "pool" else _("No node has this name.")]
    if errors:
        raise BadParameter(errors)
    return chosen, Asked(
        clusters=tuple(sorted(one.pk for one in chosen)),
        colouring=by,
        pool=query.get("pool"),
        begin=query.get("from", ""),
        end=query.get("to", ""),
    )


def _only(query: QueryDict, keys: list[str]) -> frozenset[str]:
    """The classes that are shown; none where all are. Raises BadParameter."""
    named = frozenset(name for name in query.getlist("only") if name)
    if named - set(keys):
        raise BadParameter({"only": [_("Must be one of: %(names)s.") % {"names": ", ".join(keys)}]})
    return named


def _entry(request: HttpRequest, one: colours.Class, count: int, only: frozenset[str]) -> Entry:
    query = request.GET.copy()
    query.setlist("only", sorted(only ^ {one.key}))
    text = query.urlencode()
    return Entry(one.key, one.words, count, f"{request.path}?{text}" if text else request.path, one.key in only)


def _per(found: Heat) -> str:
    """What a cell is, in words."""
    words = {"card": _("One cell per card"), "node": _("One cell per node")}
    return words.get(found.per) or _("One cell for several consecutive nodes")


def _pool(view: _View, found: Heat, key: PoolKey) -> Pool:
    own, cluster = found.by_pool[key], view.names[key[0]]
    counts = found.counts(key)
    return Pool(
        name=key[1] or _("pool unknown"),
        cluster=cluster,
        key=f"{cluster}/{key[1]}",
        url="" if view.asked.pool is not None else _pool_url(view.request, cluster, key[1]),
        size=_size(own),
        told=[(counts[one], words) for one, words in view.words.items()],
        picture=picture(own, list(view.words)) if view.drawn else None,
        boxes=[] if view.drawn else _boxes(view, found, cluster, own),
    )


def _boxes(view: _View, found: Heat, cluster: str, own: list[Cell]) -> list[Box]:
    """The cards of each node, or all cells where these are nodes."""
    if found.per != "card":
        return [Box("", "", [_link(view, cluster, one) for one in own])]
    named = found.nodes <= MOST_NAMED
    return [
        Box(node if named else "", node_url(cluster, node), [_link(view, cluster, one) for one in mine])
        for node, mine in groupby(own, key=lambda cell: cell.node)
    ]


def _pool_url(request: HttpRequest, cluster: str, pool: str) -> str:
    return state_url(request, cluster=cluster, pool=pool)


def _size(own: list[Cell]) -> str:
    nodes = len({one.node for one in own}) if all(one.nodes == 1 for one in own) else sum(one.nodes for one in own)
    cards = sum(one.cards for one in own)
    parts = [
        ngettext("%(m)s node", "%(m)s nodes", nodes) % {"m": amounts.count(nodes)},
        ngettext("%(m)s card", "%(m)s cards", cards) % {"m": amounts.count(cards)},
    ]
    return ", ".join(parts)


def _link(view: _View, cluster: str, one: Cell) -> Link:
    if view.only and one.key not in view.only:
        return Link("", one.key, "")
    if one.card is not None:
        url, name = card_url(one.card), _("%(node)s card %(name)s") % {"node": one.node, "name": one.name}
    elif one.nodes > 1:
        url = state_url(view.request, cluster=cluster, **{"from": one.node, "to": one.last})
        name = _("%(first)s to %(last)s, %(n)d nodes") % {"first": one.node, "last": one.last, "n": one.nodes}
    else:
        url, name = node_url(cluster, one.node), one.node
    said = [view.words.get(one.key, "")]
    if one.free is not None and one.total:
        said.append(_("%(free)s free of %(total)s") % {"free": amounts.gib(one.free), "total": amounts.gib(one.total)})
    if off := unavailable_reason_word(one.unavailable_reason):
        said.append(off)
    return Link(url, one.key, f"{name}: {', '.join(said)}")


def _way(request: HttpRequest, asked: Asked) -> list[tuple[str, str]]:
    """(title, address) of the way back; "" of what is shown."""
    if asked.pool is None:
        return []
    whole = state_url(request, pool=None, **{"from": None, "to": None})
    way = [(_("All pools"), whole)]
    name = asked.pool or _("pool unknown")
    if not (asked.begin or asked.end):
        return [*way, (name, "")]
    return [*way, (name, state_url(request, **{"from": None, "to": None})), (f"{asked.begin} – {asked.end}", "")]
