"""The heat map: all cards in one picture of few elements, and a way from the whole to one card."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.models import Card, Cluster, NodeTotals
from pages.charts.heat import cells
from pages.charts.heat.cells import Cell, paths
from tests.factories import make_cluster, make_fleet, make_node
from tests.pages.reading import get

GIB = 2**30
COLOURINGS = ("free", "used", "health", "validation")


def fill(cluster: Cluster, nodes: int, pools: int = 6, cards: int = 8) -> None:
    """Rows as the reconciler would have written them, at a size at which writing them by it takes minutes."""
    now = timezone.now()
    NodeTotals.objects.bulk_create(
        [
            NodeTotals(
                cluster=cluster,
                node_name=f"n-{number:05d}",
                stacks=["nvidia"],
                pool=f"nvidia · card {number % pools}",
                cards_total=cards,
                cards_free=number % (cards + 1),
                memory_total_bytes=cards * 80 * GIB,
                memory_allocated_bytes=(cards - number % (cards + 1)) * 80 * GIB,
                memory_free_bytes=number % (cards + 1) * 80 * GIB,
                largest_gap_bytes=80 * GIB if number % (cards + 1) else 0,
                tiles=[[number * cards + index, str(index), 100, "full", ""] for index in range(cards)],
                health=("healthy", "unhealthy", "unknown")[number % 3],
                digest=0,
                changed_at=now,
            )
            for number in range(nodes)
        ],
        batch_size=2000,
    )
    rows = (
        Card(
            id=number * cards + index,
            cluster=cluster,
            node_name=f"n-{number:05d}",
            key=str(index),
            index=index,
            stack="nvidia",
            mode="whole",
            health="healthy",
            state="free" if index < number % (cards + 1) else "full",
            memory_total_bytes=80 * GIB,
            memory_free_bytes=80 * GIB if index < number % (cards + 1) else 0,
            memory_allocated_bytes=0 if index < number % (cards + 1) else 80 * GIB,
            first_seen_at=now,
            changed_at=now,
            digest=0,
        )
        for number in range(nodes)
        for index in range(cards)
    )
    Card.objects.bulk_create(rows, batch_size=5000)


def elements(html: str) -> int:
    """Elements of a page."""
    return len(re.findall(r"<[a-zA-Z]", html))


@pytest.fixture
def large(db: None) -> Cluster:
    cluster = make_cluster("prod")
    fill(cluster, 5000)
    return cluster


def test_40000_cards_are_at_most_2000_elements(viewer: Client, large: Cluster) -> None:
    for by in COLOURINGS:
        assert elements(get(viewer, f"/map?by={by}").html) <= 2000, by
    page = get(viewer, "/map?pool=nvidia+·+card+1")
    assert elements(page.html) <= 2000
    assert "several consecutive nodes" in page.text
    # The whole overview, with every pool open, keeps the same bound twice over: its tiles are links with words of their own.
    opened = "&".join(f"open=prod/nvidia · card {number}" for number in range(6))
    assert elements(get(viewer, "/").html) <= 700
    assert elements(get(viewer, f"/?{opened}").html) <= 4000


def test_it_zooms_from_the_whole_to_a_pool_to_nodes_to_one_node_and_its_cards(viewer: Client, large: Cluster) -> None:
    whole = get(viewer, "/map")
    assert all(f"/map?cluster=prod&pool=nvidia+%C2%B7+card+{number}" in _links(whole) for number in range(6))
    pool = get(viewer, "/map?cluster=prod&pool=nvidia+%C2%B7+card+1")
    parts = [link for link in _links(pool) if "from=" in link and "to=" in link]
    assert 2 <= len(parts) <= cells.MOST_LINKS
    # The ranges lead to cells that are nodes or cards, and together they are all nodes of the pool.
    part = get(viewer, parts[0])
    assert {link for link in _links(part) if re.fullmatch(r"/cards/\d+", link)}
    node = get(viewer, "/map?cluster=prod&pool=nvidia+%C2%B7+card+1&from=n-00001&to=n-02000")
    assert "/nodes/prod/n-00001" in _links(node)


def _links(page: object) -> list[str]:
    return [link.replace("&amp;", "&") for link in page.links]  # type: ignore[attr-defined]


def test_few_cards_are_cells_of_their_own_and_say_what_they_are(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 4, loads=(0.0, 0.4, 1.0, 0.0))
    pool = NodeTotals.objects.get().pool
    page = get(viewer, f"/map?pool={pool}")
    cards = [tag for tag in page.tags_of("a") if tag.get("href", "").startswith("/cards/")]
    assert [tag["class"] for tag in cards] == ["heat-s4", "heat-s2", "heat-s0", "heat-s4"]
    assert cards[0]["aria-label"] == "a card 0: 100%, 15 GiB free of 15 GiB"
    assert "One cell per card" in page.text


def test_what_is_unavailable_reason_is_apart_and_says_why(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "down", "gpushare", 2, loads=(0.0,), ready=False)
    page = get(viewer, f"/map?pool={NodeTotals.objects.get().pool}")
    cards = [tag for tag in page.tags_of("a") if tag.get("href", "").startswith("/cards/")]
    assert {tag["class"] for tag in cards} == {"heat-unavailable"}
    assert "node not ready" in cards[0]["title"]
    Card.objects.update(state="free", unavailable_reason="", memory_free_bytes=15 * GIB)
    Cluster.objects.get().watches.update(last_event_at=None)
    assert "cluster data is stale" in get(viewer, f"/map?pool={NodeTotals.objects.get().pool}").titles[-1]


def test_the_table_has_the_same_cells(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 3, loads=(0.0, 1.0, 1.0))
    page = get(viewer, "/map")
    cells_told = [tag for tag in page.tags_of("td") if tag.get("data-label") == "0% free"]
    assert len(cells_told) == 1
    row = re.search(r"<tr data-key=\"heat-row-.*?</tr>", page.html, re.S)
    assert row
    assert re.findall(r">(\d+)</td>", row[0]) == ["2", "0", "0", "0", "1", "0", "0"]


@pytest.mark.parametrize("by", COLOURINGS)
def test_the_number_of_queries_does_not_grow(viewer: Client, by: str) -> None:
    def count(nodes: int) -> int:
        cluster = make_cluster("prod")
        make_fleet(cluster, nodes=nodes, cards=2)
        viewer.get(f"/map?by={by}")
        with CaptureQueriesContext(connection) as queries:
            assert viewer.get(f"/map?by={by}").status_code == 200
        cluster.delete()
        return len(queries)

    assert count(3) == count(60) <= 14


def test_squares_of_one_class_that_follow_each_other_are_one_bar() -> None:
    row = [Cell("a", key, 1) for key in ("s0", "s0", "s4", "s0")]
    assert paths(row, ["s0", "s4"], merged=True) == (
        [("s0", "M0 0h19v9h-19zM30 0h9v9h-9z"), ("s4", "M20 0h9v9h-9z")],
        1,
    )
    assert paths(row * 20, ["s4"], merged=True)[1] == 2
    assert paths(row, ["s4", "s0"], merged=False)[0][1] == ("s0", "M0 0h9v9h-9zM10 0h9v9h-9zM30 0h9v9h-9z")


@pytest.mark.parametrize("query", ["by=age", "cluster=nope", "pool=%00", "from=%00", "foo=1"])
def test_a_filter_that_makes_no_sense_is_refused_with_its_name(viewer: Client, cluster: Cluster, query: str) -> None:
    assert query.partition("=")[0] in get(viewer, f"/map?{query}", 400).text
