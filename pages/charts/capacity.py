"""Capacity by model: a row for each pool (the nodes of one stack and model, of all clusters), and of those that the address opens
the nodes with a tile for each card.

Draws about ELEMENTS elements of nodes, whatever the size of the clusters, those with the largest free blocks first; of the rest it
says how many there are, and links to them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from inventory.models import Cluster, NodeTotals
from inventory.models.choices import CardState
from inventory.queries import totals as sums
from inventory.queries.availability import totals_now
from inventory.queries.free import cards_by_pool, ids_of
from inventory.queries.totals import PoolKey, PoolTotals, Totals
from pages.charts.tiles import TILES_DRAWN, FiguresOf, Tile, figures_of, raw_tiles, tile_of
from pages.charts.trends import Trend, lately, trend
from pages.frame import amounts
from pages.frame.labels import pool_parts
from pages.frame.links import node_url, with_filters
from pages.words.names import short_model
from pages.words.unavailable import unavailable_reason_word

ELEMENTS, FEWEST_OF_A_POOL, ROWS_SHOWN = 600, 2, 40
#: Elements of a node that is drawn; of each of its tiles there is one.
_OF_A_NODE = 4
#: Class of a part of the bar → states of cards, in the order in which they are drawn.
_PARTS = {
    "full": (CardState.FULL, CardState.OVER),
    "partly": (CardState.PARTLY,),
    "unavailable": (CardState.UNAVAILABLE,),
    "unknown": (CardState.UNKNOWN, CardState.SHARED),
    "free": (CardState.FREE,),
}


@dataclass(frozen=True)
class NodeTiles:
    """name: with its cluster, where there are several. off: why it is unavailable, in words; "" for nothing."""

    name: str
    url: str
    off: str
    tiles: list[Tile]
    more_tiles: int


@dataclass(frozen=True)
class CapacityRow:
    """model: its short name; full: as it is reported. bar: (class, width) of its parts; bar_words: the same in words.

    metered: whether the memory of its cards is metered where nothing is known of it. toggle: address that opens or closes it.
    nodes: those drawn, hidden: how many are not, of an open row.
    """

    pool: str
    model: str
    full: str
    stack: str
    totals: Totals
    bar: list[tuple[str, str]]
    bar_words: str
    metered: bool
    validated: int
    trend: Trend | None
    toggle: str
    open: bool
    nodes: list[NodeTiles]
    hidden: int
    nodes_url: str


@dataclass(frozen=True)
class Capacity:
    """more: pools that are not shown."""

    rows: list[CapacityRow]
    more: int

    @property
    def card_ids(self) -> list[int]:
        return [tile.card_id for row in self.rows for node in row.nodes for tile in node.tiles]


def capacity(
    pools: Sequence[PoolTotals],
    chosen: Iterable[Cluster],
    opened: Collection[str],
    validated: Mapping[PoolKey, int],
    toggle: Callable[[str, bool], str],
    query: QueryDict,
) -> Capacity:
    """Five queries, whatever the size; three more where a row is open.

    opened: names of pools. validated: cards of each pool. toggle: address of this page with a pool opened (True) or closed.
    query: the clusters that the page is of, as its address has them.
    """
    by_name: dict[str, list[PoolTotals]] = {}
    for one in pools:
        by_name.setdefault(one.pool, []).append(one)
    together = {name: sums.added(one.totals for one in own) for name, own in by_name.items()}
    names = sorted(together, key=lambda name: _largest_cards(together[name], name))
    shown = names[:ROWS_SHOWN]
    ids = ids_of(chosen)
    states = cards_by_pool(ids)
    past = lately([(one.cluster_id, name) for name in shown for one in by_name[name]])
    asks = {name: (together[name].nodes, _weight(together[name])) for name in shown if name in opened}
    drawn = _first_of_each(ids or (), shared_out(asks, ELEMENTS))
    every = [one for nodes in drawn.values() for one in nodes]
    totals_now(every)
    figures = figures_of(every)
    clusters = {one.cluster_id: one.cluster for one in pools}

    def row(name: str) -> CapacityRow:
        own = [(one.cluster_id, name) for one in by_name[name]]
        counts = {
            part: sum(states[key].states.get(state, 0) for key in own if key in states for state in of)
            for part, of in _PARTS.items()
        }
        shared = sum(states[key].states[CardState.SHARED] for key in own if key in states)
        (stack, _named), (model, is_model) = [*pool_parts(name), (_("model unknown"), False)][:2]
        nodes = [_node(one, clusters, figures) for one in drawn.get(name, ())]
        return CapacityRow(
            pool=name,
            model=short_model(model) if is_model else model,
            full=model,
            stack=stack,
            totals=together[name],
            bar=[(part, amounts.width(number, sum(counts.values()))) for part, number in counts.items() if number]
            or [("unknown", "1")],
            bar_words=_bar_words(counts),
            metered=not shared or counts["unknown"] > shared,
            validated=sum(validated.get(key, 0) for key in own),
            trend=trend([past[key] for key in own if key in past], together[name]),
            toggle=toggle(name, name not in opened),
            open=name in opened,
            nodes=nodes,
            hidden=together[name].nodes - len(nodes) if name in opened else 0,
            nodes_url=with_filters(reverse("nodes"), query, {"pool": name}),
        )

    return Capacity([row(name) for name in shown], len(names) - len(shown))


def _largest_cards(totals: Totals, name: str) -> tuple[bool, bool, float, str]:
    """An order that stays as it is while pods come and go: what has cards first, those with the most memory."""
    cards, memory = totals.cards_total.value or 0, totals.memory_total.value or 0
    return not cards, totals.memory_free.value is None, -memory / max(1, cards), name


def _weight(totals: Totals) -> int:
    """Elements of a node of the pool, as its nodes are on the mean."""
    return _OF_A_NODE + min(-(-(totals.cards_total.value or 0) // max(1, totals.nodes)), TILES_DRAWN)


def shared_out(asks: dict[str, tuple[int, int]], elements: int) -> dict[str, int]:
    """How many nodes of each pool are drawn: small pools whole, the rest in equal parts, at least FEWEST_OF_A_POOL of each.

    asks: pool → (its nodes, elements of one of them).
    """
    made: dict[str, int] = {}
    left = len(asks)
    for key, (size, weight) in sorted(asks.items(), key=lambda item: item[1][0] * item[1][1]):
        made[key] = min(size, max(FEWEST_OF_A_POOL, elements // left // weight))
        elements, left = max(0, elements - made[key] * weight), left - 1
    return made


def _first_of_each(cluster_ids: Sequence[int], room: dict[str, int]) -> dict[str, list[NodeTotals]]:
    """The first nodes of each pool by name; of more than are drawn those with the largest free blocks, then the most free cards."""
    if not room:
        return {}
    order = [F(name).desc(nulls_last=True) for name in ("largest_gap_bytes", "memory_free_bytes", "cards_free")]
    by_pool = Window(RowNumber(), partition_by=[F("pool")], order_by=[*order, F("node_name").asc(), F("id").asc()])
    rows = NodeTotals.objects.filter(pool__in=room, cluster_id__in=cluster_ids).annotate(number=by_pool)
    places = rows.filter(number__lte=max(room.values())).values_list("id", "pool", "number")
    ids = [pk for pk, pool, number in places if number <= room[pool]]
    drawn: dict[str, list[NodeTotals]] = {}
    for node_totals in NodeTotals.objects.filter(id__in=ids).order_by("node_name", "id"):
        drawn.setdefault(node_totals.pool, []).append(node_totals)
    return drawn


def _bar_words(counts: Mapping[str, int]) -> str:
    texts = {
        "full": _("%(n)s allocated"),
        "partly": _("%(n)s partially allocated"),
        "unavailable": _("%(n)s unavailable"),
        "unknown": _("%(n)s unknown or not metered"),
        "free": _("%(n)s free"),
    }
    told = " · ".join(texts[part] % {"n": amounts.count(number)} for part, number in counts.items() if number)
    return told or _("no cards found")


def _node(node_totals: NodeTotals, clusters: Mapping[int, str], figures: FiguresOf) -> NodeTiles:
    raw, off, name = raw_tiles(node_totals), node_totals.unavailable_reason, node_totals.node_name
    cluster = clusters[node_totals.cluster_id]
    title = f"{cluster} · {name}" if len(clusters) > 1 else name
    return NodeTiles(
        name=title,
        url=node_url(cluster, name),
        off=unavailable_reason_word(off),
        tiles=[tile_of(tile, title, off, figures) for tile in raw[:TILES_DRAWN]],
        more_tiles=max(0, len(raw) - TILES_DRAWN),
    )
