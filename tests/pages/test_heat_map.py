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
from pages.charts.heat.cells import Cell
from pages.charts.heat.picture import at, picture, spots
from tests.factories import make_cluster, make_fleet, make_node
from tests.pages.reading import Page, get

GIB = 2**30
COLOURINGS = ("allocated", "used", "health", "validation")


def fill(cluster: Cluster, nodes: int, pools: int = 6, cards: int = 8, ids_from: int = 0) -> None:
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
                tiles=[[ids_from + number * cards + index, str(index), 100, "full", ""] for index in range(cards)],
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
            id=ids_from + number * cards + index,
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


def of_cards(page: Page) -> list[dict[str, str]]:
    """The cells of cards."""
    return [tag for tag in page.tags_of("a") if tag.get("href", "").startswith("/cards/")]


def test_few_cards_are_cells_of_their_own_filled_as_far_as_they_are_allocated(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 4, loads=(0.0, 0.4, 1.0, 0.0))
    page = get(viewer, "/map")
    assert [tag["class"] for tag in of_cards(page)] == ["heat-s0", "heat-s2", "heat-s4", "heat-s0"]
    assert of_cards(page)[0]["title"] == "a card 0: free, 15 GiB free of 15 GiB"
    assert of_cards(page)[1]["title"] == "a card 1: 33–66%, 9 GiB free of 15 GiB"
    assert "One cell per card" in page.text
    assert [tag["class"] for tag in of_cards(get(viewer, f"/map?pool={NodeTotals.objects.get().pool}"))] == [
        tag["class"] for tag in of_cards(page)
    ]


def test_the_cards_of_a_node_stand_together_below_its_name(viewer: Client, cluster: Cluster) -> None:
    for name in ("a", "b"):
        make_node(cluster, name, "gpushare", 2, loads=(0.0,))
    html = get(viewer, "/map").html
    boxes = re.findall(r'<li class="node">(.*?)</li>', html, re.S)
    assert [re.findall(r'href="([^"]+)"', box)[0] for box in boxes] == ["/nodes/prod/a", "/nodes/prod/b"]
    assert [len(re.findall(r'href="/cards/', box)) for box in boxes] == [2, 2]


def test_what_is_unavailable_is_apart_and_says_why(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "down", "gpushare", 2, loads=(0.0,), ready=False)
    path = f"/map?pool={NodeTotals.objects.get().pool}"
    assert {tag["class"] for tag in of_cards(get(viewer, path))} == {"heat-unavailable"}
    assert "node not ready" in of_cards(get(viewer, path))[0]["title"]
    Card.objects.update(state="free", unavailable_reason="", memory_free_bytes=15 * GIB)
    Cluster.objects.get().watches.update(last_event_at=None)
    assert "cluster data is stale" in of_cards(get(viewer, path))[-1]["title"]


def test_overcommitted_is_no_full_card(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(1.0,))
    Card.objects.update(state="over", memory_free_bytes=-5 * GIB)
    assert [tag["class"] for tag in of_cards(get(viewer, "/map"))] == ["heat-over"]


def test_an_entry_of_the_legend_filters_and_can_be_sent(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 4, loads=(0.0, 0.4, 1.0, 0.0))
    whole = get(viewer, "/map?by=allocated")
    assert "/map?by=allocated&only=s4" in _links(whole)
    page = get(viewer, "/map?only=s4")
    assert [tag["class"] for tag in of_cards(page)] == ["heat-s4"]
    assert len(re.findall(r'<i class="heat-s[0-3]"></i>', page.html.partition("heatpools")[2])) == 3
    assert "showing 1 fully allocated" in page.text
    assert {"/map", "/map?only=s0&only=s4"} <= set(_links(page))
    assert [tag["class"] for tag in of_cards(get(viewer, "/map?only=s4&only=s0"))] == ["heat-s0", "heat-s4", "heat-s0"]
    # Another colouring has other classes.
    assert "/map?by=health" in _links(page)


def test_a_picture_fades_what_the_legend_leaves_out(viewer: Client, large: Cluster) -> None:
    html = get(viewer, "/map?only=s4").html
    assert {"heat-s0 off", "heat-s4"} <= set(re.findall(r'<path class="([^"]*)"', html))
    assert not re.search(r'class="heat-s4 off"', html)


def test_the_table_has_the_same_cells(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 3, loads=(0.0, 1.0, 1.0))
    page = get(viewer, "/map")
    [row] = page.tables["Cells of each pool by class"]
    assert row[1:] == ["1", "2"]
    heads = re.search(r"Cells of each pool.*?</thead>", page.html, re.S)
    assert heads
    assert re.findall(r'class="num">([^<]+)<', heads[0]) == ["free", "fully allocated"]


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


def cells_of(*nodes: str, card: bool = True) -> list[Cell]:
    """A letter a cell, its class: "aab" is a node of three."""
    return [
        Cell(f"n{number}", key, 1, card=place if card else None)
        for number, node in enumerate(nodes)
        for place, key in enumerate(node)
    ]


def test_a_picture_has_a_border_around_each_node() -> None:
    made = picture(cells_of("ab", "a"), "ab")
    assert made.paths == [("a", "M0 0h9v9h-9zM25 0h9v9h-9z"), ("b", "M10 0h9v9h-9z")]
    assert made.borders == "M-1.5 -1.5h22v12h-22zM23.5 -1.5h12v12h-12z"
    assert (made.width, made.height) == (35, 10)
    assert picture(cells_of("a", "b", card=False), "ab").borders == ""


def test_a_node_stays_on_one_line_unless_it_is_longer() -> None:
    assert spots(cells_of("a" * 60, "b" * 8))[60] == (0, 15)
    assert spots(cells_of("a" * 70))[64:66] == [(0, 15), (10, 15)]
    assert len(re.findall("M", picture(cells_of("a" * 70), "a").borders)) == 2


def test_squares_of_one_class_that_follow_each_other_are_one_bar_in_a_large_picture() -> None:
    nodes = ["a", "a", "b", *("a" for _ in range(600))]
    paths = dict(picture(cells_of(*nodes, card=False), "ab").paths)
    assert paths["b"] == "M20 0h9v9h-9z"
    assert paths["a"].startswith("M0 0h19v9h-19zM30 0h609v9h-609z")


def test_a_place_of_a_picture_is_a_cell() -> None:
    made = cells_of("ab", "c")
    assert [at(made, x, y) for x, y in ((0, 0), (12, 9), (26, 3), (22, 3), (0, 10))] == [*made, None, None]


@pytest.mark.parametrize("query", ["by=age", "cluster=nope", "pool=%00", "from=%00", "foo=1", "only=s9", "only=%00"])
def test_a_filter_that_makes_no_sense_is_refused_with_its_name(viewer: Client, cluster: Cluster, query: str) -> None:
    assert query.partition("=")[0] in get(viewer, f"/map?{query}", 400).text
