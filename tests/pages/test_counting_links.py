"""A number that is a link says how many rows there are behind it: overview, clusters, cards; over fleets with all stacks."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from inventory.models import Card, Cluster, Node, NodeTotals
from inventory.queries.free import free_cards
from tests.database import RowsOfModule
from tests.factories import TRAITS, lose_card, make_cluster, make_finding, make_fleet, make_node, make_pending_pod
from tests.pages.reading import get

NUMBER = re.compile(r"([0-9][0-9,]*)")


@pytest.fixture(scope="module")
def clusters(rows_of_module: RowsOfModule) -> list[Cluster]:
    """Two clusters with every trait in several fillings, a gone card, findings, demand, and a node that is not counted yet."""
    with rows_of_module():
        return _clusters()


def _clusters() -> list[Cluster]:
    made = [make_cluster("prod"), make_cluster("lab")]
    for number, cluster in enumerate(made):
        make_fleet(cluster, nodes=14 + number)
        for name, trait in TRAITS.items():
            make_node(cluster, f"half-{name}", name, 4, loads=(0.0, 0.0, 1.0, 0.0), ready=[True, False, None][number])
            if trait.placed:
                make_node(cluster, f"empty-{name}", name, 2, loads=(0.0,))
        make_finding(cluster, severity="error")
        make_finding(cluster, "units-mixed", "warning", node_name="x")
        make_pending_pod(cluster, "a")
    make_pending_pod(made[0], "b")
    lose_card(Card.objects.filter(cluster=made[0], state="free")[0])
    NodeTotals.objects.filter(cluster=made[0], node_name="half-gpushare").delete()
    Node.objects.create(cluster=made[1], uid="plain", name="plain", facts="{}", digest=0)
    return made


def rows_behind(client: Client, url: str) -> int:
    """How many rows the list has: of its CSV, which is not cut into pages."""
    answer = client.get(f"{url}{'&' if '?' in url else '?'}format=csv")
    assert answer.status_code == 200, url
    return len(b"".join(answer.streaming_content).decode().strip().splitlines()) - 1  # type: ignore[attr-defined]


def stats(html: str) -> dict[str, tuple[str, int]]:
    """Title → (address, number) of the figures at the head of the overview."""
    found = re.findall(r'<a class="stat" href="([^"]*)">\s*<span>(.*?)</span>\s*<strong>(.*?)</strong>', html, re.S)
    numbers = {title: (url.replace("&amp;", "&"), NUMBER.search(strong)) for url, title, strong in found}
    return {title: (url, int(number[1].replace(",", ""))) for title, (url, number) in numbers.items() if number}


@pytest.mark.parametrize("query", ["", "?cluster=lab", "?cluster=lab&cluster=prod", "?cluster=prod"])
def test_each_figure_of_the_overview_is_the_number_of_rows_behind_it(
    viewer: Client, clusters: list[Cluster], query: str
) -> None:
    found = stats(get(viewer, f"/{query}").html)
    for title in ("Free cards", "Pending pods", "Findings"):
        url, number = found[title]
        assert number == rows_behind(viewer, url), (title, url)
        assert number > 0


def test_each_figure_of_the_clusters_page_is_the_number_of_rows_behind_it(
    viewer: Client, clusters: list[Cluster]
) -> None:
    links = re.findall(
        r'<a\b[^>]*href="(/(?:nodes|cards|findings)\?cluster=[^"]*)"[^>]*>(.*?)</a>',
        get(viewer, "/clusters").html,
        re.DOTALL,
    )
    assert len(links) == 9  # all nodes of one of them are ready; each has findings of two severities
    for url, text in links:
        number = NUMBER.search(re.sub(r"<[^>]*>", "", text))
        assert number, text
        assert int(number[0].replace(",", "")) == rows_behind(viewer, url.replace("&amp;", "&")), (url, text)


def test_each_figure_of_the_cards_page_is_the_number_of_rows_behind_it(viewer: Client, clusters: list[Cluster]) -> None:
    page = get(viewer, "/cards")
    for state, words in (
        ("free", r"([0-9,]+) free"),
        ("partly", r"([0-9,]+) partially"),
        ("unknown", r"([0-9,]+) unknown"),
    ):
        found = re.search(words, page.text)
        assert found, state
        assert int(found[1].replace(",", "")) == rows_behind(viewer, f"/cards?state={state}")


def test_the_figures_of_the_cards_page_follow_the_filter(viewer: Client, clusters: list[Cluster]) -> None:
    stack = Card.objects.order_by("pk")[0].stack
    for query in (f"stack={stack}", f"cluster={clusters[1].name}", "q=gpu-00001"):
        text = get(viewer, f"/cards?{query}").text
        for state, words in (("free", r"([0-9,]+) free"), ("full", r"([0-9,]+) fully allocated")):
            found = re.search(words, text)
            assert found, (query, state)
            assert int(found[1].replace(",", "")) == rows_behind(viewer, f"/cards?{query}&state={state}"), (
                query,
                state,
            )


def test_pages_rest_and_metrics_count_free_cards_alike(viewer: Client, api: Client, clusters: list[Cluster]) -> None:
    free = free_cards()
    summary = api.get("/api/v1/summary").json()
    assert sum(one["card_states"]["free"] for one in summary["clusters"]) == free.named
    assert sum(one["cards_free_unidentified"] for one in summary["clusters"]) == free.unidentified > 0
    # The sum over nodes that know how many of their cards are free is the same, and the others are told.
    lab = api.get("/api/v1/summary?cluster=lab").json()
    unsure = NodeTotals.objects.filter(cluster=clusters[1], cards_free=None).count()
    own = lab["clusters"][0]["card_states"]["free"] + lab["clusters"][0]["cards_free_unidentified"]
    assert lab["totals"]["cards_free"] == {"value": own, "unknown_nodes": unsure}
    scrape = api.get("/metrics").content.decode()
    unheld = len(re.findall(r"^gpudash_card_allocations\{.*\} 0$", scrape, re.M))
    assert unheld == free.named + sum(free.unavailable.values()) > free.named
    assert f"{free.named} free cards" in get(viewer, "/nodes").text
    assert f"{free.unidentified} more free, unidentified" in get(viewer, "/nodes").text
    for one in summary["clusters"]:
        assert one["nodes_gpu"] == rows_behind(viewer, f"/nodes?cluster={one['name']}")
