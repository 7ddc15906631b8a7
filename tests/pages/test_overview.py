"""The overview answers where memory is free and how far it can be trusted."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from django.test import Client

from inventory.models import Card, Cluster, NodeTotals, Watch
from tests.factories import make_cluster, make_fleet, make_node, not_metered
from tests.pages.reading import get


def test_it_names_the_largest_free_piece_and_its_card(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "small", "gpushare", 2, loads=(0.4, 1.0))
    make_node(cluster, "large", "nvidia", 2, loads=(1.0, 0.0))
    page = get(viewer, "/")
    assert "Largest free block: 80 GiB , large card …-large-1 (A100-SXM4-80GB)" in page.text
    assert f"/cards/{Card.objects.get(uuid='GPU-large-1').pk}" in page.links


def test_free_memory_is_what_the_accounts_sum_to(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 4, loads=(0.0, 0.4, 1.0, 0.8))
    page = get(viewer, "/")
    assert "Free memory 27 GiB of 60 GiB allocatable" in page.text


def test_nodes_without_a_figure_are_counted_beside_the_sum_and_never_added_as_zero(
    viewer: Client, cluster: Cluster
) -> None:
    make_node(cluster, "known", "gpushare", 1, loads=(0.0,))
    make_node(cluster, "unknown", "nvidia-count", 1)
    not_metered("unknown")
    page = get(viewer, "/")
    assert "Excluded: 1 of 2 nodes (free memory unknown)" in page.text
    assert "15 GiB of 15 GiB allocatable" in page.text
    assert "80 GiB not metered" in page.text


def test_a_card_that_is_not_known_is_hatched_and_has_no_number(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "counted", "nvidia-count", 2, loads=(1.0, 0.0))
    page = get(viewer, "/")
    tile = next(tag for tag in page.tags_of("a") if "tile" in tag.get("class", ""))
    assert tile["class"].split() == ["tile", "unknown"]
    assert tile["title"] == "counted card 0: unknown"


def test_tiles_and_nodes_are_called_by_their_cluster_where_there_are_several(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "same", "nvidia-count", 1)
    alone = get(viewer, "/")
    assert "same card 0: 80 GiB free of 80 GiB, 0% allocated" in alone.titles
    assert [tag.get("aria-label") for tag in alone.tags_of("a") if tag["href"] == "/nodes/prod/same"] == [None]
    make_node(make_cluster("other"), "same", "nvidia-count", 1)
    page = get(viewer, "/")
    tiles = {tag["title"] for tag in page.tags_of("a") if "tile" in tag.get("class", "").split()}
    assert {title.partition(":")[0] for title in tiles} == {"prod · same card 0", "other · same card 0"}
    names = {tag["href"]: tag.get("aria-label") for tag in page.tags_of("a")}
    assert names["/nodes/prod/same"] == "prod · same"
    assert names["/nodes/other/same"] == "other · same"
    assert names["/?cluster=other"] == "Cluster: other"


def test_a_shared_card_says_by_how_many_it_is_held(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "slices", "time-sliced", 1, loads=(0.75,))
    assert "slices card es-0: allocated to 3 pods, memory not metered" in get(viewer, "/").titles


def test_more_than_full_is_shown_as_more_than_full(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(36 / 15,))
    page = get(viewer, "/")
    assert "a card 0: overcommitted, 240% allocated · error" in page.titles
    assert "overcommitted: 36 GiB of 15 GiB" in page.text


def test_before_the_first_list_nothing_is_shown_as_zero(viewer: Client) -> None:
    make_cluster("new", synced=False)
    page = get(viewer, "/")
    assert "new : initial list" in page.text
    for title in ("Free memory", "Free cards", "Pending pods", "Findings"):
        assert f"{title} unknown" in page.text


def test_without_a_cluster_it_says_how_to_add_one(viewer: Client) -> None:
    assert "manage.py cluster add NAME --kubeconfig FILE" in get(viewer, "/").text


def test_a_mirror_without_a_word_for_two_minutes_is_called_old(viewer: Client) -> None:
    make_node(make_cluster("old", age_s=120), "a")
    page = get(viewer, "/")
    assert "old : not reporting, last update 2 min ago" in page.text


def test_a_refused_cluster_says_why(viewer: Client, cluster: Cluster) -> None:
    Watch.objects.filter(kind="pods").update(state="refused", reason="403: pods is forbidden")
    text = get(viewer, "/").text
    assert "prod : access denied" in text
    assert "pods: 403: pods is forbidden" in text


@pytest.mark.parametrize(
    ("show", "drawn"),
    [("room", {"roomy"}), ("free", {"roomy"}), ("unknown", {"counted"}), ("findings", {"wrong"})],
)
def test_a_chip_draws_only_the_nodes_that_it_means(
    viewer: Client, cluster: Cluster, show: str, drawn: set[str]
) -> None:
    make_node(cluster, "roomy", "gpushare", 2, loads=(0.0, 1.0))
    make_node(cluster, "counted", "nvidia-count", 2, loads=(1.0,))
    make_node(cluster, "wrong", "gpushare", 2, loads=(1.0,))
    NodeTotals.objects.filter(node_name="wrong").update(findings_count=1, worst_severity="error")
    NodeTotals.objects.filter(node_name="counted").update(cards_free=0)
    keys = {tag.get("data-key", "") for tag in get(viewer, f"/?show={show}").tags_of("li")}
    assert {key.removeprefix("node-") for key in keys if key.startswith("node-")} == drawn


def test_a_tile_without_enough_room_steps_back(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.0, 0.8))
    tiles = [tag["class"] for tag in get(viewer, "/?show=room").tags_of("a") if "tile" in tag.get("class", "")]
    assert tiles == ["tile free", "tile partly dim"]


@pytest.mark.parametrize(("cards", "most"), [(2, 110), (8, 50), (16, 30)])
def test_a_large_fleet_draws_few_nodes_and_links_the_rest(
    viewer: Client, cluster: Cluster, cards: int, most: int
) -> None:
    make_fleet(cluster, nodes=120, cards=cards)
    pools = NodeTotals.objects.values_list("pool", flat=True).distinct()
    opened = "&".join(f"open=prod/{quote(pool)}" for pool in pools)
    page = get(viewer, f"/?{opened}")
    drawn = [tag for tag in page.tags_of("li") if tag.get("data-key", "").startswith("node-")]
    assert most / 2 < len(drawn) <= most
    assert len(re.findall(r"<[a-z]", page.html)) <= 2000
    assert "more nodes in the table" in page.text
    assert len(page.html) < 300_000


def test_one_pool_can_be_drawn_alone(viewer: Client, cluster: Cluster) -> None:
    make_fleet(cluster, nodes=14, cards=1)
    page = get(viewer, "/?pool=gpushare+·+Tesla-T4")
    assert {tag["data-key"] for tag in page.tags_of("section") if "pool-" in tag.get("data-key", "")} == {
        "pool-prod/gpushare · Tesla-T4"
    }


def test_several_clusters_are_summed_and_can_be_told_apart(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(0.0,))
    make_node(make_cluster("lab"), "b", "gpushare", 1, loads=(0.0,))
    assert "Free memory 30 GiB" in get(viewer, "/").text
    only = get(viewer, "/?cluster=lab")
    assert "Free memory 15 GiB" in only.text
    assert "lab · gpushare · Tesla-T4" in get(viewer, "/").text


def test_strange_tiles_do_not_break_the_map(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1)
    NodeTotals.objects.update(tiles=[[1, "0", 12, "free"], "x", None, [1, None, "9", "odd", 3]])
    assert "a card None: unknown" in get(viewer, "/").titles


@pytest.mark.parametrize("query", ["show=everything", "cluster=nope", "pool=%00", "foo=1"])
def test_a_filter_that_makes_no_sense_is_refused_with_its_name(viewer: Client, cluster: Cluster, query: str) -> None:
    page = get(viewer, f"/?{query}", 400)
    assert query.partition("=")[0] in page.text


def test_a_cluster_that_is_named_twice_is_counted_once(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4, loads=(0.0,))
    for path in ("/", "/map"):
        once, twice = (get(viewer, path + query).text for query in ("?cluster=prod", "?cluster=prod&cluster=prod"))
        assert "4" in once
        assert once == twice
