"""What is held without work, on its page, in REST and in CSV."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from accounts.models import UserScope
from accounts.roles import Role
from inventory.idle import allocations
from inventory.models import Card, Cluster, IdleAllocation, NamespaceDay
from tests.cast import make_user, signed_in
from tests.factories import make_node
from tests.factories.usage import hours_ago, measure
from tests.pages.reading import get


@pytest.fixture
def idle(cluster: Cluster) -> Cluster:
    """Two cards without work, one of them by a sign that is not sure, and one that works."""
    make_node(cluster, "gpu-1", "nvidia", 3, loads=(1.0,))
    hours_ago(10)
    first, second, third = Card.objects.order_by("index")
    measure(first)
    measure(second, activity_measure="utilization")
    measure(third, active_at=Now(), activity_ratio=0.9)
    allocations.look()
    return cluster


def test_the_page_says_what_could_be_taken_back_and_from_whom(viewer: Client, idle: Cluster) -> None:
    page = " ".join(viewer.get("/allocations/idle").content.decode().split())
    assert "<b>2 idle allocations</b>" in page
    assert "no GPU activity for 30 min or more" in page
    assert "Confidence: 1 certain, 1 likely" in page
    assert "<b>1</b> allocation alone on an active card" in page
    for row in IdleAllocation.objects.all():
        assert f"namespace={row.namespace}" in page
    assert "graphics engine active" in page
    assert "likely" in page
    assert "9 GiB used" in page


def test_a_cluster_where_nobody_measures_is_named(viewer: Client, fleet: Cluster) -> None:
    page = viewer.get("/allocations/idle").content.decode()
    assert "No idle allocations." in page
    assert "No exporter data from these clusters" in page
    assert fleet.name in page
    assert "gpudash cluster set NAME --prometheus URL" in page
    assert "an active card" not in page, "0 is no answer where nobody looked"


def test_rest_has_the_same_rows_and_sums(api: Client, idle: Cluster) -> None:
    rows = api.get("/api/v1/idle").json()["results"]
    assert [row["confidence"] for row in rows] == ["certain", "likely"]
    assert rows[0]["byte_seconds"] == pytest.approx(3 * 3600 * rows[0]["memory_bytes"], rel=0.01)
    assert {row["pod"] for row in api.get("/api/v1/idle?confidence=likely").json()["results"]} == {rows[1]["pod"]}
    sums = {one["name"]: one for one in api.get("/api/v1/idle/sums").json()["results"]}
    for row in rows:
        own = [one for one in rows if one["namespace"] == row["namespace"]]
        summed = sums[row["namespace"]]
        assert (summed["allocations"], summed["cards"]) == (len(own), float(len(own)))
        assert summed["memory_bytes"] == sum(one["memory_bytes"] for one in own)
        assert summed["certain"] == sum(one["confidence"] == "certain" for one in own)
    by_pod = api.get("/api/v1/idle/sums?by=pod").json()["results"]
    assert {(one["namespace"], one["name"]) for one in by_pod} == {(row["namespace"], row["pod"]) for row in rows}
    assert [one["name"] for one in api.get("/api/v1/idle/sums?by=node&confidence=certain").json()["results"]] == [
        "gpu-1"
    ]
    csv = api.get("/api/v1/idle?format=csv").getvalue().decode()
    assert csv.count("\r\n") == 3


@pytest.mark.parametrize("query", ["by=colour", "confidence=maybe", "nonsense=1", "by="])
def test_sums_refuse_what_makes_no_sense(api: Client, idle: Cluster, query: str) -> None:
    assert api.get(f"/api/v1/idle/sums?{query}").status_code == (200 if query == "by=" else 400)


@pytest.mark.parametrize("by", ["namespace", "owner", "pod", "node", "model"])
def test_every_sum_adds_up_to_the_whole(api: Client, idle: Cluster, by: str) -> None:
    assert sum(one["allocations"] for one in api.get(f"/api/v1/idle/sums?by={by}").json()["results"]) == 2


def test_a_week_of_waste_is_summed_by_namespace_and_drawn_by_day(viewer: Client, idle: Cluster) -> None:
    today = timezone.now().date()
    for back, memory in ((0, 3600), (1, 7200), (20, 99999)):
        NamespaceDay.objects.create(
            cluster=idle,
            day=today - timedelta(days=back),
            namespace="team-a",
            card_us=1,
            mib_s=10 * 3600 * 1024,
            idle_mib_s=memory * 1024,
            unused_mib_s=2 * memory * 1024,
        )
    NamespaceDay.objects.create(cluster=idle, day=today, namespace="unmeasured", card_us=1, mib_s=3600 * 1024)
    page = get(viewer, "/allocations/idle")
    assert "Waste, last 7 days 3 GiB h idle (15% of allocated) · 6 GiB h unused" in page.text
    assert page.tables["Waste, last 7 days"] == [["team-a", "3", "30.8", "15%", "6", "61.6", "7 days"]]
    assert "/history?cluster=prod&namespace=team-a&window=7d" in page.links
    chart = page.html.partition('id="chart-waste"')[2]
    assert chart.count('class="line idle"') == 1
    assert "idle 85.33 MiB" in page.html


def test_nothing_is_said_of_waste_where_it_is_not_collected(viewer: Client, fleet: Cluster) -> None:
    NamespaceDay.objects.create(cluster=fleet, day=timezone.now().date(), namespace="a", card_us=1, mib_s=1)
    page = get(viewer, "/allocations/idle")
    assert "Waste, last 7 days" not in page.text


def test_waste_is_seen_by_whom_the_namespace_is_seen(idle: Cluster) -> None:
    for name in ("team-a", "team-b"):
        NamespaceDay.objects.create(
            cluster=idle,
            day=timezone.now().date(),
            namespace=name,
            card_us=1,
            mib_s=3600 * 1024,
            idle_mib_s=3600 * 1024,
        )
    user = make_user("ana", Role.VIEWER)
    UserScope.objects.create(user=user, places=f"{idle.name}/team-a")
    page = get(signed_in(user), "/allocations/idle")
    assert "Waste, last 7 days 1 GiB h idle" in page.text
    assert "team-b" not in page.html
