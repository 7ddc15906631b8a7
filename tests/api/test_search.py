"""Free-text search over allocations: whichever way the database goes, the rows are the same."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from inventory.models import Allocation, Cluster
from inventory.queries import rows as querysets
from resources import search
from resources.allocation import AllocationFilter
from resources.search import COLUMNS, Search

WORDS = (
    ["team"],
    ["TEAM-A"],
    ["te"],
    ["train", "team"],
    ["node-1"],
    ["%"],
    ["_"],
    ["\\"],
    ["'"],
    ["nosuchthing"],
    ["ä"],
    ["node-1", "nosuchthing"],
)


def _expected(words: list[str]) -> set[int]:
    """By Python, of what is held now."""
    found = set()
    for row in Allocation.objects.filter(ended_at=None).select_related("card"):
        texts = [getattr(row, name) for name in COLUMNS] + [row.card.uuid if row.card else ""]
        if all(any(word.upper() in text.upper() for text in texts) for word in words):
            found.add(row.pk)
    return found


def _listed(words: list[str]) -> list[int]:
    given = QueryDict(mutable=True)
    given["q"] = " ".join(words)
    return [row.pk for row in AllocationFilter(given, queryset=querysets.allocations_ever()).ordered()]


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("common", [0, 10**6])
def test_common_and_rare_words_find_the_same(
    fleet: Cluster, words: list[str], common: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """common 0: all words are taken for common; a million: none is."""
    monkeypatch.setattr(search, "COMMON", common)
    listed = _listed(words)
    assert set(listed) == _expected(words)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("words", WORDS)
def test_walking_finds_what_the_index_finds(fleet: Cluster, words: list[str]) -> None:
    """On every database, also where only one of the ways is gone."""
    rows: Any = querysets.allocations_now()
    made = Search(words)
    ways = [set(found.values_list("pk", flat=True)) for found in (made._walked(rows), made.indexed(rows))]
    assert ways[0] == ways[1] == _expected(words)


def test_a_uuid_is_found(fleet: Cluster) -> None:
    row = Allocation.objects.filter(ended_at=None, card__isnull=False).exclude(card__uuid="").select_related("card")[0]
    assert row.card is not None
    assert row.pk in _listed([row.card.uuid[4:]])


def test_the_other_filters_stay_in_force(fleet: Cluster) -> None:
    row = Allocation.objects.filter(ended_at=None)[0]
    given = QueryDict(f"q={row.pod}&namespace=elsewhere")
    assert not AllocationFilter(given, queryset=querysets.allocations_ever()).ordered().exists()
    refused = QueryDict(f"q={row.pod}&placed=strange")
    assert not AllocationFilter(refused, queryset=querysets.allocations_ever()).ordered().exists()
