"""The cells of the heat map, read and placed: cluster → pool → cells, in a constant number of queries.

A cell is a card where all that is asked for has at most MOST_CARDS of them, else a node. Up to MOST_LINKS cells are links; seen
whole, more than these are a picture for each pool (`picture`), so that 40,000 cards are a few hundred elements. One pool's cells are
always links: of a larger pool a link stands for several nodes that follow each other, and leads to these alone. Where cells are
nodes no card is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Q, QuerySet, Sum

from inventory.models import Card, NodeTotals
from inventory.models.choices import NOT_ALLOCATED, CardState, UnavailableReason
from inventory.queries.availability import unbelieved
from inventory.queries.measured import measured_now
from inventory.queries.totals import PoolKey
from pages.charts.heat import colours
from validations import validity, validity_counts

MOST_CARDS, MOST_LINKS, MOST_POOLS = 4000, 600, 60


@dataclass(frozen=True)
class Cell:
    """node: of the first one, cards: how many it stands for. card: its id where the cell is one; last: of several nodes.

    free, total: bytes; None: not known. unavailable_reason: why nothing of it is given out.
    """

    node: str
    key: str
    cards: int
    card: int | None = None
    name: str = ""
    nodes: int = 1
    last: str = ""
    free: int | None = None
    total: int | None = None
    unavailable_reason: str = ""


@dataclass
class Heat:
    """by_pool: cells in the order of nodes' names. per: "card", "node" or "nodes"."""

    per: str = "node"
    by_pool: dict[PoolKey, list[Cell]] = field(default_factory=dict)
    nodes: int = 0
    cards: int = 0

    def counts(self, key: PoolKey) -> Counter[str]:
        """Class → cells of a pool."""
        return Counter(cell.key for cell in self.by_pool.get(key, ()))


@dataclass(frozen=True)
class Asked:
    """clusters: ids. pool: None for all. begin, end: of a range of nodes of the pool by name; "" for all."""

    clusters: tuple[int, ...]
    colouring: str
    pool: str | None = None
    begin: str = ""
    end: str = ""


@dataclass(frozen=True)
class _Node:
    cluster: int
    pool: str
    name: str
    unavailable_reason: str
    cards_total: int | None
    cards_free: int | None
    cards_unavailable: int | None
    total: int | None
    free: int | None
    unavailable: int | None
    health: str
    unplaced: int


_COLUMNS = (
    *("cluster_id", "pool", "node_name", "unavailable_reason", "cards_total", "cards_free", "cards_unavailable"),
    *("memory_total_bytes", "memory_free_bytes", "memory_unavailable_bytes", "health", "unplaced_count"),
)


def heat(asked: Asked) -> Heat:
    """Seven queries at most."""
    nodes = _nodes(asked)
    alone = asked.pool is not None
    if _counted(nodes) <= (MOST_LINKS if alone else MOST_CARDS):
        return _by_card(asked, nodes)
    return _by_node(asked, nodes, -(-len(nodes) // MOST_LINKS) if alone else 1)


def drawn(asked: Asked, per: str) -> Heat:
    """The cells of one pool as they are in the picture of all pools, whose cells are `per`."""
    nodes = _nodes(asked)
    return _by_card(asked, nodes) if per == "card" and _counted(nodes) <= MOST_CARDS else _by_node(asked, nodes, 1)


def _counted(nodes: list[_Node]) -> int:
    return sum(one.cards_total or 0 for one in nodes)


def _by_card(asked: Asked, nodes: list[_Node]) -> Heat:
    made = Heat(per="card", nodes=len(nodes), cards=_counted(nodes))
    pools = {(one.cluster, one.name): one.pool for one in nodes}
    for cluster, node, cell in _cards(asked, nodes):
        made.by_pool.setdefault((cluster, pools[cluster, node]), []).append(cell)
    return made


def _by_node(asked: Asked, nodes: list[_Node], together: int) -> Heat:
    """together: nodes of a cell."""
    made = Heat(per="node" if together == 1 else "nodes", nodes=len(nodes), cards=_counted(nodes))
    keys = _keys_of_nodes(asked, nodes)
    for key, several in _chunks(nodes, together):
        made.by_pool.setdefault(key, []).append(_cell(several, [keys[one.cluster, one.name] for one in several]))
    return made


def _nodes(asked: Asked) -> list[_Node]:
    rows = NodeTotals.objects.filter(_in(asked.clusters))
    if asked.pool is not None:
        rows = rows.filter(pool=asked.pool)
    if asked.begin:
        rows = rows.filter(node_name__gte=asked.begin)
    if asked.end:
        rows = rows.filter(node_name__lte=asked.end)
    away = unbelieved()
    found = (_Node(*row) for row in rows.order_by("cluster_id", "pool", "node_name").values_list(*_COLUMNS))
    return [_stale(one) if one.cluster in away else one for one in found]


def _in(ids: Sequence[int]) -> Q:
    return Q(cluster_id=ids[0]) if len(ids) == 1 else Q(cluster_id__in=ids)


def _stale(one: _Node) -> _Node:
    """Of a cluster that is not believed nothing is free."""
    cards_unavailable = (one.cards_free or 0) + (one.cards_unavailable or 0)
    return _Node(
        *(one.cluster, one.pool, one.name, UnavailableReason.STALE.value, one.cards_total),
        *(None if one.cards_free is None else 0, cards_unavailable, one.total),
        *(None if one.free is None else min(one.free, 0), max(one.free or 0, 0) + (one.unavailable or 0)),
        *(one.health, one.unplaced),
    )


def _chunks(nodes: Iterable[_Node], size: int) -> Iterable[tuple[PoolKey, list[_Node]]]:
    """Nodes of one pool that follow each other, so many together."""
    key: PoolKey | None = None
    part: list[_Node] = []
    for one in nodes:
        if part and ((one.cluster, one.pool) != key or len(part) == size):
            yield (part[0].cluster, part[0].pool), part
            part = []
        key = (one.cluster, one.pool)
        part.append(one)
    if part:
        yield (part[0].cluster, part[0].pool), part


def _cell(several: list[_Node], keys: list[str]) -> Cell:
    """Several nodes look as the worst of them where one is bad, else as most of them do."""
    first = several[0]
    if len(several) == 1:
        cards = first.cards_total or 0
        return Cell(
            first.name,
            keys[0],
            cards,
            last=first.name,
            free=first.free,
            total=first.total,
            unavailable_reason=first.unavailable_reason,
        )
    known = [one.free for one in several if one.free is not None]
    sizes = [one.total for one in several if one.total is not None]
    return Cell(
        node=first.name,
        key=next((one for one in colours.WORST if one in keys), Counter(keys).most_common(1)[0][0]),
        cards=sum(one.cards_total or 0 for one in several),
        nodes=len(several),
        last=several[-1].name,
        free=sum(known) if known else None,
        total=sum(sizes) if sizes else None,
        unavailable_reason=first.unavailable_reason if len({one.unavailable_reason for one in several}) == 1 else "",
    )


def _keys_of_nodes(asked: Asked, nodes: list[_Node]) -> dict[tuple[int, str], str]:
    """(cluster, node) → class."""
    if asked.colouring == colours.HEALTH:
        return {(one.cluster, one.name): colours.of_health(one.health) for one in nodes}
    if asked.colouring == colours.VALIDATION:
        states = validity_counts.by_node(asked.clusters)
        return {
            (one.cluster, one.name): colours.of_validity(states.get((one.cluster, one.name), {}), one.cards_total or 0)
            for one in nodes
        }
    if asked.colouring == colours.USED:
        rows = measured_now().filter(_in(asked.clusters), memory_used_bytes__isnull=False).order_by()
        sums = rows.values_list("cluster_id", "node_name").annotate(
            Sum("memory_used_bytes"), Sum("memory_measured_bytes")
        )
        used = {(cluster, node): (amount, whole) for cluster, node, amount, whole in sums}
        return {
            (one.cluster, one.name): colours.of_used(*used.get((one.cluster, one.name), (None, None))) for one in nodes
        }
    return {(one.cluster, one.name): _allocated_of(one) for one in nodes}


def _allocated_of(one: _Node) -> str:
    if one.free is not None and one.total:
        return colours.of_allocated(one.free, one.total, one.unavailable or 0)
    return colours.of_allocated(one.cards_free, one.cards_total, one.cards_unavailable or 0)


def _present(asked: Asked) -> QuerySet[Card]:
    return Card.objects.filter(_in(asked.clusters), removed_at=None)


def _cards(asked: Asked, nodes: list[_Node]) -> Iterable[tuple[int, str, Cell]]:
    """(cluster, node, cell of a card), in the order of nodes' names."""
    rows = _present(asked)
    if asked.pool is not None:
        rows = rows.filter(node_name__in=[one.name for one in nodes])
    columns = ("id", "cluster_id", "node_name", "key", "index", "state", "unavailable_reason", "health")
    figures = ("memory_total_bytes", "memory_free_bytes", "memory_unavailable_bytes")
    found = list(rows.order_by("cluster_id", "node_name", "index", "id").values_list(*columns, *figures))
    off = {(one.cluster, one.name): one.unavailable_reason for one in nodes}
    used = _used_of_cards(asked) if asked.colouring == colours.USED else {}
    names = None if asked.pool is None else [one.name for one in nodes]
    states = validity_counts.by_card(asked.clusters, names) if asked.colouring == colours.VALIDATION else {}
    for pk, cluster, node, key, index, state, unavailable_reason, health, total, free, unavailable in found:
        if (cluster, node) not in off:
            continue
        stale = off[cluster, node] == UnavailableReason.STALE
        unavailable_reason = UnavailableReason.STALE.value if stale else unavailable_reason
        if stale and free is not None and free > 0:
            free, unavailable = 0, free + (unavailable or 0)
        if asked.colouring == colours.HEALTH:
            look = colours.of_health(health)
        elif asked.colouring == colours.USED:
            look = colours.of_used(*used.get(pk, (None, None)))
        elif asked.colouring == colours.VALIDATION:
            look = colours.of_validity({states.get((cluster, node, key), validity.NEVER): 1}, 1)
        else:
            look = _look_of(state, unavailable_reason, free, total, unavailable)
        name = str(index) if index is not None else key[-8:]
        yield (
            cluster,
            node,
            Cell(node, look, 1, pk, name, free=free, total=total, unavailable_reason=unavailable_reason),
        )


def _look_of(state: str, unavailable_reason: str, free: int | None, total: int | None, unavailable: int | None) -> str:
    """How far one card is allocated."""
    if state in NOT_ALLOCATED:
        return colours.UNAVAILABLE if unavailable_reason else "s0"
    if state == CardState.FULL:
        return "s4"
    return colours.of_allocated(free, total, unavailable or 0)


def _used_of_cards(asked: Asked) -> dict[int, tuple[int | None, int | None]]:
    rows = measured_now().filter(_in(asked.clusters)).order_by()
    return {
        card: (used, whole)
        for card, used, whole in rows.values_list("card_id", "memory_used_bytes", "memory_measured_bytes")
    }
