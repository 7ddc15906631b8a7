"""How many cards are free, and how many are kept apart and why: counts over the cards, in a constant number of queries.

What free means is said in `inventory.kept_off`. Knows nothing of requests, pages or validations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Greatest

from inventory.kept_off import unbelieved
from inventory.models import Card, Cluster, NodeTotals
from inventory.models.choices import UNHELD, CardState, KeptOff
from inventory.shared import once, shared

#: Ids of clusters; None: all.
Ids = tuple[int, ...] | None


@dataclass(frozen=True)
class FreeCards:
    """Cards that can be given. named: those that lists show with state=free. unnamed: more of them, known by count only.

    apart: cards that nobody holds and nobody is given, by why (a `KeptOff`), as lists show them with state=apart&kept_off=.
    apart_unnamed: more of them, known by count only.
    """

    named: int = 0
    unnamed: int = 0
    apart: Mapping[str, int] = field(default_factory=dict)
    apart_unnamed: int = 0

    @property
    def apart_all(self) -> int:
        return sum(self.apart.values()) + self.apart_unnamed


def free_cards(clusters: Iterable[Cluster] | None = None) -> FreeCards:
    """Over all clusters, or these: three queries."""
    ids = ids_of(clusters)
    return added_cards([*(one.free for one in cards_by_cluster(ids).values()), *unnamed(ids).values()])


def added_cards(parts: Iterable[FreeCards]) -> FreeCards:
    """Free cards of several sets of cards together."""
    every, apart = list(parts), dict[str, int]()
    for part in every:
        for why, number in part.apart.items():
            apart[why] = apart.get(why, 0) + number
    return FreeCards(
        named=sum(part.named for part in every),
        unnamed=sum(part.unnamed for part in every),
        apart={why: apart[why] for why in KeptOff.values if apart.get(why)},
        apart_unnamed=sum(part.apart_unnamed for part in every),
    )


def unnamed(ids: Ids) -> dict[int, FreeCards]:
    """Cluster id → cards that nobody holds on nodes of which some holder has no card: how many is known, not which. One query."""
    return shared("unnamed free cards", ids, lambda: _countunnamed(ids))


def _countunnamed(ids: Ids) -> dict[int, FreeCards]:
    there = Card.objects.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef("node_name"), gone_at=None)
    rows = of_clusters(NodeTotals.objects.filter(unplaced_count__gt=0), ids).order_by()
    rows = rows.filter(Q(cards_free__gt=0) | Q(cards_apart__gt=0))
    free, apart = (
        Greatest(Coalesce(F(column), 0) - Coalesce(Subquery(_number(there.filter(state=state))), 0), 0)
        for column, state in (("cards_free", CardState.FREE), ("cards_apart", CardState.APART))
    )
    away = unbelieved()
    found = rows.annotate(more=free, off=apart).values_list("cluster_id").annotate(Sum("more"), Sum("off"))
    return {
        cluster: FreeCards(apart_unnamed=more + off) if cluster in away else FreeCards(unnamed=more, apart_unnamed=off)
        for cluster, more, off in found
    }


def _number(cards: QuerySet[Card]) -> QuerySet[Any]:
    return cards.order_by().values("node_name").annotate(n=Count("id")).values("n")


def card_states(clusters: Iterable[Cluster] | None = None) -> dict[int, dict[str, int]]:
    """Cluster id → state → cards present; every state is named, with 0 where there is none (these are counts)."""
    return {cluster_id: dict(one.states) for cluster_id, one in cards_by_cluster(ids_of(clusters)).items()}


@dataclass
class CardCounts:
    """Cards present of one cluster: by state, those that nobody holds and nobody is given by why, those with room."""

    states: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CardState.values, 0))
    apart: dict[str, int] = field(default_factory=dict)
    room: int = 0
    partly: int = 0

    @property
    def free(self) -> FreeCards:
        return FreeCards(self.states[CardState.FREE], apart=self.apart)

    def add(self, state: str, why: str, count: int, room: int) -> None:
        """why: what keeps pods off these cards; "" for nothing."""
        if state in UNHELD:
            state = CardState.APART.value if why else CardState.FREE.value
            if why:
                self.apart[why] = self.apart.get(why, 0) + count
        self.states[state] = self.states.get(state, 0) + count
        if not why:
            self.room += room
            self.partly += count if state == CardState.PARTLY else 0


def cards_by_cluster(ids: Ids) -> dict[int, CardCounts]:
    """Cluster id → its cards that are present: two queries."""
    return once(f"cards by state {ids}", lambda: shared("cards by state", ids, lambda: _count_cards(ids)))


def _count_cards(ids: Ids) -> dict[int, CardCounts]:
    away, made = unbelieved(), dict[int, CardCounts]()
    rows = of_clusters(Card.objects.filter(gone_at=None), ids).order_by().values_list("cluster_id", "state", "kept_off")
    # The state and not the id, which the index does not have.
    free = Count("state", filter=Q(memory_free_bytes__gt=0))
    for cluster_id, state, why, count, with_room in rows.annotate(count=Count("state"), with_room=free):
        off = KeptOff.STALE.value if cluster_id in away else why
        made.setdefault(cluster_id, CardCounts()).add(state, off, count, with_room)
    return made


def ids_of(clusters: Iterable[Cluster] | None) -> Ids:
    return None if clusters is None else tuple(sorted(cluster.pk for cluster in clusters))


def of_clusters(rows: QuerySet[Any], ids: Ids) -> QuerySet[Any]:
    """Only those of these clusters; all when None. One cluster alone becomes an equality, which the indexes begin with."""
    if ids is None:
        return rows
    return rows.filter(cluster_id=ids[0]) if len(ids) == 1 else rows.filter(cluster_id__in=ids)
