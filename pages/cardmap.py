"""The map of the overview: pool → node → card. Aggregated bars for all pools, tiles for a few nodes of each, links to the rest.

Never draws more than NODES_DRAWN nodes, whatever the size of the clusters. Reads the tiles of the nodes' totals; no card rows
but where a filter needs their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.urls import reverse
from django.utils.translation import gettext as _

from inventory.models import Card, Cluster, NodeTotals
from inventory.models.choices import CardState
from inventory.totals import PoolTotals, Totals
from pages.frame import amounts
from pages.frame.links import card_url, node_url, with_query

NODES_DRAWN, FEWEST_OF_A_POOL, POOLS_SHOWN, TILES_DRAWN = 40, 2, 40, 16
ROOM_BYTES = 8 * 2**30


#: Card id → (free bytes, holders).
Figures = dict[int, tuple[int | None, int]]
#: (cluster id, pool).
PoolKey = tuple[int, str]


@dataclass(frozen=True)
class Show:
    """A filter chip: which nodes are drawn, and which of their tiles stand out."""

    name: str
    condition: Q


SHOWS = {
    "": Show("", Q()),
    "room": Show("room", Q(largest_gap_bytes__gte=ROOM_BYTES)),
    "free": Show("free", Q(cards_free__gt=0)),
    "unknown": Show("unknown", Q(memory_allocated_bytes=None) | Q(unplaced_count__gt=0)),
    "findings": Show("findings", Q(findings_count__gt=0)),
}


@dataclass(frozen=True)
class Tile:
    """A card. text: the number on it; fill: 0 to 100; words: all of it for the title and the screen reader."""

    card_id: int
    url: str
    text: str
    fill: str
    state: str
    severity: str
    words: str
    dim: bool


@dataclass(frozen=True)
class MapNode:
    name: str
    url: str
    note: str
    tiles: list[Tile]
    more_tiles: int


@dataclass(frozen=True)
class MapPool:
    """A pool with its bar. used, unknown: widths. hidden: nodes that match and are not drawn."""

    name: str
    cluster: str
    key: str
    totals: Totals
    used: str
    over: bool
    unknown: str
    words: str
    nodes: list[MapNode]
    hidden: int
    hidden_url: str
    pool_url: str


@dataclass(frozen=True)
class CardMap:
    """pools: those shown; more_pools: how many are not; matching: nodes that the filter keeps, of all pools."""

    pools: list[MapPool]
    more_pools: int
    matching: int


def card_map(pools: Sequence[PoolTotals], chosen: Iterable[Cluster], show: str, pool: str) -> CardMap:
    """pool: only this one, with as many of its nodes as may be drawn; "" for all. Four queries, whatever the size."""
    # Pools whose memory is known first: that is where room can be found.
    by_use = sorted(pools, key=lambda one: (one.totals.memory_allocated.value is None, one.cluster, one.pool))
    wanted = [one for one in by_use if not pool or one.pool == pool]
    shown = wanted[:POOLS_SHOWN]
    rows = _nodes([cluster.pk for cluster in chosen], SHOWS[show], pool)
    counts = {(cid, name): count for cid, name, count in _count(rows)}
    matching = [one for one in shown if counts.get((one.cluster_id, one.pool))]
    room = shared_out({key: counts[key] for key in ((one.cluster_id, one.pool) for one in matching)}, NODES_DRAWN)
    drawn = _first_of_each(rows, room)
    cards = _cards_of_tiles(drawn, show)
    several = len({one.cluster_id for one in pools}) > 1
    return CardMap(
        pools=[
            _pool(
                one,
                drawn.get((one.cluster_id, one.pool), []),
                counts.get((one.cluster_id, one.pool), 0),
                show,
                cards,
                several,
            )
            for one in (matching if show else shown)
        ],
        more_pools=len(wanted) - len(shown),
        matching=sum(counts.values()),
    )


def _nodes(cluster_ids: list[int], show: Show, pool: str) -> QuerySet[NodeTotals]:
    rows = NodeTotals.objects.filter(show.condition)
    rows = rows.filter(cluster_id=cluster_ids[0]) if len(cluster_ids) == 1 else rows.filter(cluster_id__in=cluster_ids)
    return rows.filter(pool=pool) if pool else rows


def _count(rows: QuerySet[NodeTotals]) -> list[tuple[int, str, int]]:
    return list(rows.order_by().values_list("cluster_id", "pool").annotate(count=Count("id")))


def shared_out(sizes: dict[PoolKey, int], places: int) -> dict[PoolKey, int]:
    """How many nodes of each pool are drawn: small pools whole, the rest in equal parts, at least FEWEST_OF_A_POOL of each."""
    made: dict[PoolKey, int] = {}
    left = len(sizes)
    for key, size in sorted(sizes.items(), key=lambda item: item[1]):
        made[key] = min(size, max(FEWEST_OF_A_POOL, places // left))
        places, left = max(0, places - made[key]), left - 1
    return made


def _first_of_each(rows: QuerySet[NodeTotals], room: dict[PoolKey, int]) -> dict[PoolKey, list[NodeTotals]]:
    """The first nodes of each pool by name: the same ones at each look, so that places can be remembered."""
    numbered = rows.annotate(
        number=Window(RowNumber(), partition_by=[F("cluster_id"), F("pool")], order_by=F("node_name").asc())
    )
    first = numbered.filter(number__lte=max(room.values(), default=0))
    places = first.values_list("id", "cluster_id", "pool", "number")
    ids = [pk for pk, cluster_id, pool, number in places if number <= room.get((cluster_id, pool), 0)]
    drawn: dict[PoolKey, list[NodeTotals]] = {}
    for node_totals in NodeTotals.objects.filter(id__in=ids).order_by("node_name"):
        drawn.setdefault((node_totals.cluster_id, node_totals.pool), []).append(node_totals)
    return drawn


def _cards_of_tiles(drawn: dict[PoolKey, list[NodeTotals]], show: str) -> Figures:
    """Card id → (free bytes, holders), for the tiles that need more than they carry: shared ones, and all with show="room"."""
    raw = [
        tile
        for totals_of_nodes in drawn.values()
        for node_totals in totals_of_nodes
        for tile in _raw_tiles(node_totals)[:TILES_DRAWN]
    ]
    ids = [tile[0] for tile in raw if show == "room" or tile[3] == CardState.SHARED]
    rows = Card.objects.filter(id__in=ids).values_list("id", "memory_free_bytes", "holders_count")
    return {card_id: (free, holders) for card_id, free, holders in rows}


def _raw_tiles(node_totals: NodeTotals) -> list[Any]:
    tiles = node_totals.tiles if isinstance(node_totals.tiles, list) else []
    return [tile for tile in tiles if isinstance(tile, list) and len(tile) == 5 and isinstance(tile[0], int)]


def _pool(
    one: PoolTotals, totals_of_nodes: list[NodeTotals], matching: int, show: str, cards: Figures, several: bool
) -> MapPool:
    used, over, unknown = _shares_of(one.totals)
    name = one.pool or _("pool not known")
    list_url = with_query(reverse("nodes"), cluster=one.cluster, pool=one.pool)
    return MapPool(
        name=f"{one.cluster} · {name}" if several else name,
        cluster=one.cluster,
        key=f"{one.cluster}/{one.pool}",
        totals=one.totals,
        used=used,
        over=over,
        unknown=unknown,
        words=_pool_words(one.totals),
        nodes=[_map_node(node_totals, one.cluster, show, cards) for node_totals in totals_of_nodes],
        hidden=max(0, matching - len(totals_of_nodes)),
        hidden_url=list_url,
        pool_url=with_query(reverse("overview"), cluster=one.cluster if several else "", pool=one.pool, show=show),
    )


def _shares_of(totals: Totals) -> tuple[str, bool, str]:
    """(width used, over, width not known) of a pool's bar: the part of its nodes whose memory is not known is hatched."""
    total, held = totals.memory_metered.value, totals.memory_allocated.value
    unknown = totals.memory_allocated.unknown_nodes / totals.nodes if totals.nodes else 0.0
    if total is None or held is None or total <= 0:
        return "0", False, "1"
    used = min(1.0, held / total) * (1 - unknown)
    return f"{used:.4f}", held > total, f"{unknown:.4f}"


def _pool_words(totals: Totals) -> str:
    """The bar in words."""
    held, total = totals.memory_allocated.value, totals.memory_metered.value
    if held is None or total is None:
        return _("memory not known or not metered")
    if held > total:
        return _("over-committed: %(held)s of %(total)s") % {"held": amounts.gib(held), "total": amounts.gib(total)}
    text = _("%(free)s free of %(total)s") % {"free": amounts.gib(total - held), "total": amounts.gib(total)}
    unknown = totals.memory_allocated.unknown_nodes
    return text + (_(", not known on %(n)d nodes") % {"n": unknown} if unknown else "")


def _map_node(node_totals: NodeTotals, cluster: str, show: str, cards: Figures) -> MapNode:
    raw = _raw_tiles(node_totals)
    return MapNode(
        name=node_totals.node_name,
        url=node_url(cluster, node_totals.node_name),
        note=_note(node_totals),
        tiles=[_tile(tile, show, cards) for tile in raw[:TILES_DRAWN]],
        more_tiles=max(0, len(raw) - TILES_DRAWN),
    )


def _note(node_totals: NodeTotals) -> str:
    """What stands beside the node's name."""
    if node_totals.unplaced_count:
        return _("%(n)d held, card not known") % {"n": node_totals.unplaced_count}
    if node_totals.memory_free_bytes is not None and node_totals.memory_free_bytes < 0:
        return _("%(amount)s too much") % {"amount": amounts.gib(-node_totals.memory_free_bytes)}
    if node_totals.memory_free_bytes is not None:
        return _("%(amount)s free") % {"amount": amounts.gib(node_totals.memory_free_bytes)}
    if node_totals.holders_count:
        return _("used by %(n)d") % {"n": node_totals.holders_count}
    return ""


def _tile(raw: list[Any], show: str, cards: Figures) -> Tile:
    card_id, label, percent, state, severity = raw
    known = state if state in CardState.values else CardState.UNKNOWN.value
    number = 0 if known == CardState.FREE else percent if isinstance(percent, int) else None
    free, holders = cards.get(card_id, (None, None))
    return Tile(
        card_id=card_id,
        url=card_url(card_id),
        text=_tile_text(known, number, holders),
        fill=str(min(100, number or 0)),
        state=known,
        severity=severity if isinstance(severity, str) else "",
        words=_tile_words(str(label), known, number, holders),
        dim=_dim(show, known, number, severity, free),
    )


def _tile_text(state: str, percent: int | None, holders: int | None) -> str:
    if state == CardState.SHARED:
        return "" if holders is None else f"×{holders}"
    return "?" if state == CardState.UNKNOWN or percent is None else str(percent)


def _tile_words(label: str, state: str, percent: int | None, holders: int | None) -> str:
    if state == CardState.SHARED:
        if holders is None:
            return _("card %(label)s: shared, memory not metered") % {"label": label}
        return _("card %(label)s: used by %(n)d, memory not metered") % {"label": label, "n": holders}
    if state == CardState.UNKNOWN or percent is None:
        return _("card %(label)s: not known") % {"label": label}
    if state == CardState.OVER:
        return _("card %(label)s: over-committed, %(n)d %% allocated") % {"label": label, "n": percent}
    return _("card %(label)s: %(n)d %% allocated") % {"label": label, "n": percent}


def _dim(show: str, state: str, percent: int | None, severity: Any, free: int | None) -> bool:
    """Whether a tile steps back because the filter does not mean it."""
    if show == "room":
        return free is None or free < ROOM_BYTES
    if show == "free":
        return state not in (CardState.FREE, CardState.UNKNOWN)
    if show == "unknown":
        return state != CardState.UNKNOWN and (percent is not None or state == CardState.SHARED)
    return show == "findings" and not severity
