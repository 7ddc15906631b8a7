"""Forecasts of pools: page, REST and command, from days that the recorder wrote; what a scope sees of them."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.forecast.pools import PoolForecast, asked
from inventory.history import packed, recorder
from inventory.history.packed import SLOTS
from inventory.models import Cluster, HistoryDay, NodeTotals, Subject
from runtime.clock import database_now
from runtime.scope import Scope, seeing
from tests.factories import GIB, make_cluster, make_node
from tests.pages.reading import get

pytestmark = pytest.mark.django_db


def put(cluster: Cluster, days: int, pool: str, free_gib: float = 400, cards: int = 40, per_day: int = -1) -> None:
    """So many days before today; per_day: by how many cards, of 10 GiB, it changes."""
    today = database_now().date()
    for back in range(1, days + 1):
        more = -per_day * back
        columns = {
            packed.FREE: [round(free_gib + more * 10) * 1024] * SLOTS,
            packed.CARDS_FREE: [cards + more] * SLOTS,
        }
        recorder.write_days(cluster.pk, Subject.POOL, today - timedelta(days=back), {pool: columns})


@pytest.fixture
def pool(cluster: Cluster) -> str:
    """40 cards of 10 GiB."""
    make_node(cluster, "gpu-1", "nvidia", 4, loads=(0.0,))
    NodeTotals.objects.update(memory_total_bytes=400 * GIB, cards_total=40)
    return NodeTotals.objects.get().pool


def only(cluster: Cluster) -> PoolForecast:
    [found] = asked([cluster], (), database_now())
    return found


def test_free_cards_go_down_and_the_request_has_its_day(cluster: Cluster, pool: str) -> None:
    put(cluster, 40, pool, free_gib=100, cards=10)
    found = only(cluster)
    fits = found.fits(8, 10 * GIB)
    assert fits is not None
    assert (fits.by_memory, fits.until) == (False, found.begin + timedelta(days=3))
    assert found.fits(8, 11 * GIB) is None  # no card is that large
    assert found.memory.trend == pytest.approx(-10 * GIB)


def test_memory_limits_where_cards_are_allocated_in_parts(cluster: Cluster, pool: str) -> None:
    put(cluster, 40, pool, free_gib=100, cards=0, per_day=0)
    fits = only(cluster).fits(2, 4 * GIB)
    assert fits is not None
    assert (fits.by_memory, fits.need, fits.until) == (True, 8 * GIB, None)
    by_card = only(cluster).fits(2, None)
    assert by_card is not None
    assert by_card.until == only(cluster).begin


def test_a_day_of_which_less_than_half_is_recorded_is_a_gap(cluster: Cluster, pool: str) -> None:
    day = database_now().date() - timedelta(days=3)
    half: list[int | None] = [5] * (SLOTS // 2 - 1) + [None] * (SLOTS // 2 + 1)
    recorder.write_days(cluster.pk, Subject.POOL, day, {pool: {packed.FREE: half}})
    assert HistoryDay.objects.get().free_mib is None
    assert only(cluster).memory.days == 0


def test_the_number_of_queries_does_not_grow(cluster: Cluster, pool: str) -> None:
    put(cluster, 20, pool)
    for number in range(5):
        put(cluster, 20, f"other {number}")
    with CaptureQueriesContext(connection) as queries:
        asked([cluster], (), database_now())
    assert len(queries) <= 4


def test_the_page_of_find_capacity_lists_pools(viewer: Client, cluster: Cluster, pool: str) -> None:
    put(cluster, 40, pool, free_gib=100, cards=10)
    [row] = get(viewer, "/fit?cards=8&memory=10").tables["Forecast, 30 days"]
    today = datetime.now(UTC).date()
    assert row[1] == (today + timedelta(days=3)).isoformat()
    assert row[3:5] == ["0 GiB", "0"]
    assert row[6] == "40"
    [later] = get(viewer, "/fit?cards=0001&memory=10").tables["Forecast, 30 days"]
    assert later[1] != "not within 30 days"
    assert "Forecast, 30 days" not in get(viewer, "/fit?cards=1&memory=99").tables


def test_the_history_of_a_pool_has_the_chart_or_says_that_there_are_too_few_days(
    viewer: Client, cluster: Cluster, pool: str
) -> None:
    put(cluster, 13, pool)
    page = viewer.get("/history", {"cluster": "prod", "pool": pool}).content.decode()
    assert "13 days of data · a forecast requires 14" in page
    assert "chart-forecast" not in page
    put(cluster, 30, pool)
    page = viewer.get("/history", {"cluster": "prod", "pool": pool}).content.decode()
    assert "chart-forecast" in page
    assert page.count("band forecast") == 60
    assert "back-test" in page


def test_rest_and_command_tell_the_same(api: Client, cluster: Cluster, pool: str) -> None:
    put(cluster, 40, pool, free_gib=100, cards=10)
    answer = api.get("/api/v1/forecast?cards=8&memory=10").json()
    [one] = answer["results"]
    assert (one["pool"], one["memory_free_bytes"]["days"], len(one["cards_free"]["ahead"])) == (pool, 40, 30)
    assert len(one["cards_free"]["tested"]) == 7
    assert one["fits"]["by"] == "cards_free"
    out = io.StringIO()
    call_command("forecast", "--cards", "8", "--memory", "10", "-o", "json", stdout=out)
    assert json.loads(out.getvalue()) == answer
    out = io.StringIO()
    call_command("forecast", "--cards", "8", "--memory", "10", stdout=out)
    assert one["fits"]["until"] in out.getvalue()
    assert api.get("/api/v1/forecast?cards=no").status_code == 400
    assert api.get("/api/v1/forecast?colour=red").status_code == 400
    assert api.get("/api/v1/forecast?cluster=nowhere").status_code == 400


def test_a_scope_sees_pools_of_its_clusters_alone(cluster: Cluster, pool: str) -> None:
    other = make_cluster("other")
    make_node(other, "gpu-9", "nvidia", 4)
    put(cluster, 20, pool)
    put(other, 20, pool)
    scope = Scope(frozenset(), frozenset({(other.pk, "team-a")}))
    with seeing(scope):
        clusters = list(Cluster.objects.all())
        assert [one.cluster for one in asked(clusters, (), database_now())] == ["other"]
        assert [row.cluster_id for row in HistoryDay.objects.filter(subject=Subject.POOL)] == [other.pk] * 20
