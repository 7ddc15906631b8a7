"""The time of a list, on its page: what it says, offers and keeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from inventory.models import Allocation, Card, Cluster
from tests.factories import end_allocation, make_node
from tests.pages.reading import get

LISTS = ("/allocations", "/cards", "/findings", "/validations")
#: Two days ago at 02:00, whenever the test runs.
NIGHT = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) - timedelta(days=2)
DAY = f"{NIGHT:%Y-%m-%d}"


@pytest.fixture
def night(cluster: Cluster) -> Cluster:
    """A card that was held at 02:00, and is free now."""
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 0.0))
    Card.objects.update(first_seen_at=NIGHT - timedelta(days=1))
    Allocation.objects.update(started_at=NIGHT - timedelta(hours=1), terminating=True)
    end_allocation(Allocation.objects.get())
    return cluster


def test_the_sentence_follows_the_time(viewer: Client, night: Cluster) -> None:
    page = get(viewer, f"/allocations?at={DAY}T02:00")
    assert f"At {DAY} 02:00 UTC · Allocations: 1" in page.text
    assert "Active allocations" not in page.text
    assert "still allocated" not in page.text
    assert "Ended allocations are kept for 90 days." in page.text
    assert f"At {DAY} 02:00 UTC · Cards: 2" in get(viewer, f"/cards?at={DAY}T02:00").text
    assert f"At {DAY} 02:00 UTC · No findings" in get(viewer, f"/findings?at={DAY}T02:00").text
    assert f"At {DAY} 02:00 UTC: 0 runs queued or active" in get(viewer, f"/validations?at={DAY}T02:00").text
    words = get(viewer, f"/allocations?from={DAY}T01:30&to={DAY}T02:00Z").text
    assert f"From {DAY} 01:30 UTC to {DAY} 02:00 UTC · Allocations: 1" in words


def test_cards_say_who_held_them_and_what_is_not_known(viewer: Client, night: Cluster) -> None:
    held, free = get(viewer, f"/cards?at={DAY}T02:00").rows
    assert held[1:3] == free[1:3]
    page = get(viewer, f"/cards?at={DAY}T02:00&columns=node,allocations,memory_free_bytes,allocations_count")
    assert [row[2:] for row in page.rows] == [["unknown", "1"], ["unknown", "0"]]
    assert any("train-a-0-0" in title for title in page.titles)
    assert "Unknown for that time: only allocations are stored." in page.titles
    assert "Past allocation sums, health and activity of cards are not stored" in page.text


@pytest.mark.parametrize("path", LISTS)
def test_the_choices_are_addresses_that_keep_the_filter(viewer: Client, night: Cluster, path: str) -> None:
    page = get(viewer, f"{path}?q=a&at={DAY}T02:00")
    assert {f"{path}?q=a", f"{path}?q=a&from=1h", f"{path}?q=a&from=24h", f"{path}?q=a&from=7d"} <= set(page.links)
    [field] = [tag for tag in page.tags_of("input") if tag.get("id") == "when-at"]
    assert (field["type"], field["value"]) == ("datetime-local", f"{DAY}T02:00")
    assert "at (UTC)" in page.text
    hidden = [
        (tag["name"], tag["value"]) for tag in page.tags_of("input") if tag.get("type") == "hidden" and "value" in tag
    ]
    assert ("q", "a") in hidden
    assert ("at", f"{DAY}T02:00") in hidden  # the filter form keeps the time
    for age in ("1h", "24h", "7d"):
        get(viewer, f"{path}?from={age}")


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("query", "name"), [("at=x", "at"), ("from=x", "from"), ("to=x", "to"), ("at=2999-01-01", "at")]
)
def test_a_bad_time_is_said_and_no_list_is_shown(
    viewer: Client, night: Cluster, path: str, query: str, name: str
) -> None:
    page = get(viewer, f"{path}?{query}", 400)
    assert f"<code>{name}</code>" in page.html
    assert page.rows == []


def test_a_time_that_is_longer_ago_than_what_is_kept_says_so(viewer: Client, night: Cluster) -> None:
    assert "The requested time is older: data is incomplete" in get(viewer, "/allocations?at=2020-01-01").text
    assert "requested time is older" not in get(viewer, f"/allocations?at={DAY}T02:00").text


def test_the_zone_of_the_installation_is_the_one_that_is_meant_and_named(
    viewer: Client, night: Cluster, settings: object
) -> None:
    settings.TIME_ZONE = "Asia/Shanghai"  # type: ignore[attr-defined]
    page = get(viewer, f"/allocations?at={DAY}T10:00")
    assert f"At {DAY} 10:00 CST · Allocations: 1" in page.text
    assert "at (CST)" in page.text


def test_a_card_s_page_asks_who_held_it(viewer: Client, night: Cluster) -> None:
    card = Card.objects.get(index=0) if Card.objects.filter(index=0).exists() else Card.objects.order_by("pk")[0]
    page = get(viewer, f"/cards/{card.pk}")
    assert "Allocations at (UTC)" in page.text
    names = {tag.get("name"): tag.get("value") for tag in page.tags_of("input")}
    assert names["card_id"] == str(card.pk)
    found = get(viewer, f"/allocations?cluster=prod&card_id={card.pk}&at={DAY}T02:00")
    assert len(found.rows) == 1
    assert "card: a card" in found.text
    assert "card_id" not in found.text


def test_chips_are_words(viewer: Client, night: Cluster) -> None:
    page = get(viewer, "/allocations?ended=any&ordering=-ended_at&node=a")
    for text in ("current and past", "sorted by Ended, descending", "node: a"):
        assert text in page.text
    assert "ended: any" not in page.text


def test_a_choice_of_a_time_leaves_out_what_goes_by_now(viewer: Client, night: Cluster) -> None:
    page = get(viewer, "/cards?state=free&node=a&ordering=-memory_free_bytes")
    [link] = [link for link in page.links if "from=24h" in link]
    assert "node=a" in link
    assert "state" not in link
    assert "ordering" not in link
    assert get(viewer, link).status == 200
    [link] = [link for link in get(viewer, "/cards?ordering=-node").links if "from=24h" in link]
    assert "ordering=-node" in link
