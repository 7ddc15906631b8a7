"""Before and after on pages: two drivers or two days, groups and cards that lost; the chart narrowed and drawn by driver."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Card, Cluster, Node, NodeTotals
from runtime.clock import database_now
from tests.cast import signed_in
from tests.factories import make_cluster, make_node
from tests.pages.reading import get
from tests.scopes.world import scoped_user
from tests.validations.policies.test_compare import NEW, OLD, passed
from validations.models import Policy, PolicyCount
from validations.policies import manage
from validations.policies.counts import count
from validations.policies.evaluate import evaluate
from validations.policies.manage import PolicyDraft

DAY = timedelta(days=1)
URL = f"/policies/compare?a={OLD}&b={NEW}"


@pytest.fixture
def upgraded(cluster: Cluster) -> Cluster:
    """Four nodes with a card each; all but node-3 were upgraded a day ago; one failed since, one is slower, one was not tested."""
    for number in range(4):
        make_node(cluster, f"node-{number}", "nvidia", 1, loads=(0.0,))
    NodeTotals.objects.filter(node_name="node-0").update(pool="a100")
    Node.objects.update(driver_version=OLD)
    for card in Card.objects.all():
        passed(card, OLD, DAY * 2)
    policy = manage.create(PolicyDraft(name="All cards", suite="cuda-vectoradd"))
    now = database_now()
    evaluate(policy, now - DAY)
    count(now - DAY)
    Node.objects.exclude(name="node-3").update(driver_version=NEW)
    passed(Card.objects.get(node_name="node-0"), NEW, DAY / 2, "failed")
    passed(Card.objects.get(node_name="node-1"), NEW, DAY / 2, bandwidth=50.0)
    evaluate(policy, now)
    count(now)
    return cluster


def test_the_policies_page_leads_to_the_comparison_of_the_last_upgrade(viewer: Client, upgraded: Cluster) -> None:
    page = get(viewer, "/policies")
    assert "Before and after" in page.text
    assert f"/policies/compare?by=driver&a={OLD}&b={NEW}" in page.links
    assert f"/policies/compare?cluster=prod&by=driver&a={OLD}&b={NEW}" in get(viewer, "/policies?cluster=prod").links


def test_two_drivers_are_beside_each_other(viewer: Client, upgraded: Cluster) -> None:
    page = get(viewer, URL)
    assert f"{OLD} 0% of 4 valid" in page.text
    assert f"{NEW} 0% of 3 valid" in page.text
    groups = page.tables["By pool and model"]
    assert {row[2] for row in groups} == {"1", "3 → 2"}
    assert "2 of 2 groups have both sides" in page.text
    assert any("1 failed" in row[-1] for row in groups)
    cards = page.tables["Cards that got worse"]
    assert [row[3].split(maxsplit=1)[1] for row in cards] == ["failed", "slower", "not tested"]
    assert "100.0 → 50.00 GB/s" in cards[1][4]
    assert [row[5] for row in cards] == ["–", "−50%", "–"]
    assert "1 failed · 1 slower · 1 not tested" in page.text


def test_the_cards_are_narrowed_by_what_they_lost(viewer: Client, upgraded: Cluster) -> None:
    assert f"{URL}&loss=failed" in get(viewer, URL).links
    assert len(get(viewer, f"{URL}&loss=slower").tables["Cards that got worse"]) == 1
    assert "1 card" in get(viewer, f"{URL}&loss=slower").text
    assert len(get(viewer, f"{URL}&pool=a100").tables["Cards that got worse"]) == 1


def test_the_cards_go_on_on_the_next_page(viewer: Client, upgraded: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.policies_compare.MOST_CARDS", 2)
    page = get(viewer, URL)
    [following] = [link for link in page.links if "after=" in link]
    assert [len(get(viewer, one).tables["Cards that got worse"]) for one in (URL, following)] == [2, 1]
    assert "Invalid list position" in get(viewer, f"{URL}&after=999999", status=400).text


def test_without_sides_it_compares_the_newest_driver_and_this_week(viewer: Client, upgraded: Cluster) -> None:
    page = get(viewer, "/policies/compare")
    assert len(page.tables["Cards that got worse"]) == 3
    assert "?by=day" in page.html
    page = get(viewer, "/policies/compare?by=day")
    today = database_now().date()
    assert today.isoformat() in page.html
    assert (today - DAY * 7).isoformat() in page.html
    assert "0 of 2 groups have both sides" in page.text


def test_without_a_second_driver_it_says_so(viewer: Client, cluster: Cluster) -> None:
    assert "No policies yet" in get(viewer, "/policies/compare").text
    manage.create(PolicyDraft(name="All cards", suite="cuda-vectoradd"))
    assert "No second driver in the last 90 days" in get(viewer, "/policies/compare").text


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("a=1", "Required."),
        ("by=week&a=1&b=2", "Must be one of: driver, image, kernel, operator, mig-layout, day."),
        ("by=day&a=1&b=2", "Must be a day: YYYY-MM-DD."),
        ("a=1&b=1", "Must be another one than a."),
        ("a=1&b=2&cluster=nope", "There is no cluster 'nope'"),
        ("a=1&b=2&loss=much", "Must be one of: failed, slower, not-tested."),
        ("a=1&b=2&speed=2", "Unknown filter."),
        ("a=%00&b=2", "At most 253 characters"),
    ],
)
def test_what_makes_no_sense_is_refused(viewer: Client, upgraded: Cluster, query: str, text: str) -> None:
    assert text in get(viewer, f"/policies/compare?{query}", status=400).text


def test_a_scoped_viewer_compares_its_clusters_only(upgraded: Cluster) -> None:
    make_cluster("other")
    client = signed_in(scoped_user("carl", "other"))
    page = get(client, URL)
    assert "node-0" not in page.text
    assert "No card got worse" in page.text


def test_no_query_is_made_per_card(viewer: Client, upgraded: Cluster) -> None:
    def asked() -> int:
        get(viewer, URL)
        with CaptureQueriesContext(connection) as found:
            get(viewer, URL)
        return len(found)

    few = asked()
    make_node(upgraded, "node-x", "nvidia", 8, loads=(0.0,))
    for card in Card.objects.filter(node_name="node-x"):
        passed(card, OLD, DAY)
        passed(card, NEW, DAY / 2, "failed")
    evaluate(Policy.objects.get(), database_now())
    assert asked() == few <= 30


def lines(page: Any) -> list[str]:
    return re.findall(r'<li class="(valid|driver\d)"', page.html)


def test_the_chart_is_drawn_by_driver(viewer: Client, upgraded: Cluster) -> None:
    page = get(viewer, "/policies")
    assert lines(page) == ["valid"]
    assert "/policies?by=driver" in page.links
    page = get(viewer, "/policies?by=driver")
    assert sorted(lines(page)) == ["driver0", "driver1"]
    assert "All cards" in page.text
    assert f"{NEW}: " in page.html
    assert get(viewer, "/policies?by=colour", status=400)


def test_the_chart_is_narrowed_by_pool_model_and_driver(viewer: Client, upgraded: Cluster) -> None:
    assert "of 4 cards valid" in get(viewer, "/policies").text
    assert "of 1 card valid" in get(viewer, "/policies?pool=a100").text
    assert "of 3 cards valid" in get(viewer, f"/policies?driver={NEW}").text
    assert "of 1 card valid" in get(viewer, f"/policies?driver={OLD}").text
    [model] = set(Card.objects.values_list("model", flat=True))
    assert "of 4 cards valid" in get(viewer, f"/policies?model={model}").text
    page = get(viewer, f"/policies?driver={NEW}&by=driver")
    assert lines(page) == ["driver0"]
    assert f"/policies/cards?state=failed&driver={NEW}" in page.links
    assert len(get(viewer, f"/policies/cards?state=failed&driver={NEW}").rows) == 1
    assert get(viewer, f"/policies/cards?state=failed&driver={OLD}").rows == []
    assert len(get(viewer, "/policies/cards?pool=a100").rows) == 1
    assert get(viewer, "/policies/cards?model=nope").rows == []


def test_the_list_is_of_policies_that_cover_what_it_is_narrowed_to(viewer: Client, upgraded: Cluster) -> None:
    manage.create(PolicyDraft(name="Others", suite="cuda-vectoradd", pool="h100", model="H100"))
    assert len(get(viewer, "/policies").rows) == 2
    assert [row[0] for row in get(viewer, "/policies?pool=a100").rows] == ["All cards"]
    assert [row[0] for row in get(viewer, "/policies?pool=h100&model=A100").rows] == ["All cards"]
    assert len(get(viewer, f"/policies?driver={NEW}").rows) == 2


def test_a_gap_in_the_counts_of_a_driver_is_a_gap_in_its_line(viewer: Client, upgraded: Cluster) -> None:
    at = database_now().replace(minute=0, second=0, microsecond=0)
    PolicyCount.objects.all().delete()
    for hours in (30, 29, 10, 9):
        PolicyCount.objects.create(at=at - timedelta(hours=hours), cluster=upgraded, driver=OLD, valid=1)
    path = re.search(r'<path class="line driver0" d="([^"]*)"', get(viewer, "/policies?by=driver").html)
    assert path
    assert path[1].count("M") == 2
