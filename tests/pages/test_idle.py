"""What is held without work, on its page, in REST and in CSV."""

from __future__ import annotations

import pytest
from django.db.models.functions import Now
from django.test import Client

from inventory.idle import allocations
from inventory.models import Card, Cluster, IdleAllocation
from tests.factories import make_node
from tests.factories.usage import hours_ago, measure


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
    assert "manage.py cluster set NAME --prometheus URL" in page
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
