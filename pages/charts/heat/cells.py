"""The cells of the heat map, read and placed: cluster → pool → cells, in a constant number of queries.

A cell is a card where all that is asked for has at most MOST_CARDS of them, else a node. Seen whole, each pool is one picture with
a path for each class, so that 40,000 cards are a few hundred elements; one pool's cells are links, at most MOST_LINKS of them: of a
larger pool a link stands for several nodes that follow each other, and leads to these alone. Where cells are nodes no card is read.
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
#: A picture of more cells draws bars, not squares.
MOST_SQUARES = 600
#: Cells of a row of a picture.
ACROSS = 64


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
    cards = sum(one.cards_total or 0 for one in nodes)
    made = Heat(nodes=len(nodes), cards=cards)
    alone = asked.pool is not None
    if cards <= (MOST_LINKS if alone else MOST_CARDS):
        made.per = "card"
        pools = {(one.cluster, one.name): one.pool for one in nodes}
        for cluster, node, cell in _cards(asked, nodes):
            made.by_pool.setdefault((cluster, pools[cluster, node]), []).append(cell)
        return made
    together = -(-len(nodes) // MOST_LINKS) if alone else 1
    made.per = "node" if together == 1 else "nodes"
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
    """Several nodes look as most of them do."""
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
        key=Counter(keys).most_common(1)[0][0],
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
    return {(one.cluster, one.name): _free_of(one) for one in nodes}


def _free_of(one: _Node) -> str:
    if one.free is not None and one.total:
        return colours.of_free(one.free, one.total, one.unavailable or 0)
    return colours.of_free(one.cards_free, one.cards_total, one.cards_unavailable or 0)


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
    """How free one card is."""
    if state in NOT_ALLOCATED:
        return colours.UNAVAILABLE if unavailable_reason else "s4"
    if state == CardState.FULL:
        return "s0"
    return colours.of_free(free, total, unavailable or 0)


def _used_of_cards(asked: Asked) -> dict[int, tuple[int | None, int | None]]:
    rows = measured_now().filter(_in(asked.clusters)).order_by()
    return {
        card: (used, whole)
        for card, used, whole in rows.values_list("card_id", "memory_used_bytes", "memory_measured_bytes")
    }


def paths(cells: Sequence[Cell], order: Iterable[str], merged: bool) -> tuple[list[tuple[str, str]], int]:
    """((class, path of its squares of 10 by 10 with a gap), rows). merged: those of one class that follow each other are a bar."""
    drawn: dict[str, list[str]] = {}
    for row in range(0, len(cells), ACROSS):
        begin, line = 0, cells[row : row + ACROSS]
        y = row // ACROSS * 10
        for place in range(1, len(line) + 1):
            if not merged or place == len(line) or line[place].key != line[begin].key:
                width = (place - begin) * 10 - 1
                drawn.setdefault(line[begin].key, []).append(f"M{begin * 10} {y}h{width}v9h-{width}z")
                begin = place
    return [(key, "".join(drawn[key])) for key in order if key in drawn], -(-len(cells) // ACROSS)
