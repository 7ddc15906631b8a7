"""One meaning of "free": overview, lists, clusters page, finder, REST and the scrape add up, and what is kept apart says why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.roles import Role
from fleetsim import Fleet, serve
from inventory.models import Card, Cluster, NodeTotals, Watch
from inventory.models.cluster import Kind
from inventory.placement.finder.finder import find
from inventory.placement.finder.request import Request
from inventory.queries.free import free_cards
from inventory.queries.totals import all_totals
from tests.cast import make_user, signed_in
from tests.factories import Batch, make_cluster, make_node
from tests.factories.batch import mirror, reconcile
from tests.factories.objects import node_object
from tests.factories.traits import TRAITS
from tests.pages.reading import get
from tests.pages.test_counting_links import rows_behind, stats

REASONS = ("cordoned", "not-ready", "readiness-unknown", "unhealthy", "stale-cluster")


def cordon(cluster: Cluster, name: str, cards: int) -> None:
    """As `kubectl cordon` does."""
    batch = Batch(cluster)
    thing = node_object(TRAITS["gpushare"], name, cards, True, batch.now)
    mirror(cluster, Kind.NODES, [thing | {"spec": {"unschedulable": True}}])
    reconcile(cluster, [name])


@pytest.fixture
def two(db: None) -> list[Cluster]:
    """Two clusters: one with a cordoned, a not-ready and an unknown node and free ones, one without a word for long."""
    prod, old = make_cluster("prod"), make_cluster("old", age_s=600)
    make_node(prod, "good", "gpushare", 4, loads=(0.0, 0.0, 0.4, 1.0))
    make_node(prod, "off", "gpushare", 4, loads=(0.0,))
    cordon(prod, "off", 4)
    make_node(prod, "down", "gpushare", 3, loads=(0.0, 0.4, 1.0), ready=False)
    make_node(prod, "dumb", "nvidia", 2, loads=(0.0,), ready=None)
    make_node(prod, "counted", "nvidia-count", 4, loads=(0.0, 0.0, 0.0, 1.0))
    make_node(prod, "counted-off", "nvidia-count", 4, loads=(0.0, 0.0, 0.0, 1.0), ready=False)
    make_node(old, "silent", "gpushare", 5, loads=(0.0,))
    card = Card.objects.get(node_name="good", index=0)
    Card.objects.filter(pk=card.pk).update(
        state="unavailable",
        unavailable_reason="unhealthy",
        health="unhealthy",
        memory_unavailable_bytes=card.memory_free_bytes,
        memory_free_bytes=0,
    )
    NodeTotals.objects.filter(node_name="good").update(cards_free=1, cards_unavailable=1)
    return [prod, old]


def test_every_figure_of_free_cards_adds_up(viewer: Client, api: Client, two: list[Cluster]) -> None:
    free = free_cards()
    assert (free.named, free.unidentified) == (1, 3)
    assert free.unavailable == {
        "cordoned": 4,
        "not-ready": 1,
        "readiness-unknown": 2,
        "unhealthy": 1,
        "stale-cluster": 5,
    }
    assert free.unavailable_unidentified == 3
    _adds_up(viewer, api)
    assert {one.node for one in find(Request()).taking} == {"good", "counted"}


@pytest.mark.usefixtures("committed_database")
@pytest.mark.django_db(transaction=True)
def test_on_the_simulated_fleet_they_add_up_too(tmp_path: Path, api: Client) -> None:
    with serve(Fleet(seed=1, now=1_780_000_000.0), live=False) as server:
        call_command("cluster", "add", "demo", "--kubeconfig", str(server.kubeconfig(tmp_path / "kubeconfig")))
        call_command("sync", "--once")
    assert free_cards().named > 0
    _adds_up(signed_in(make_user("vera", Role.VIEWER)), api)


def _adds_up(viewer: Client, api: Client) -> None:
    free, sums = free_cards(), all_totals()
    summary = api.get("/api/v1/summary").json()
    scrape = api.get("/metrics").content.decode()
    assert stats(get(viewer, "/").html)["Free cards"][1] == free.named
    assert rows_behind(viewer, "/cards?state=free") == free.named
    assert rows_behind(viewer, "/cards?state=unavailable") == sum(free.unavailable.values())
    for reason in REASONS:
        number = free.unavailable.get(reason, 0)
        assert rows_behind(viewer, f"/cards?state=unavailable&unavailable_reason={reason}") == number, reason
        assert _sum(scrape, "gpudash_cards_unavailable", f'reason="{reason}"') == number
        assert sum(one["cards_unavailable"].get(reason, 0) for one in summary["clusters"]) == number
    assert sum(one["card_states"]["free"] for one in summary["clusters"]) == free.named
    assert sum(one["cards_free_unidentified"] for one in summary["clusters"]) == free.unidentified
    assert sum(one["cards_unavailable_unidentified"] for one in summary["clusters"]) == free.unavailable_unidentified
    assert _sum(scrape, "gpudash_cards", 'state="free"') == free.named
    assert _sum(scrape, "gpudash_cards_unidentified", 'state="free"') == free.unidentified
    # The lists say of each row what they count.
    states = [one["state"] for one in api.get("/api/v1/cards?page_size=1000").json()["results"]]
    assert states.count("free") == free.named
    assert states.count("unavailable") == sum(free.unavailable.values())
    nodes = api.get("/api/v1/nodes?page_size=1000").json()["results"]
    assert sum(one["cards_free"] or 0 for one in nodes) == sums.cards_free.value
    assert sum(one["cards_unavailable"] or 0 for one in nodes) == sums.cards_unavailable
    assert sum(one["memory_free_bytes"] or 0 for one in nodes) == (sums.memory_free.value or 0)
    assert max((one["largest_gap_bytes"] or 0 for one in nodes), default=0) == (sums.largest_gap_bytes or 0)
    for one in summary["clusters"]:
        assert f"{one['card_states']['free']:,}" in get(viewer, "/clusters").text


def _sum(scrape: str, family: str, label: str) -> int:
    found = re.findall(rf"^{family}\{{([^}}]*)\}} ([0-9]+)$", scrape, re.M)
    return sum(int(number) for labels, number in found if label in labels.split(","))


def test_the_overview_says_how_many_are_kept_apart_and_why(viewer: Client, two: list[Cluster]) -> None:
    page = get(viewer, "/")
    assert f"{rows_behind(viewer, '/cards?state=unavailable')} cards unavailable" in page.text
    assert "/cards?state=unavailable" in page.links
    assert any("node cordoned: 4 · " in title and "cluster data is stale: 5" in title for title in page.titles)


def test_no_row_of_a_cluster_without_a_word_says_free(viewer: Client, api: Client, two: list[Cluster]) -> None:
    rows = api.get("/api/v1/cards?cluster=old").json()["results"]
    assert {(one["state"], one["unavailable_reason"], one["memory_free_bytes"]) for one in rows} == {
        ("unavailable", "stale-cluster", 0)
    }
    assert api.get("/api/v1/cards?cluster=old&min_free_bytes=1").json()["results"] == []
    assert api.get("/api/v1/nodes?cluster=old&min_gap_bytes=1").json()["results"] == []
    Watch.objects.filter(cluster=two[1]).update(last_event_at=Watch.objects.filter(cluster=two[0])[0].last_event_at)
    assert len(api.get("/api/v1/cards?cluster=old&state=free").json()["results"]) == 5


def test_a_node_that_is_let_in_again_has_free_cards_again(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 3, loads=(0.0,))
    assert (NodeTotals.objects.get().cards_free, free_cards().named) == (3, 3)
    cordon(cluster, "a", 3)
    totals = NodeTotals.objects.get()
    assert (totals.cards_free, totals.cards_unavailable, totals.unavailable_reason) == (0, 3, "cordoned")
    assert (totals.memory_free_bytes, totals.largest_gap_bytes) == (0, 0)
    assert (totals.memory_unavailable_bytes or 0) > (totals.gap_unavailable_bytes or 0) > 0
    mirror(cluster, Kind.NODES, [node_object(TRAITS["gpushare"], "a", 3, True, Batch(cluster).now)])
    reconcile(cluster, ["a"])
    totals = NodeTotals.objects.get()
    assert (
        totals.cards_free,
        totals.cards_unavailable,
        totals.unavailable_reason,
        totals.memory_unavailable_bytes,
    ) == (3, None, "", None)
