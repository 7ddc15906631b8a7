"""Free-text search over allocations: which of two ways finds the first page of a list sooner.

Where the words are common, the list is walked in its order until a page is full; where they are rare, the index of trigrams
(migrations 0007 and 0010) names the rows, which are then ordered. The database cannot know which it is: its statistics know no
parts of words. So a few of the newest rows are looked at first. Both ways give the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection
from django.db.models import BooleanField, F, Func, Q, QuerySet, Subquery, Value
from django.db.models.functions import Concat, StrIndex, Upper

from inventory.models import Allocation, Card

COLUMNS = ("pod", "namespace", "owner_name", "node_name")
FEW_CARDS = 200  # a word that is in the UUIDs of more is none
#: Of so many of the newest rows, so many make words common. Then a page is found in some thousand rows.
NEWEST, COMMON = 2_000, 10

Rows = QuerySet[Allocation]


class Search:
    """Rows with each of the words in one of COLUMNS, or in the UUID of their card. No word has a blank.

    Few cards are named by their ids: a join would keep the database from its indexes.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = [(word, _on_cards(word)) for word in words]

    def indexed(self, rows: Rows) -> Rows:
        """As the index of trigrams finds them."""
        for word, on_cards in self._words:
            rows = rows.filter(on_cards | Q(*((f"{name}__icontains", word) for name in COLUMNS), _connector=Q.OR))
        return rows

    def listed(self, rows: Rows) -> Rows:
        """The same, as the first of them in an order are found soonest."""
        if connection.vendor != "postgresql":
            return self.indexed(rows)
        newest = rows.order_by("-started_at", "-id").values("pk")[:NEWEST]
        near = self._walked(Allocation.objects.filter(pk__in=newest))
        if len(near.values_list("pk")[:COMMON]) == COMMON:
            return self._walked(rows)
        return rows.filter(_AnyOf(F("pk"), _Array(self.indexed(rows).order_by().values("pk"))))

    def _walked(self, rows: Rows) -> Rows:
        """In words that no index answers and that the database takes for common."""
        parts = [part for name in COLUMNS for part in (F(name), Value(" "))]
        for word, on_cards in self._words:
            at = StrIndex(Upper(Concat(*parts)), Upper(Value(word)))
            rows = rows.alias(at=at).filter(Q(at__gt=0) | on_cards)
        return rows


def _on_cards(word: str) -> Q:
    cards = list(Card.objects.filter(uuid__icontains=word).values_list("pk", flat=True)[: FEW_CARDS + 1])
    if not cards:
        return Q(pk__in=[])
    return Q(card_id__in=cards) if len(cards) <= FEW_CARDS else Q(card__uuid__icontains=word)


class _AnyOf(Func):
    """`key = ANY (ARRAY (rows))`: the rows are found for themselves, whatever order and limit stand outside."""

    template, arg_joiner = "(%(expressions)s)", " = ANY "
    output_field = BooleanField()


class _Array(Subquery):
    template = "(ARRAY(%(subquery)s))"
