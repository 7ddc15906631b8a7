"""The gap between what is allocated on cards and what they use: told, sorted by, filtered by."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from inventory.models import Card, CardUsage, Cluster
from tests.factories import GIB, make_node
from tests.factories.usage import measure, source_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cards(cluster: Cluster) -> list[Card]:
    """Held as a whole, in part, by nobody; measured with 4, 60 and 9 GiB in use. One is not measured, one is not metered."""
    for number, (trait, loads) in enumerate([("nvidia", (1.0,)), ("gpushare", (0.5,)), ("nvidia", (0.0,))]):
        make_node(cluster, f"gpu-{number}", trait, 1, loads=loads)
    make_node(cluster, "gpu-3", "nvidia", 1, loads=(1.0,))
    make_node(cluster, "gpu-4", "time-sliced", 1)
    found = list(Card.objects.order_by("node_name"))
    for card, used in zip(found, (4, 60, 9, None, 1), strict=True):
        if used is not None:
            measure(card, memory_used_bytes=used * GIB)
    return found


def gaps(api: Client, query: str) -> list[tuple[str, int | None]]:
    found, path = [], f"/api/v1/cards?{query}"
    while path:
        answer = api.get(path)
        assert answer.status_code == 200, answer.content
        page: dict[str, Any] = answer.json()
        found += [(one["node"], one["memory_unused_bytes"]) for one in page["results"]]
        path = page["next"] or ""
    return found


def wanted(card: Card, used: int) -> tuple[str, int]:
    assert card.memory_allocated_bytes is not None
    return card.node_name, card.memory_allocated_bytes - used * GIB


def test_it_is_sorted_page_by_page_with_what_is_not_known_last(cards: list[Card], api: Client) -> None:
    known = [wanted(cards[0], 4), wanted(cards[1], 60), wanted(cards[2], 9)]
    assert known[1][1] < 0
    down = sorted(known, key=lambda one: -one[1])
    unknown = {("gpu-3", None), ("gpu-4", None)}
    for size in (1, 2, 100):
        found = gaps(api, f"ordering=-memory_unused_bytes&page_size={size}")
        assert found[:3] == down
        assert set(found[3:]) == unknown
        assert gaps(api, f"ordering=memory_unused_bytes&page_size={size}")[:3] == down[::-1]


def test_pages_go_back_too(cards: list[Card], api: Client) -> None:
    first = api.get("/api/v1/cards?ordering=-memory_unused_bytes&page_size=2").json()
    second = api.get(first["next"]).json()
    assert api.get(second["previous"]).json()["results"] == first["results"]


def test_it_is_filtered(cards: list[Card], api: Client) -> None:
    node, gap = wanted(cards[0], 4)
    assert gaps(api, f"min_unused_bytes={gap}") == [(node, gap)]
    assert gaps(api, f"min_unused_bytes={gap + 1}") == []
    assert api.get("/api/v1/cards?min_unused_bytes=many").status_code == 400


def test_what_was_measured_long_ago_is_no_gap(cards: list[Card], cluster: Cluster, api: Client) -> None:
    CardUsage.objects.filter(card=cards[0]).update(lost_at=Now())
    assert (cards[0].node_name, None) in gaps(api, "ordering=-memory_unused_bytes")
    assert cards[0].node_name not in {node for node, _ in gaps(api, "min_unused_bytes=0")}
    source_of(cluster, timedelta(minutes=6))
    assert {gap for _, gap in gaps(api, "ordering=-memory_unused_bytes")} == {None}
    assert gaps(api, "min_unused_bytes=0") == []


def test_the_page_has_it_as_a_column(cards: list[Card], viewer: Client) -> None:
    text = viewer.get("/cards?ordering=-memory_unused_bytes&columns=node%2Cmemory_unused_bytes").content.decode()
    assert "Allocated, not used, GiB" in text
    assert "More used than allocated" in text
    csv = b"".join(viewer.get("/cards?format=csv&ordering=-memory_unused_bytes").streaming_content)  # type: ignore[attr-defined]
    assert str(wanted(cards[0], 4)[1]) in csv.decode()
