"""The heat map: all cards in one picture, coloured by room, use, health or proof; each part leads to a closer look."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from inventory.models import Cluster
from inventory.queries.totals import PoolKey
from pages.charts.heat import cells, colours
from pages.charts.heat.cells import Asked, Cell, Heat
from pages.frame import amounts
from pages.frame.freshness import incomplete, notices
from pages.frame.links import card_url, node_url, state_url
from pages.frame.live import live_page
from pages.frame.parameters import clusters_asked
from pages.frame.refusals import BadParameter, answered
from pages.words.unavailable import unavailable_reason_word
from runtime.cached import shareable

PARAMETERS = frozenset({"cluster", "pool", "by", "from", "to"})


@dataclass(frozen=True)
class Link:
    """A cell that can be followed. words: all of it, for the title and the screen reader."""

    url: str
    key: str
    words: str


@dataclass(frozen=True)
class Pool:
    """One pool: a picture (paths in a box of width by height), or cells that are links. told: (cells, words) of each class."""

    name: str
    cluster: str
    key: str
    url: str
    size: str
    told: list[tuple[int, str]]
    paths: list[tuple[str, str]]
    width: int
    height: int
    links: list[Link]


@shareable
@require_safe
@answered
def heat_map(request: HttpRequest) -> HttpResponseBase:
    chosen, asked = _asked(request)
    if not chosen:
        return live_page(request, "map/page.html", "overview/none.html", {})
    found, legend = cells.heat(asked), colours.classes(asked.colouring)
    words = {one.key: one.words for one in legend}
    cells_of = Counter(cell.key for own in found.by_pool.values() for cell in own)
    keys = sorted(found.by_pool, key=lambda key: (-len(found.by_pool[key]), key[1]))[: cells.MOST_POOLS]
    names = {one.pk: one.name for one in chosen}
    ids = set(names)
    context = {
        "notices": notices(request, ids),
        "incomplete": incomplete(request, ids),
        "found": found,
        "legend": [(one, cells_of[one.key]) for one in legend],
        "per": _per(found),
        "clusters": [
            (names[pk], [_pool(request, found, key, names, words, asked) for key in keys if key[0] == pk])
            for pk in names
            if any(key[0] == pk for key in keys)
        ],
        "several": len(names) > 1,
        "more_pools": len(found.by_pool) - len(keys),
        "asked": asked,
        "colourings": [
            (str(title), state_url(request, by=None if name == colours.FREE else name), name == asked.colouring)
            for name, title in colours.COLOURINGS.items()
        ],
        "way": _way(request, asked),
    }
    return live_page(request, "map/page.html", "map/part.html", context)


def _asked(request: HttpRequest) -> tuple[list[Cluster], Asked]:
    """The clusters and the rest. Raises BadParameter."""
    chosen, errors = clusters_asked(request, PARAMETERS)
    by = request.GET.get("by", colours.FREE)
    if by not in colours.COLOURINGS:
        errors["by"] = [_("Must be one of: %(names)s.") % {"names": ", ".join(colours.COLOURINGS)}]
    for name in ("pool", "from", "to"):
        text = request.GET.get(name, "")
        if "\0" in text or len(text) > 255:
            errors[name] = [_("No pool has this name.") if name == "pool" else _("No node has this name.")]
    if errors:
        raise BadParameter(errors)
    return chosen, Asked(
        clusters=tuple(sorted(one.pk for one in chosen)),
        colouring=by,
        pool=request.GET.get("pool"),
        begin=request.GET.get("from", ""),
        end=request.GET.get("to", ""),
    )


def _per(found: Heat) -> str:
    """What a cell is, in words."""
    words = {"card": _("One cell per card"), "node": _("One cell per node")}
    return words.get(found.per) or _("One cell for several consecutive nodes")


def _pool(
    request: HttpRequest, found: Heat, key: PoolKey, names: dict[int, str], legend: dict[str, str], asked: Asked
) -> Pool:
    own, cluster = found.by_pool[key], names[key[0]]
    counts = found.counts(key)
    alone = asked.pool is not None
    drawn, rows = ([], 0) if alone else cells.paths(own, list(legend), merged=len(own) > cells.MOST_SQUARES)
    return Pool(
        name=key[1] or _("pool unknown"),
        cluster=cluster,
        key=f"{cluster}/{key[1]}",
        url="" if alone else _pool_url(request, cluster, key[1]),
        size=_size(own),
        told=[(counts[one], words) for one, words in legend.items()],
        paths=drawn,
        width=min(len(own), cells.ACROSS) * 10,
        height=rows * 10,
        links=[_link(request, cluster, one, legend) for one in own] if alone else [],
    )


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


def _link(request: HttpRequest, cluster: str, one: Cell, words: dict[str, str]) -> Link:
    if one.card is not None:
        url, name = card_url(one.card), _("%(node)s card %(name)s") % {"node": one.node, "name": one.name}
    elif one.nodes > 1:
        url = state_url(request, cluster=cluster, **{"from": one.node, "to": one.last})
        name = _("%(first)s to %(last)s, %(n)d nodes") % {"first": one.node, "last": one.last, "n": one.nodes}
    else:
        url, name = node_url(cluster, one.node), one.node
    said = [name, words.get(one.key, "")]
    if one.free is not None and one.total:
        said.append(_("%(free)s free of %(total)s") % {"free": amounts.gib(one.free), "total": amounts.gib(one.total)})
    if off := unavailable_reason_word(one.unavailable_reason):
        said.append(off)
    return Link(url, one.key, ": ".join((said[0], ", ".join(said[1:]))))


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
