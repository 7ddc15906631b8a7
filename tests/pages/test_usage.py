"""What a card says of itself, on pages, in REST and in the scrape: a number with its source, or why there is none."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.test import Client

from inventory.models import Card, CardUsage, Cluster, UsageSource
from tests.factories import GIB, make_node


@pytest.fixture
def card(cluster: Cluster) -> Card:
    make_node(cluster, "gpu-1", "nvidia", 2, loads=(1.0,))
    return Card.objects.earliest("pk")


def measure(card: Card, round_at: object = None, **columns: object) -> CardUsage:
    source, _ = UsageSource.objects.get_or_create(
        cluster=card.cluster, defaults={"way": "prometheus", "address": "http://p"}
    )
    UsageSource.objects.filter(pk=source.pk).update(state="reading", round_at=round_at or Now())
    values: dict[str, object] = {
        "memory_used_bytes": 9 * GIB,
        "memory_measured_bytes": 40 * GIB,
        "utilization_ratio": 0.37,
        "activity_ratio": 0.004,
        "activity_measure": "graphics_active",
        "temperature_celsius": 61.0,
        "power_watts": 140.0,
        "more": {"xid": 31.0, "row_remap_pending": 1.0, "power_limit": 300.0, "throttles": ["hw_thermal"]},
    }
    made: CardUsage = CardUsage.objects.create(
        cluster=card.cluster,
        source=source,
        node_name=card.node_name,
        ident=card.uuid,
        uuid=card.uuid,
        card=card,
        format="dcgm-exporter",
        version="4.8.2",
        age_s=12.0,
        written_at=Now(),
        **(values | columns),
    )
    return made


def test_the_card_page_says_what_is_measured_with_its_source_and_age(viewer: Client, card: Card) -> None:
    measure(card)
    page = viewer.get(f"/cards/{card.pk}").content.decode()
    for words in (
        "9 GiB",
        "of 40 GiB",
        "&lt; 1%",
        "61 °C",
        "140 W",
        "of 300 W",
        "pending until a reset",
        "hw_thermal",
        "31",
    ):
        assert words in page, words
    assert "<small>dcgm-exporter 4.8.2</small>" in page
    assert "not collected" in page  # ECC errors: the exporter does not tell them, which is not 0


def test_a_card_that_no_exporter_names_says_why(viewer: Client, card: Card) -> None:
    assert "gpudash cluster set NAME --prometheus URL" in viewer.get(f"/cards/{card.pk}").content.decode()
    UsageSource.objects.create(cluster=card.cluster, way="prometheus", state="refused", reason="it wants a token")
    assert "Not collected: it wants a token" in viewer.get(f"/cards/{card.pk}").content.decode()


def test_an_exporter_that_fell_silent_is_said_with_its_last_word(viewer: Client, api: Client, card: Card) -> None:
    measure(card, memory_used_bytes=None, lost_at=Now(), more={"last": {"memory_used_bytes": 9 * GIB}})
    page = viewer.get(f"/cards/{card.pk}").content.decode()
    assert "stopped reporting this card" in page
    assert "Last reported: 9 GiB used." in page
    assert api.get(f"/api/v1/cards/{card.pk}").json()["memory_used_bytes"] is None


def test_what_is_older_than_five_minutes_is_not_told_as_now(api: Client, card: Card) -> None:
    measure(card, round_at=Now() - timedelta(minutes=6))
    told = api.get(f"/api/v1/cards/{card.pk}").json()
    assert (told["memory_used_bytes"], told["measured_at"]) == (None, None)
    assert "gpudash_card_memory_used_bytes{" not in api.get("/metrics").content.decode()


def test_rest_and_the_scrape_have_the_figures(api: Client, card: Card) -> None:
    measure(card)
    told = api.get(f"/api/v1/cards/{card.pk}").json()
    assert (told["memory_used_bytes"], told["utilization_ratio"], told["temperature_celsius"]) == (9 * GIB, 0.37, 61.0)
    assert (told["usage_source"], told["activity_measure"]) == ("dcgm-exporter 4.8.2", "graphics_active")
    assert told["measured_at"] is not None
    lines = [line for line in api.get("/metrics").content.decode().splitlines() if not line.startswith("#")]
    assert [line.rsplit(" ", 1)[1] for line in lines if line.startswith("gpudash_card_memory_used_bytes{")] == [
        str(9 * GIB)
    ]
    assert [line.rsplit(" ", 1)[1] for line in lines if line.startswith("gpudash_card_power_watts{")] == ["140.0"]


def test_cards_are_found_and_sorted_by_what_they_use(api: Client, viewer: Client, card: Card) -> None:
    measure(card)
    other = Card.objects.latest("pk")
    for order, first in (("-memory_used_bytes", card.pk), ("memory_used_bytes", card.pk)):  # without a value: last
        found = api.get(f"/api/v1/cards?ordering={order}&page_size=1").json()
        assert found["results"][0]["id"] == first
        rest = api.get(found["next"].split("testserver")[-1]).json()["results"]
        assert [one["id"] for one in rest] == [other.pk]
    assert [one["id"] for one in api.get("/api/v1/cards?min_used_bytes=8Gi").json()["results"]] == [card.pk]
    assert "not collected" in viewer.get("/cards").content.decode()


def test_the_node_page_has_the_column_where_something_is_measured(viewer: Client, card: Card) -> None:
    assert "Used, GiB" not in viewer.get("/nodes/prod/gpu-1").content.decode()
    measure(card)
    page = viewer.get("/nodes/prod/gpu-1").content.decode()
    assert "Used, GiB" in page
    assert 'class="used"' in page
