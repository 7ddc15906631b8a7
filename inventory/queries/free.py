"""How many cards are free, and how many are unavailable and why: counts over the cards, in a constant number of queries.

What free means is said in `inventory.queries.availability`. Knows nothing of requests, pages or validations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Greatest

from inventory.models import Card, Cluster, NodeTotals
from inventory.models.choices import NOT_ALLOCATED, CardState, UnavailableReason
from inventory.queries.availability import unbelieved
from runtime.cached import once, shared

#: Ids of clusters; None: all.
Ids = tuple[int, ...] | None


@dataclass(frozen=True)
class FreeCards:
    """Cards that can be given. named: those that lists show with state=free. unidentified: more of them, known by count only.

    unavailable: cards that are not allocated and cannot be, by `UnavailableReason`; lists show them with state=unavailable and
    unavailable_reason=.
    unavailable_unidentified: more of them, known by count only.
    """

    named: int = 0
    unidentified: int = 0
    unavailable: Mapping[str, int] = field(default_factory=dict)
    unavailable_unidentified: int = 0

    @property
    def unavailable_named(self) -> int:
        """Those that lists show."""
        return sum(self.unavailable.values())

    @property
    def unavailable_all(self) -> int:
        return self.unavailable_named + self.unavailable_unidentified


def free_cards(clusters: Iterable[Cluster] | None = None) -> FreeCards:
    """Over all clusters, or these: three queries."""
    ids = ids_of(clusters)
    return added_cards([*(one.free for one in cards_by_cluster(ids).values()), *unidentified(ids).values()])


def added_cards(parts: Iterable[FreeCards]) -> FreeCards:
    """Free cards of several sets of cards together."""
    every, unavailable = list(parts), dict[str, int]()
    for part in every:
        for why, number in part.unavailable.items():
            unavailable[why] = unavailable.get(why, 0) + number
    return FreeCards(
        named=sum(part.named for part in every),
        unidentified=sum(part.unidentified for part in every),
        unavailable={why: unavailable[why] for why in UnavailableReason.values if unavailable.get(why)},
        unavailable_unidentified=sum(part.unavailable_unidentified for part in every),
    )


def unidentified(ids: Ids) -> dict[int, FreeCards]:
    """Cluster id → unallocated cards on nodes with unidentified allocations. One query."""
    return shared("unnamed free cards", ids, lambda: _countunnamed(ids))


def _countunnamed(ids: Ids) -> dict[int, FreeCards]:
    there = Card.objects.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef("node_name"), removed_at=None)
    rows = of_clusters(NodeTotals.objects.filter(unplaced_count__gt=0), ids).order_by()
    rows = rows.filter(Q(cards_free__gt=0) | Q(cards_unavailable__gt=0))
    free, unavailable = (
        Greatest(Coalesce(F(column), 0) - Coalesce(Subquery(_number(there.filter(state=state))), 0), 0)
        for column, state in (("cards_free", CardState.FREE), ("cards_unavailable", CardState.UNAVAILABLE))
    )
    away = unbelieved()
    found = rows.annotate(more=free, off=unavailable).values_list("cluster_id").annotate(Sum("more"), Sum("off"))
    return {
        cluster: FreeCards(unavailable_unidentified=more + off)
        if cluster in away
        else FreeCards(unidentified=more, unavailable_unidentified=off)
        for cluster, more, off in found
    }


def _number(cards: QuerySet[Card]) -> QuerySet[Any]:
    return cards.order_by().values("node_name").annotate(n=Count("id")).values("n")


def card_states(clusters: Iterable[Cluster] | None = None) -> dict[int, dict[str, int]]:
    """Cluster id → state → cards present; every state is named, with 0 where there is none (these are counts)."""
    return {cluster_id: dict(one.states) for cluster_id, one in cards_by_cluster(ids_of(clusters)).items()}


@dataclass
class CardCounts:
    """Cards present of one cluster: by state, the unavailable ones by reason, those with free memory."""

    states: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CardState.values, 0))
    unavailable: dict[str, int] = field(default_factory=dict)
    room: int = 0
    partly: int = 0

    @property
    def free(self) -> FreeCards:
        return FreeCards(self.states[CardState.FREE], unavailable=self.unavailable)

    def add(self, state: str, why: str, count: int, room: int) -> None:
        """why: what keeps pods off these cards; "" for nothing."""
        if state in NOT_ALLOCATED:
            state = CardState.UNAVAILABLE.value if why else CardState.FREE.value
            if why:
                self.unavailable[why] = self.unavailable.get(why, 0) + count
        self.states[state] = self.states.get(state, 0) + count
        if not why:
            self.room += room
            self.partly += count if state == CardState.PARTLY else 0


def cards_by_cluster(ids: Ids) -> dict[int, CardCounts]:
    """Cluster id → its cards that are present: two queries."""
    return once(f"cards by state {ids}", lambda: shared("cards by state", ids, lambda: _count_cards(ids)))


def _count_cards(ids: Ids) -> dict[int, CardCounts]:
    return count_cards(of_clusters(Card.objects.filter(removed_at=None), ids))


def count_cards(cards: QuerySet[Card]) -> dict[int, CardCounts]:
    """Cluster id → these cards."""
    away, made = unbelieved(), dict[int, CardCounts]()
    rows = cards.order_by().values_list("cluster_id", "state", "unavailable_reason")
    # The state and not the id, which the index does not have.
    free = Count("state", filter=Q(memory_free_bytes__gt=0))
    for cluster_id, state, why, count, with_room in rows.annotate(count=Count("state"), with_room=free):
        off = UnavailableReason.STALE.value if cluster_id in away else why
        made.setdefault(cluster_id, CardCounts()).add(state, off, count, with_room)
    return made


def cards_by_pool(ids: Ids) -> dict[tuple[int, str], CardCounts]:
    """(cluster id, pool) → its cards that are present; those of nodes that are not counted yet are of pool "". Two queries."""
    return shared("cards by pool", ids, lambda: _count_by_pool(ids))


def _count_by_pool(ids: Ids) -> dict[tuple[int, str], CardCounts]:
    away, made = unbelieved(), dict[tuple[int, str], CardCounts]()
    node = NodeTotals.objects.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef("node_name"))
    rows = (
        of_clusters(Card.objects.filter(removed_at=None), ids).order_by().annotate(pool=Subquery(node.values("pool")))
    )
    columns = ("cluster_id", "pool", "state", "unavailable_reason")
    for cluster_id, pool, state, why, count in rows.values_list(*columns).annotate(Count("id")):
        off = UnavailableReason.STALE.value if cluster_id in away else why
        made.setdefault((cluster_id, pool or ""), CardCounts()).add(state, off, count, 0)
    return made


def ids_of(clusters: Iterable[Cluster] | None) -> Ids:
    return None if clusters is None else tuple(sorted(cluster.pk for cluster in clusters))


def of_clusters(rows: QuerySet[Any], ids: Ids) -> QuerySet[Any]:
    """Only those of these clusters; all when None. One cluster alone becomes an equality, which the indexes begin with."""
    if ids is None:
        return rows
    return rows.filter(cluster_id=ids[0]) if len(ids) == 1 else rows.filter(cluster_id__in=ids)
