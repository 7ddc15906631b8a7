"""The map of the overview: pools as rows, of those that are open the nodes, of these the cards as tiles; links to the rest.

Draws at most so many elements of nodes as ELEMENTS says, whatever the size of the clusters (some more where every pool is to show a
few): the freest and largest come first, of pools as of nodes. Where there are few cards all pools are open; else those that the
address names. The heat map (`pages.heatmap`) shows all cards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from inventory.models import Cluster, NodeTotals
from inventory.queries.availability import in_believed, totals_now, unbelieved, with_room
from inventory.queries.totals import PoolKey, PoolTotals, Totals
from pages.charts.tiles import ROOM_BYTES, TILES_DRAWN, FiguresOf, Tile, figures_of, raw_tiles, tile_of
from pages.frame import amounts
from pages.frame.links import node_url, with_query
from pages.words.unavailable import unavailable_reason_word

ELEMENTS, FEWEST_OF_A_POOL, POOLS_SHOWN, FEW_CARDS = 1300, 2, 40, 300
#: Elements of a node that is drawn, and of each of its tiles; some have marks besides.
_OF_A_NODE, _OF_A_TILE = 6, 3


@dataclass(frozen=True)
class Asked:
    """show: name of a filter. pool: this one alone; "" for all. opened: keys of pools whose nodes are drawn.

    toggle: address of this page with the pool of a key opened (True) or closed.
    """

    show: str = ""
    pool: str = ""
    opened: Collection[str] = field(default_factory=frozenset)
    toggle: Callable[[str, bool], str] = lambda key, opened: ""


#: Names of the filters of nodes; "" is none.
SHOWS = ("", "room", "free", "unavailable", "unknown", "findings")


def condition_of(show: str) -> Q:
    """Which nodes are drawn."""
    if show == "room":
        return with_room("largest_gap_bytes", ROOM_BYTES)
    if show == "free":
        return in_believed() & Q(cards_free__gt=0)
    if show == "unavailable":
        return (
            Q(cards_unavailable__gt=0)
            | Q(memory_unavailable_bytes__gt=0)
            | Q(cluster_id__in=unbelieved(), cards_free__gt=0)
        )
    if show == "unknown":
        return Q(memory_allocated_bytes=None) | Q(unplaced_count__gt=0)
    return Q(findings_count__gt=0) if show == "findings" else Q()


@dataclass(frozen=True)
class MapNode:
    """title: with its cluster, where there are several. off: why it is unavailable, in words; "" for nothing."""

    name: str
    title: str
    url: str
    note: str
    tiles: list[Tile]
    more_tiles: int
    off: str


@dataclass(frozen=True)
class MapPool:
    """A pool with its bar. used, apart, unknown: widths. hidden: nodes that match and are not drawn.

    place: where its proofs and its past are found. toggle: address that opens or closes it, "" where it cannot be closed.
    pool_url: its own view, "" in that view.
    """

    name: str
    cluster: str
    key: str
    place: PoolKey
    totals: Totals
    used: str
    over: bool
    unavailable: str
    unknown: str
    words: str
    open: bool
    toggle: str
    nodes: list[MapNode]
    hidden: int
    hidden_url: str
    pool_url: str
    heat_url: str


@dataclass(frozen=True)
class CardMap:
    """pools: those shown; more_pools: how many are not; matching: nodes that the filter keeps, of all pools."""

    pools: list[MapPool]
    more_pools: int
    matching: int


def card_map(pools: Sequence[PoolTotals], chosen: Iterable[Cluster], asked: Asked) -> CardMap:
    """Four queries, whatever the size; one more with a filter of nodes."""
    wanted = sorted((one for one in pools if not asked.pool or one.pool == asked.pool), key=_freest)
    shown = wanted[:POOLS_SHOWN]
    rows = nodes_of([cluster.pk for cluster in chosen], asked)
    counts = {(cid, name): count for cid, name, count in _count(rows)} if asked.show else _sizes(wanted)
    matching = [one for one in shown if counts.get(_place(one))]
    few = sum(one.totals.cards_total.value or 0 for one in pools) <= FEW_CARDS or bool(asked.pool)
    opened = {_place(one) for one in matching if few or _key(one) in asked.opened}
    asks = {_place(one): (counts[_place(one)], _weight(one)) for one in matching if _place(one) in opened}
    drawn = _first_of_each(rows, shared_out(asks, ELEMENTS))
    totals_now(node_totals for of_pool in drawn.values() for node_totals in of_pool)
    figures = figures_of(node_totals for of_pool in drawn.values() for node_totals in of_pool)
    several = len({one.cluster_id for one in pools}) > 1
    parts = [
        _Part(one, drawn.get(_place(one), []), counts.get(_place(one), 0), _place(one) in opened, few, several)
        for one in (matching if asked.show else shown)
    ]
    return CardMap(
        pools=[_pool(part, asked, figures) for part in parts],
        more_pools=len(wanted) - len(shown),
        matching=sum(counts.values()),
    )


@dataclass(frozen=True)
class _Part:
    """A pool and what of it is drawn. matching: nodes that the filter keeps. few: all pools are open."""

    own: PoolTotals
    nodes: list[NodeTotals]
    matching: int
    opened: bool
    few: bool
    several: bool


def _place(one: PoolTotals) -> PoolKey:
    return one.cluster_id, one.pool


def _key(one: PoolTotals) -> str:
    return f"{one.cluster}/{one.pool}"


def _freest(one: PoolTotals) -> tuple[bool, int, int, int, str, str]:
    """Where room can be found: the freest first, then the one with the largest piece; what is not known comes last."""
    free, gap, cards = one.totals.memory_free.value, one.totals.largest_gap_bytes, one.totals.cards_free.value
    return free is None, -(free or 0), -(gap or 0), -(cards or 0), one.cluster, one.pool


def nodes_of(cluster_ids: Sequence[int], asked: Asked) -> QuerySet[NodeTotals]:
    """The nodes that the filter and the pool keep."""
    rows = NodeTotals.objects.filter(condition_of(asked.show))
    rows = rows.filter(cluster_id=cluster_ids[0]) if len(cluster_ids) == 1 else rows.filter(cluster_id__in=cluster_ids)
    return rows.filter(pool=asked.pool) if asked.pool else rows


def _sizes(pools: Iterable[PoolTotals]) -> dict[PoolKey, int]:
    """How many nodes each has."""
    return {_place(one): one.totals.nodes for one in pools}


def _count(rows: QuerySet[NodeTotals]) -> list[tuple[int, str, int]]:
    return list(rows.order_by().values_list("cluster_id", "pool").annotate(count=Count("id")))


def _weight(one: PoolTotals) -> int:
    """Elements of a node of the pool, as its nodes are on the mean."""
    cards = -(-(one.totals.cards_total.value or 0) // max(1, one.totals.nodes))
    return _OF_A_NODE + _OF_A_TILE * min(cards, TILES_DRAWN)


def shared_out(asks: dict[PoolKey, tuple[int, int]], elements: int) -> dict[PoolKey, int]:
    """How many nodes of each pool are drawn: small pools whole, the rest in equal parts, at least FEWEST_OF_A_POOL of each.

    asks: pool → (its nodes, elements of one of them).
    """
    made: dict[PoolKey, int] = {}
    left = len(asks)
    for key, (size, weight) in sorted(asks.items(), key=lambda item: item[1][0] * item[1][1]):
        made[key] = min(size, max(FEWEST_OF_A_POOL, elements // left // weight))
        elements, left = max(0, elements - made[key] * weight), left - 1
    return made


def _first_of_each(rows: QuerySet[NodeTotals], room: dict[PoolKey, int]) -> dict[PoolKey, list[NodeTotals]]:
    """The first nodes of each pool: those with the largest free pieces, then the most free cards; equal ones by name."""
    if not room:
        return {}
    order = [F(name).desc(nulls_last=True) for name in ("largest_gap_bytes", "memory_free_bytes", "cards_free")]
    by_pool = Window(RowNumber(), partition_by=[F("cluster_id"), F("pool")], order_by=[*order, F("node_name").asc()])
    of_these = rows.filter(pool__in={pool for _, pool in room}, cluster_id__in={cluster for cluster, _ in room})
    first = of_these.annotate(number=by_pool).filter(number__lte=max(room.values()))
    places = first.values_list("id", "cluster_id", "pool", "number")
    numbers = {pk: number for pk, cluster_id, pool, number in places if number <= room.get((cluster_id, pool), 0)}
    drawn: dict[PoolKey, list[NodeTotals]] = {}
    for node_totals in sorted(NodeTotals.objects.filter(id__in=numbers), key=lambda one: numbers[one.pk]):
        drawn.setdefault((node_totals.cluster_id, node_totals.pool), []).append(node_totals)
    return drawn


def _pool(part: _Part, asked: Asked, figures: FiguresOf) -> MapPool:
    one, totals = part.own, part.own.totals
    used, over, unavailable, unknown = _shares_of(totals)
    key, name = _key(one), one.pool or _("pool unknown")
    cluster = one.cluster if part.several else ""
    return MapPool(
        name=f"{one.cluster} · {name}" if part.several else name,
        cluster=one.cluster,
        key=key,
        place=_place(one),
        totals=totals,
        used=used,
        over=over,
        unavailable=unavailable,
        unknown=unknown,
        words=_pool_words(totals),
        open=part.opened,
        toggle="" if part.few else asked.toggle(key, not part.opened),
        nodes=[_map_node(node_totals, part, asked.show, figures) for node_totals in part.nodes],
        hidden=max(0, part.matching - len(part.nodes)),
        hidden_url=with_query(reverse("nodes"), cluster=one.cluster, pool=one.pool),
        pool_url="" if asked.pool else with_query(reverse("overview"), cluster=cluster, pool=one.pool, show=asked.show),
        heat_url=with_query(reverse("map"), cluster=cluster, pool=one.pool),
    )


def _shares_of(totals: Totals) -> tuple[str, bool, str, str]:
    """(width used, over, width apart, width not known) of a pool's bar: the part whose memory is not known is hatched."""
    total, held = totals.memory_metered.value, totals.memory_allocated.value
    unknown = totals.memory_allocated.unknown_nodes / totals.nodes if totals.nodes else 0.0
    if total is None or held is None or total <= 0:
        return "0", False, "0", "1"
    used, unavailable = (
        min(1.0, held / total) * (1 - unknown),
        min(1.0, totals.memory_unavailable / total) * (1 - unknown),
    )
    return (
        f"{used:.4f}",
        held > total,
        f"{unavailable:.4f}" if unavailable else "0",
        f"{unknown:.4f}" if unknown else "0",
    )


def _pool_words(totals: Totals) -> str:
    """The bar in words."""
    held, total, free = totals.memory_allocated.value, totals.memory_metered.value, totals.memory_free.value
    if held is None or total is None or free is None:
        return _("memory unknown or not metered")
    if held > total:
        return _("overcommitted: %(allocated)s of %(total)s") % {
            "allocated": amounts.gib(held),
            "total": amounts.gib(total),
        }
    text = _("%(free)s free of %(total)s") % {"free": amounts.gib(free), "total": amounts.gib(total)}
    unknown = totals.memory_allocated.unknown_nodes
    if not unknown:
        return text
    return text + ngettext(", unknown on %(n)d node", ", unknown on %(n)d nodes", unknown) % {"n": unknown}


def _map_node(node_totals: NodeTotals, part: _Part, show: str, figures: FiguresOf) -> MapNode:
    raw, off, name = raw_tiles(node_totals), node_totals.unavailable_reason, node_totals.node_name
    title = f"{part.own.cluster} · {name}" if part.several else name
    return MapNode(
        name=name,
        title=title,
        url=node_url(part.own.cluster, name),
        note=_note(node_totals),
        tiles=[tile_of(tile, title, off, show, figures) for tile in raw[:TILES_DRAWN]],
        more_tiles=max(0, len(raw) - TILES_DRAWN),
        off=unavailable_reason_word(off),
    )


def _note(node_totals: NodeTotals) -> str:
    """What stands beside the node's name."""
    if node_totals.unplaced_count:
        return _("%(n)d unidentified") % {"n": node_totals.unplaced_count}
    if node_totals.memory_free_bytes is not None and node_totals.memory_free_bytes < 0:
        return _("overcommitted by %(amount)s") % {"amount": amounts.gib(-node_totals.memory_free_bytes)}
    if node_totals.memory_free_bytes is not None:
        return _("%(amount)s free") % {"amount": amounts.gib(node_totals.memory_free_bytes)}
    if node_totals.allocations_count:
        return ngettext("%(n)d pod", "%(n)d pods", node_totals.allocations_count) % {"n": node_totals.allocations_count}
    return ""
