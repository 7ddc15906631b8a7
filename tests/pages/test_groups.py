"""Lists whose rows are grouped by node, model or namespace: heads with sums, in one query whatever the number of groups."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Card, Cluster, NodeTotals, Watch
from resources.view import understood
from tests.cast import signed_in
from tests.factories import make_cluster, make_fleet, make_node
from tests.pages.reading import Page, get
from tests.scopes.world import scoped_user

LISTS = (
    *("/cards?group=node", "/cards?group=model", "/nodes?group=model"),
    *("/allocations?group=namespace", "/allocations?group=node", "/allocations?group=model"),
)


@pytest.fixture
def small(cluster: Cluster) -> Cluster:
    """Two models; 15 GiB a card of gpushare, of which 6 are held on the first card, 80 GiB one of nvidia."""
    make_node(cluster, "a", "gpushare", 2, loads=(0.4, 0.0))
    make_node(cluster, "b", "gpushare", 1, loads=(1.0,))
    make_node(cluster, "c", "nvidia", 2, loads=(1.0, 0.0))
    return cluster


def heads(page: Page) -> list[str]:
    found = re.findall(r'<tr class="group">(.*?)</tr>', page.html, re.S)
    return [" · ".join(" ".join(part.split()) for part in re.findall(r">([^<>]*\S[^<>]*)<", one)) for one in found]


def groups(page: Page) -> list[int]:
    """How many rows each group has."""
    bodies = re.findall(r"<tbody data-key=.*?</tbody>", page.html, re.S)
    return [len(re.findall(r"<tr data-key=", one)) for one in bodies]


def test_cards_by_model_have_the_sums_of_each_model(viewer: Client, small: Cluster) -> None:
    page = get(viewer, "/cards?group=model")
    assert heads(page) == [
        "A100-SXM4-80GB · 2 cards · 1 free · 80 GiB of 160 GiB allocated · 80 GiB free",
        "Tesla-T4 · 3 cards · 1 free · 21 GiB of 45 GiB allocated · 24 GiB free",
    ]
    assert groups(page) == [2, 3]
    assert "/cards?model=Tesla-T4" in page.links
    columns = re.findall(r'<th scope="col"[^>]*>\s*<a[^>]*>([^<]*)<', page.html)
    assert "Model" not in " ".join(columns), "the heads say it"


def test_cards_by_node_are_sorted_within_their_node(viewer: Client, small: Cluster) -> None:
    page = get(viewer, "/cards?group=node")
    assert [head.partition(" · ")[0] for head in heads(page)] == ["a", "b", "c"]
    assert groups(page) == [2, 1, 2]
    assert "/nodes/prod/a" in page.links
    rows = [row[0] for row in page.rows if len(row) > 1]
    assert rows[:2] == ["a · 1", "a · 0"], "most free memory first, as without groups"
    turned = get(viewer, "/cards?group=node&ordering=-node")
    assert [head.partition(" · ")[0] for head in heads(turned)] == ["c", "b", "a"]


def test_nodes_by_model(viewer: Client, small: Cluster) -> None:
    page = get(viewer, "/nodes?group=model")
    assert heads(page) == [
        "A100-SXM4-80GB · 1 node · 1 of 2 cards free · 80 GiB of 160 GiB allocated · 80 GiB free",
        "Tesla-T4 · 2 nodes · 1 of 3 cards free · 21 GiB of 45 GiB allocated · 24 GiB free",
    ]


def test_allocations_by_namespace_node_and_model(viewer: Client, small: Cluster) -> None:
    found = {name: heads(get(viewer, f"/allocations?group={name}")) for name in ("namespace", "node", "model")}
    assert [head.rpartition(" · ")[2] for head in found["node"]] == ["6 GiB", "15 GiB", "80 GiB"]
    assert [head.split(" · ")[0] for head in found["model"]] == ["A100-SXM4-80GB", "Tesla-T4"]
    assert all(re.search(r"· \d+ allocations? · \d+ GiB$", head) for head in found["namespace"])


def test_what_is_not_known_comes_last_and_is_no_zero(viewer: Client, small: Cluster) -> None:
    Card.objects.filter(node_name="c").update(
        model="", memory_allocated_bytes=None, memory_free_bytes=None, memory_total_bytes=None
    )
    assert (
        heads(get(viewer, "/cards?group=model"))[-1]
        == "model unknown · 2 cards · 1 free · memory unknown or not metered"
    )
    Card.objects.filter(node_name="b").update(memory_allocated_bytes=None, memory_free_bytes=None)
    assert heads(get(viewer, "/cards?group=model"))[0] == (
        "Tesla-T4 · 3 cards · 1 free · 6 GiB of 30 GiB allocated · 24 GiB free · 1 unknown or not metered"
    )


def test_sums_and_groups_follow_the_filter(viewer: Client, small: Cluster) -> None:
    assert [head.partition(" · ")[0] for head in heads(get(viewer, "/cards?group=model&q=c"))] == ["A100-SXM4-80GB"]
    assert heads(get(viewer, "/cards?group=model&state=free"))[1].startswith("Tesla-T4 · 1 card · 1 free")
    assert get(viewer, "/cards?group=model&q=nothing").rows == []


def test_of_a_cluster_that_does_not_report_nothing_is_free(viewer: Client, small: Cluster) -> None:
    Watch.objects.update(expires_at=None, holder="", last_event_at=None)
    head = heads(get(viewer, "/cards?group=model"))[1]
    assert head == "Tesla-T4 · 3 cards · 21 GiB of 45 GiB allocated"


@pytest.mark.parametrize("path", LISTS)
def test_pages_go_on_within_a_group_and_show_each_row_once(viewer: Client, cluster: Cluster, path: str) -> None:
    make_fleet(cluster, nodes=12, cards=4)
    whole = [row for row in get(viewer, f"{path}&page_size=200").rows if len(row) > 1]
    found, url = [], f"{path}&page_size=7"
    while url:
        page = get(viewer, url)
        assert page.html.index('class="group"') < page.html.index("<tr data-key=")
        found += [row for row in page.rows if len(row) > 1]
        url = next((tag["href"] for tag in page.tags_of("a") if tag.get("rel") == "next"), "")
    assert found == whole
    back = get(viewer, next(tag["href"] for tag in page.tags_of("a") if tag.get("rel") == "prev"))
    before = [row for row in back.rows if len(row) > 1]
    last = len([row for row in page.rows if len(row) > 1])
    assert before == whole[-7 - last : -last]


@pytest.mark.parametrize("path", LISTS)
def test_no_query_is_made_for_a_group(viewer: Client, path: str) -> None:
    counts = []
    for nodes in (3, 40):
        cluster = make_cluster(f"c{nodes}")
        make_fleet(cluster, nodes=nodes, cards=4)
        get(viewer, f"{path}&page_size=200")
        with CaptureQueriesContext(connection) as queries:
            get(viewer, f"{path}&page_size=200")
        counts.append(len(queries))
        cluster.delete()
    assert counts[1] <= counts[0] + 1  # a full page needs no second look for rows without a value


@pytest.mark.parametrize("path", LISTS)
def test_a_grouped_list_is_refreshed_like_any_other(viewer: Client, small: Cluster, path: str) -> None:
    whole: Any = viewer.get(path)
    known = re.search(r'data-fingerprint="([^"]*)"', whole.content.decode())
    assert known
    part: Any = viewer.get(path, headers={"HX-Request": "true", "X-Fingerprint": known[1]})
    assert part.status_code == 204
    Card.objects.filter(node_name="a").update(memory_free_bytes=1)
    NodeTotals.objects.filter(node_name="a").update(memory_free_bytes=1)
    if "allocations" not in path:
        assert viewer.get(path, headers={"HX-Request": "true", "X-Fingerprint": known[1]}).status_code == 200


def test_a_group_that_a_list_does_not_have_is_refused(viewer: Client, small: Cluster) -> None:
    assert "Must be one of: node, model." in get(viewer, "/cards?group=namespace", status=400).text
    assert "This list has no groups." in get(viewer, "/allocations/pending?group=node", status=400).text
    get(viewer, "/cards?group=node&group=model", status=400)
    assert get(viewer, "/cards?group=").status == 200


def test_the_chip_the_form_and_the_heads_of_columns_keep_the_group(viewer: Client, small: Cluster) -> None:
    page = get(viewer, "/cards?group=node&state=free")
    hidden = {(tag.get("name"), tag.get("value")) for tag in page.tags_of("input") if tag.get("type") == "hidden"}
    assert ("group", "node") in hidden
    assert "/cards?state=free" in page.links
    assert any("group=node" in one and "ordering=" in one for one in page.links)
    assert "group: node" not in page.text


def test_csv_is_of_the_same_rows_without_heads(viewer: Client, small: Cluster) -> None:
    response: Any = viewer.get("/cards?group=model&format=csv")
    lines = b"".join(response.streaming_content).decode().splitlines()
    assert len(lines) == 1 + 5


@pytest.mark.django_db
def test_a_saved_view_keeps_a_group_that_exists() -> None:
    assert understood("cards", "group=node&state=free") == ("group=node&state=free", {})
    kept, wrong = understood("cards", "group=colour&state=free")
    assert (kept, wrong) == ("state=free", {"group": "No group colour."})
    assert understood("findings", "group=none")[0] == "group=none"


@pytest.mark.django_db
def test_groups_of_a_scope_are_of_what_it_sees() -> None:
    prod, lab = make_cluster("prod"), make_cluster("lab")
    make_node(prod, "a", "gpushare", 2, loads=(0.4,))
    make_node(lab, "b", "gpushare", 2, loads=(0.4,))
    viewer = signed_in(scoped_user("scoped", "lab"))
    assert heads(get(viewer, "/cards?group=model")) == ["Tesla-T4 · 2 cards · 12 GiB of 30 GiB allocated · 18 GiB free"]
    assert [head.split(" · ")[0] for head in heads(get(viewer, "/cards?group=node"))] == ["b"]


def test_of_several_clusters_heads_say_which(viewer: Client, small: Cluster) -> None:
    make_node(make_cluster("lab"), "a", "gpushare", 1)
    assert [head.split(" · ")[:2] for head in heads(get(viewer, "/cards?group=node"))][:2] == [
        ["a", "prod"],
        ["b", "prod"],
    ]
    assert heads(get(viewer, "/cards?group=node"))[-1].startswith("a · lab · 1 card")
    assert "Tesla-T4 · 4 cards" in heads(get(viewer, "/cards?group=model"))[1]


def test_at_another_time_heads_have_the_numbers_that_are_kept(viewer: Client, small: Cluster) -> None:
    found = heads(get(viewer, "/cards?group=model&from=1h"))
    assert [head.partition(" · ")[2] for head in found] == ["2 cards", "3 cards"]
