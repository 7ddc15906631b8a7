"""The overview answers where memory is free, how far that can be trusted, and what is to be done."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from django.test import Client

from inventory.models import Card, Cluster, Finding, Node, NodeTotals, Pod, Subject, Watch
from tests.cast import signed_in
from tests.factories import (
    make_cluster,
    make_finding,
    make_fleet,
    make_node,
    make_pending_pod,
    not_metered,
)
from tests.factories.history import put_day
from tests.pages.reading import Page, get
from tests.pages.test_counting_links import rows_behind
from tests.pages.validations.rows import make_run
from tests.scopes.world import scoped_user

T4 = "gpushare · Tesla-T4"


def opened(*pools: str) -> str:
    return "/?" + "&".join(f"open={quote(pool)}" for pool in pools)


def row_of(page: Page, model: str, stack: str) -> list[str]:
    """Stack, nodes, bar, free cards, free memory, largest block, validated, trend."""
    (found,) = [row[1:] for row in page.rows if row[:2] == [model, stack]]
    return found


def causes(page: Page) -> list[str]:
    """The rows of what needs attention as they are read, without their ages."""
    found = re.findall(r'<li data-key="attention-.*?</li>', page.html, re.S)
    texts = (re.sub(r"<time.*?</time>|<[^>]+>", " ", one, flags=re.S) for one in found)
    return [" ".join(text.split()) for text in texts]


def link_of(page: Page, words: str) -> str:
    """The address of the row's action."""
    (found,) = [tag["href"] for tag in page.tags_of("a") if words in tag.get("aria-label", "")]
    return found


def test_it_names_the_largest_free_block_and_links_its_card(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "small", "gpushare", 2, loads=(0.4, 1.0))
    make_node(cluster, "large", "nvidia", 2, loads=(1.0, 0.0))
    page = get(viewer, "/")
    assert "Largest free block 80 GiB on large" in page.text
    assert f"/cards/{Card.objects.get(uuid='GPU-large-1').pk}" in page.links


def test_free_memory_is_what_the_accounts_sum_to(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 4, loads=(0.0, 0.4, 1.0, 0.8))
    page = get(viewer, "/")
    assert "Free memory 27 GiB 45% of 60 GiB" in page.text
    assert "Free cards 1 of 4 · 2 partially free" in page.text


def test_nodes_without_a_figure_are_counted_beside_the_sum_and_never_added_as_zero(
    viewer: Client, cluster: Cluster
) -> None:
    make_node(cluster, "known", "gpushare", 1, loads=(0.0,))
    make_node(cluster, "unknown", "nvidia-count", 1)
    not_metered("unknown")
    page = get(viewer, "/")
    assert "1 node excluded (unknown or not metered)" in page.text
    assert rows_behind(viewer, "/nodes?free_known=false") == 1
    assert "/nodes?free_known=false" in page.links
    assert "Free memory 15 GiB 100% of 15 GiB" in page.text
    assert "100% of 15 GiB · 80 GiB not metered" in page.titles


def test_before_the_first_list_nothing_is_shown_as_zero(viewer: Client) -> None:
    make_cluster("new", synced=False)
    page = get(viewer, "/")
    assert causes(page) == ["! warning Cluster: initial list new Show cluster"]
    for title in ("Free memory", "Free cards", "Pending pods", "Findings"):
        assert f"{title} unknown" in page.text


def test_without_a_cluster_it_says_how_to_add_one(viewer: Client) -> None:
    assert "gpudash cluster add NAME --kubeconfig FILE" in get(viewer, "/").text


def test_a_cluster_that_does_not_report_needs_attention(viewer: Client) -> None:
    make_node(make_cluster("old", age_s=120), "a")
    assert causes(get(viewer, "/"))[0] == "✕ error Cluster: not reporting old Show cluster"


def test_clusters_in_the_same_state_are_one_row_that_says_why(viewer: Client, cluster: Cluster) -> None:
    make_cluster("lab")
    Watch.objects.filter(kind="pods").update(state="refused", reason="403: pods is forbidden")
    page = get(viewer, "/")
    assert causes(page) == ["✕ error Cluster: access denied lab, prod Show clusters"]
    assert any("pods: 403: pods is forbidden" in title for title in page.titles)


def test_equal_findings_are_one_row_with_the_list_that_holds_them(viewer: Client, cluster: Cluster) -> None:
    for number in range(22):
        make_finding(cluster, "card-over-committed", node_name=f"node-{number % 2}", card_key=str(number))
    page = get(viewer, "/")
    assert causes(page) == ["✕ error Card overcommitted 22 cards on node-0, node-1 Show findings"]
    assert rows_behind(viewer, link_of(page, "Card overcommitted")) == 22
    assert "Findings 22 errors" in page.text


def test_cards_are_not_counted_where_findings_of_nodes_name_none(viewer: Client, cluster: Cluster) -> None:
    for node, card in (("node-0", "0"), ("node-1", ""), ("node-2", "")):
        make_finding(cluster, "card-over-committed", node_name=node, card_key=card)
    assert causes(get(viewer, "/")) == ["✕ error Card overcommitted 3 nodes Show findings"]


def test_one_finding_leads_to_its_card_with_the_remedy(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(36 / 15,))
    page = get(viewer, "/")
    assert causes(page) == ["✕ error Card overcommitted a card 0 Show card"]
    assert link_of(page, "Card overcommitted") == f"/cards/{Card.objects.get().pk}"
    assert any("36 of 15 GiB allocated" in title for title in page.titles)


def test_errors_come_before_warnings_and_the_rest_is_a_link(viewer: Client, cluster: Cluster) -> None:
    make_finding(cluster, "units-mixed", "warning")
    make_pending_pod(cluster, "waits")
    for number in range(9):
        make_finding(cluster, f"fault-{number}", "error", "a")
    page = get(viewer, "/")
    assert len(causes(page)) == 8
    assert all(one.startswith("✕") for one in causes(page))
    assert "3 more" in page.text
    Finding.objects.filter(severity="error").delete()
    text = " ".join(causes(get(viewer, "/")))
    assert "1 pod is pending team-a/waits Show pod" in text
    assert "prod Show findings" in text


def test_what_is_known_and_needs_nothing_is_said(viewer: Client, cluster: Cluster) -> None:
    make_finding(cluster, "xid-unknown", "info")
    page = get(viewer, "/")
    assert "Nothing needs attention." in page.text
    assert "Findings 1 info" in page.text


def test_cards_whose_validation_failed_or_is_of_another_driver_need_attention(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 3, loads=(0.0,))
    first, second, third = Card.objects.order_by("index")
    make_run(cluster, node="a", card=first, verdict="failed")
    make_run(cluster, node="a", card=second)
    make_run(cluster, node="a", card=third, driver="1.0")
    Node.objects.update(driver_version="550.54.15")
    page = get(viewer, "/")
    rows = [one for one in causes(page) if "alidation" in one]
    assert rows[0] == "✕ error Validation failed on 1 card T4 Show runs"
    assert rows[1] == "! warning 1 card needs validation after a driver change T4 Show runs"
    assert "/validations?verdict=failed" in page.links
    assert row_of(page, "T4", "gpushare")[6] == "1 / 3"
    faults = [tag for tag in get(viewer, opened(T4)).tags_of("a") if "fault" in tag.get("class", "")]
    assert [tag["href"] for tag in faults] == [f"/cards/{first.pk}"]


def test_what_others_have_in_their_namespaces_is_not_named(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.4,))
    secret = make_finding(cluster, "bound-without-card", "warning", "a")
    Finding.objects.filter(pk=secret.pk).update(pod="team-secret/theirs", text="team-secret/theirs has no card.")
    own = make_finding(cluster, "assumed-not-assigned", "warning", "a")
    Finding.objects.filter(pk=own.pk).update(pod="team-a/ours", text="team-a/ours has no card.")
    hidden = make_pending_pod(cluster, "hidden")
    Pod.objects.filter(pk=hidden.pk).update(namespace="team-secret")
    make_pending_pod(cluster, "seen")
    assert "team-secret/theirs" in get(signed_in(scoped_user("vera", "prod")), opened(T4)).html
    page = get(signed_in(scoped_user("nora", "prod/team-a")), opened(T4))
    assert "team-secret" not in page.html
    assert "theirs" not in page.html
    assert any("team-a/ours" in one for one in causes(page))
    assert any("1 pod is pending team-a/seen" in one for one in causes(page))


def test_a_row_of_each_model_and_stack_over_all_clusters(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 4, loads=(0.0, 0.4, 1.0, 0.8))
    make_node(make_cluster("lab"), "b", "gpushare", 1, loads=(0.0,))
    make_node(cluster, "c", "nvidia", 2, loads=(1.0, 0.0))
    page = get(viewer, "/")
    assert row_of(page, "T4", "gpushare")[1:6] == ["2", "", "2 / 5", "42 GiB", "15 GiB"]
    assert row_of(page, "A100 SXM 80 GB", "nvidia")[1:6] == ["1", "", "1 / 2", "80 GiB", "80 GiB"]
    assert "1 allocated · 2 partially allocated · 2 free" in page.titles
    assert "Free memory 122 GiB" in page.text
    only = get(viewer, "/?cluster=lab")
    assert row_of(only, "T4", "gpushare")[1:6] == ["1", "", "1 / 1", "15 GiB", "15 GiB"]
    assert "Free memory 15 GiB" in only.text
    assert "Largest free block 15 GiB on lab · b" in only.text
    assert "/nodes?cluster=lab&pool=gpushare+%C2%B7+Tesla-T4" in only.links


def test_what_is_not_metered_is_not_called_unknown(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "slices", "time-sliced", 1, loads=(0.75,))
    make_node(cluster, "counted", "nvidia-count", 2, loads=(1.0, 0.0))
    NodeTotals.objects.filter(node_name="counted").update(memory_free_bytes=None, largest_gap_bytes=None)
    page = get(viewer, "/")
    rows = {row[2]: row[5:7] for row in page.rows}
    assert ["not metered", "–"] in [row[5:7] for row in page.rows], rows
    assert ["unknown", "unknown"] in [row[5:7] for row in page.rows], rows


def test_the_last_day_is_a_line_with_the_change_in_words(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 4, loads=(0.0, 1.0))
    now = datetime.now(UTC)
    for day in (now.date() - timedelta(days=1), now.date()):
        put_day(cluster, day, Subject.POOL, T4, allocated=15 * 1024, total=60 * 1024)
    page = get(viewer, "/")
    assert any(tag.get("aria-label") == "50% allocated · +25 points vs 24 h ago" for tag in page.tags_of("svg"))
    (line,) = [tag["d"] for tag in page.tags_of("path") if tag.get("class") == "line used"]
    assert line.startswith("M0 75L")
    assert line.endswith("L100 50")


def test_cards_are_drawn_of_rows_that_the_address_opens(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.0, 0.4))
    assert not [tag for tag in get(viewer, "/").tags_of("a") if "tile" in tag.get("class", "")]
    (toggle,) = [tag for tag in get(viewer, "/").tags_of("a") if tag.get("class") == "toggle"]
    assert toggle["aria-expanded"] == "false"
    page = get(viewer, toggle["href"])
    tiles = [tag for tag in page.tags_of("a") if "tile" in tag.get("class", "")]
    assert [(tag["class"], tag["style"]) for tag in tiles] == [("tile free", "--f:0"), ("tile partly", "--f:40")]
    (toggle,) = [tag for tag in page.tags_of("a") if tag.get("class") == "toggle"]
    assert (toggle["aria-expanded"], toggle["href"]) == ("true", "/")


def test_a_tile_says_what_is_known_of_its_card(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(36 / 15,))
    make_node(cluster, "counted", "nvidia-count", 2, loads=(1.0, 0.0))
    make_node(cluster, "slices", "time-sliced", 1, loads=(0.75,))
    pools = NodeTotals.objects.values_list("pool", flat=True)
    tiles = {tag["title"]: tag["class"] for tag in get(viewer, opened(*pools)).tags_of("a") if "--f" in str(tag)}
    assert tiles["a card 0: overcommitted, 240% allocated · error"] == "tile over fault"
    assert tiles["counted card 0: unknown"] == "tile unknown"
    assert tiles["slices card es-0: allocated to 3 pods, memory not metered"] == "tile shared"


def test_tiles_and_nodes_are_called_by_their_cluster_where_there_are_several(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "same", "nvidia-count", 1)
    pool = NodeTotals.objects.get().pool
    assert "same card 0: 80 GiB free of 80 GiB, 0% allocated" in get(viewer, opened(pool)).titles
    make_node(make_cluster("other"), "same", "nvidia-count", 1)
    page = get(viewer, opened(pool))
    tiles = {tag["title"] for tag in page.tags_of("a") if "tile" in tag.get("class", "").split()}
    assert {title.partition(":")[0] for title in tiles} == {"prod · same card 0", "other · same card 0"}
    assert {"/nodes/prod/same", "/nodes/other/same"} <= set(page.links)
    assert "prod · same" in page.text


@pytest.mark.parametrize(("cards", "most"), [(2, 110), (8, 50), (16, 30)])
def test_a_large_fleet_draws_few_nodes_and_links_the_rest(
    viewer: Client, cluster: Cluster, cards: int, most: int
) -> None:
    make_fleet(cluster, nodes=120, cards=cards)
    pools = NodeTotals.objects.values_list("pool", flat=True).distinct()
    page = get(viewer, opened(*pools))
    drawn = len(page.tags_of("section")) - 2
    assert most / 2 < drawn <= most
    assert len(re.findall(r"<[a-z]", page.html)) <= 2000
    assert "more nodes in the table" in page.text
    assert len(page.html) < 300_000


def test_strange_tiles_do_not_break_the_page(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1)
    NodeTotals.objects.update(tiles=[[1, "0", 12, "free"], "x", None, [1, None, "9", "odd", 3]])
    assert "a card None: unknown" in get(viewer, opened(T4)).titles


@pytest.mark.parametrize("query", ["show=room", "cluster=nope", "open=%00", "foo=1"])
def test_a_filter_that_makes_no_sense_is_refused_with_its_name(viewer: Client, cluster: Cluster, query: str) -> None:
    page = get(viewer, f"/?{query}", 400)
    assert query.partition("=")[0] in page.text


def test_a_cluster_that_is_named_twice_is_counted_once(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4, loads=(0.0,))
    for path in ("/", "/map"):
        once, twice = (get(viewer, path + query).text for query in ("?cluster=prod", "?cluster=prod&cluster=prod"))
        assert "4" in once
        assert once == twice
