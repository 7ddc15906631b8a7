"""Times are in the reader's zone, which a cookie names, with UTC in the tooltip; programs and files read UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from inventory.history import recorder
from inventory.models import Allocation, Cluster
from tests.factories import end_allocation, make_node
from tests.pages.reading import get

NIGHT = datetime.now(UTC).replace(hour=20, minute=30, second=0, microsecond=0) - timedelta(days=2)
DAY, NEXT = f"{NIGHT:%Y-%m-%d}", f"{NIGHT + timedelta(days=1):%Y-%m-%d}"


@pytest.fixture
def shanghai(viewer: Client) -> Client:
    viewer.cookies["zone"] = "Asia/Shanghai"
    return viewer


@pytest.fixture
def held(cluster: Cluster) -> Allocation:
    """Allocated from 20:30 to 20:45 UTC, which is on the next day in Shanghai."""
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 0.0))
    Allocation.objects.update(started_at=NIGHT)
    end_allocation(Allocation.objects.get())
    Allocation.objects.update(ended_at=NIGHT + timedelta(minutes=15))
    return Allocation.objects.get()


def pod_page(client: Client, held: Allocation) -> str:
    return " ".join(get(client, f"/pods/prod/{held.namespace}/{held.pod}").html.split())


def test_a_moment_is_in_the_readers_zone_with_utc_in_its_tooltip(shanghai: Client, held: Allocation) -> None:
    page = pod_page(shanghai, held)
    assert f'title="{NEXT} 04:30:00 CST · {DAY} 20:30:00 UTC">{NEXT} 04:30</time>' in page
    assert "Times: Asia/Shanghai (UTC+08:00)" in page
    assert 'data-zone="Asia/Shanghai"' in page


@pytest.mark.parametrize("zone", ["", "Nowhere/At_All", "../../etc/passwd", "A" * 5000, "Europe", "Zürich"])
def test_without_a_zone_times_are_utc_and_the_page_says_so(viewer: Client, held: Allocation, zone: str) -> None:
    viewer.cookies["zone"] = zone
    page = pod_page(viewer, held)
    assert f'title="{DAY} 20:30:00 UTC">{DAY} 20:30</time>' in page
    assert "Times: UTC" in page


def test_a_zone_without_a_name_is_told_as_an_offset(viewer: Client, held: Allocation) -> None:
    viewer.cookies["zone"] = "America/Sao_Paulo"
    assert f"{DAY} 17:30:00 UTC-03:00 · {DAY} 20:30:00 UTC" in pod_page(viewer, held)


def test_the_control_of_a_list_takes_the_readers_time_and_its_address_is_for_all(
    shanghai: Client, held: Allocation
) -> None:
    answer = shanghai.get(f"/allocations?at={NEXT}T04:40&q=train")
    assert (answer.status_code, answer["Location"]) == (302, f"/allocations?at={NEXT}T04%3A40%2B08%3A00&q=train")
    page = get(shanghai, answer["Location"])
    assert f"At {NEXT} 04:40 CST · Allocations: 1" in page.text
    assert "at (CST)" in page.text
    [field] = [tag for tag in page.tags_of("input") if tag.get("id") == "when-at"]
    assert field["value"] == f"{NEXT}T04:40"
    shanghai.cookies["zone"] = "America/Sao_Paulo"
    assert f"At {DAY} 17:40 UTC-03:00 · Allocations: 1" in get(shanghai, answer["Location"]).text


def test_charts_have_the_readers_axis_and_their_csv_has_utc(shanghai: Client, held: Allocation) -> None:
    recorder.record(NIGHT)
    chart = shanghai.get("/history?cluster=prod&window=7d&part=chart").content.decode()
    assert f">{NIGHT + timedelta(days=1):%m-%d}</span>" in chart
    assert " CST" in chart
    assert "UTC" not in chart
    text = shanghai.get("/history?cluster=prod&window=7d&format=csv").content.decode()
    assert "+00:00," in text
    assert "+08:00" not in text
    rows = shanghai.get("/allocations?ended=any&format=csv").getvalue().decode()
    assert f"{DAY}T20:30:00Z" in rows


def test_pages_of_cards_say_in_which_zone_they_are(shanghai: Client, held: Allocation) -> None:
    page = get(shanghai, f"/cards/{held.card_id}").html
    assert "Times: Asia/Shanghai (UTC+08:00)" in page
    assert 'data-zone="Asia/Shanghai"' in page
    assert "Allocations at (CST)" in page


def test_rest_is_the_same_for_all(shanghai: Client, held: Allocation) -> None:
    rows = shanghai.get(f"/api/v1/allocations?at={DAY}T20:40").json()["results"]
    assert [row["pod"] for row in rows] == [held.pod]
    assert shanghai.get(f"/api/v1/allocations?at={NEXT}T04:40").json()["results"] == []


def test_what_is_shared_is_shared_among_readers_of_one_zone(viewer: Client, held: Allocation, settings: object) -> None:
    settings.SHARED_LOOK_S = 30.0  # type: ignore[attr-defined]
    assert "Times: UTC" in viewer.get("/").content.decode()
    viewer.cookies["zone"] = "Asia/Shanghai"
    assert "Times: Asia/Shanghai" in viewer.get("/").content.decode()
