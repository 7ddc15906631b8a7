"""A number that is a link says how many rows there are behind it: overview, clusters, cards; over fleets with all sharing systems."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.roles import Role
from fleetsim import Fleet, serve
from inventory.models import Card, Cluster, Node, NodeTotals
from inventory.queries import totals
from inventory.queries.free import free_cards
from tests.cast import make_user, signed_in
from tests.factories import TRAITS, lose_card, make_cluster, make_finding, make_fleet, make_node, make_pending_pod
from tests.pages.reading import get

NUMBER = re.compile(r"([0-9][0-9,]*)")


@pytest.fixture
def clusters(db: None) -> list[Cluster]:
    """Two clusters with every trait in several fillings, a gone card, findings, demand, and a node that is not counted yet."""
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
        r'<a\s+href="(/(?:nodes|cards|findings)\?cluster=[^"]*)"\s*(?:aria-label="[^"]*"\s*)?>(.*?)</a>',
        get(viewer, "/clusters").html,
    )
    assert len(links) == 7  # all nodes of one of them are ready
    for url, text in links:
        numbers = [int(number.replace(",", "")) for number in NUMBER.findall(text)]
        # "12 with a GPU, of 14"; "errors: 1, warnings: 1, notes: 0"
        said = sum(numbers) if url.startswith("/findings") else numbers[0]
        assert said == rows_behind(viewer, url.replace("&amp;", "&")), (url, text)


def test_each_figure_of_the_cards_page_is_the_number_of_rows_behind_it(viewer: Client, clusters: list[Cluster]) -> None:
    page = get(viewer, "/cards")
    for state, words in (
        ("free", r"([0-9,]+) free"),
        ("partly", r"([0-9,]+) partially allocated"),
        ("unknown", r"([0-9,]+) unknown"),
    ):
        found = re.search(words, page.text)
        assert found, state
        assert int(found[1].replace(",", "")) == rows_behind(viewer, f"/cards?state={state}")


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


@pytest.mark.usefixtures("committed_database")
@pytest.mark.django_db(transaction=True)
def test_the_demo_fleet_counts_alike_too(tmp_path: Path) -> None:
    with serve(Fleet(seed=1, now=1_780_000_000.0), live=False) as server:
        call_command("cluster", "add", "demo", "--kubeconfig", str(server.kubeconfig(tmp_path / "kubeconfig")))
        call_command("sync", "--once")
    viewer = signed_in(make_user("vera", Role.VIEWER))
    found = stats(get(viewer, "/").html)
    for title in ("Free cards", "Pending pods", "Findings"):
        assert found[title][1] == rows_behind(viewer, found[title][0]), title
    free, sums = free_cards(), totals.all_totals().cards_free
    assert free.named > 0
    if not sums.unknown_nodes:
        assert sums.value == free.named + free.unidentified
    (summary,) = totals.summaries()
    assert summary.nodes_gpu == rows_behind(viewer, "/nodes?cluster=demo")
    assert summary.nodes_not_ready == rows_behind(viewer, "/nodes?cluster=demo&ready=false&ready=unknown")
    assert summary.nodes_uncounted == 0
