"""What is around every page: navigation, search, theme, language, and the pages of refusals."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.template.loader import get_template
from django.test import Client
from django.urls import reverse

from gpudash import __version__
from inventory.models import Cluster
from pages.frame import navigation as frame
from pages.frame import site
from tests.cast import signed_in
from tests.factories import make_cluster, make_finding, make_node, make_pending_pod
from tests.pages.reading import Page, get
from tests.scopes.world import scoped_user


def test_the_page_that_one_is_on_is_marked_and_so_is_the_one_above(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a")
    current = {
        tag["href"]: tag.get("aria-current") for tag in get(viewer, "/nodes").tags_of("a") if "aria-current" in tag
    }
    assert current == {"/nodes": "page"}
    below = {
        tag["href"]: tag["aria-current"] for tag in get(viewer, "/nodes/prod/a").tags_of("a") if "aria-current" in tag
    }
    assert below == {"/nodes": "true", "/nodes/prod/a?window=1d": "true"}  # and the window of its chart


def test_a_page_is_offered_only_when_it_is_there(
    viewer: Client, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, offered in (("no-such-page", False), ("search", True)):
        monkeypatch.setattr(
            frame, "NAVIGATION", (("", (site.Page(name, "Elsewhere", "x", "numbers"),)), *site.NAVIGATION)
        )
        assert ("Elsewhere" in get(viewer, "/").text) == offered


def test_the_theme_follows_the_cookie_and_nothing_else(viewer: Client, cluster: Cluster) -> None:
    assert "data-theme" not in get(viewer, "/").html
    viewer.cookies["theme"] = "dark"
    assert 'data-theme="dark"' in get(viewer, "/").html
    viewer.cookies["theme"] = '"><script>'
    assert "data-theme" not in get(viewer, "/").html


def test_the_theme_can_be_chosen_on_every_page(viewer: Client, cluster: Cluster) -> None:
    page = get(viewer, "/nodes?stack=nvidia")
    following = next(tag["value"] for tag in page.tags_of("input") if tag.get("name") == "next")
    answer = viewer.post("/account/theme", {"theme": "dark", "next": following})
    assert answer.headers["Location"] == "/nodes?stack=nvidia"
    assert 'data-theme="dark"' in get(viewer, "/nodes").html


def test_a_visitor_sees_no_navigation_and_no_cluster(client: Client, cluster: Cluster) -> None:
    page = get(client, "/sign-in")
    assert page.tags_of("nav") == []
    assert "prod" not in page.text


def test_a_search_for_a_nodes_name_leads_to_its_page(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "gpu-7")
    assert viewer.get("/search?q=gpu-7").headers["Location"] == "/nodes/prod/gpu-7"


def test_a_search_for_a_uuid_leads_to_the_card(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "gpu-7", "nvidia", 2)
    assert viewer.get("/search?q=GPU-gpu-7-1").headers["Location"].startswith("/cards/")


def test_a_search_groups_what_it_finds_and_links_the_lists(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "gpu-7", "gpushare", 8, loads=(0.4,))
    page = get(viewer, "/search?q=team-a")
    assert "Current allocations" in page.text
    assert "team-a/train-gpu-7-1-0" in page.text
    assert "/allocations?q=team-a" in page.links


def test_a_search_that_finds_nothing_says_where_it_looked(viewer: Client, cluster: Cluster) -> None:
    assert "No results." in get(viewer, "/search?q=zzz").text
    assert "Enter a node" in get(viewer, "/search").text


@pytest.mark.parametrize("query", ["q=%00", f"q={'a+' * 9}", f"q={'a' * 600}", "p=1"])
def test_a_search_that_makes_no_sense_is_refused(viewer: Client, cluster: Cluster, query: str) -> None:
    get(viewer, f"/search?{query}", 400)


def test_nothing_at_an_address_is_said_in_the_style_of_the_house(viewer: Client, db: None) -> None:
    page = get(viewer, "/nowhere", 404)
    assert "Page not found" in page.text
    assert page.tags_of("nav")


def test_a_mistake_of_ours_is_admitted_without_the_database(client: Client) -> None:
    assert "gpudash could not create this page" in get_template("500.html").render()


def test_every_page_has_one_heading_a_title_a_language_and_landmarks(viewer: Client, fleet: Cluster) -> None:
    for address in (
        "/",
        "/nodes",
        "/cards",
        "/allocations",
        "/findings",
        "/clusters",
        "/nodes/prod/gpu-00000",
        "/account",
        "/search",
    ):
        page = get(viewer, address)
        names = [name for name, _ in page.tags]
        assert [names.count(name) for name in ("h1", "main", "header", "footer", "title")] == [1, 1, 1, 1, 1], address
        assert page.tags_of("html")[0]["lang"] == "en"
        assert all(tag.get("scope") in ("col", "row") for tag in page.tags_of("th")), address
        ids = [tag["id"] for _, tag in page.tags if "id" in tag]
        assert len(ids) == len(set(ids)), address


def test_no_page_carries_a_script_of_its_own(viewer: Client, fleet: Cluster) -> None:
    for tag in get(viewer, "/").tags_of("script"):
        assert tag["src"].startswith("/static/")


def test_the_version_is_in_the_footer_and_on_the_page_of_the_installation(admin: Client, cluster: Cluster) -> None:
    assert f"gpudash {__version__}" in get(admin, "/").text
    assert f"gpudash {__version__}" in get(admin, "/installation").text.partition("Processes")[0]
    assert __version__ not in get(Client(), "/sign-in").text


@pytest.fixture
def two(cluster: Cluster) -> Cluster:
    make_node(cluster, "a", "gpushare", 2)
    other = make_cluster("lab")
    make_node(other, "b", "gpushare", 2)
    return other


def switch(page: Page) -> dict[str, str]:
    """Text → address of the cluster menu."""
    menu = page.html.partition('id="cluster-switch"')[2].partition("</nav>")[0]
    return {text: unescape(url) for url, text in re.findall(r'<a href="([^"]*)"[^>]*>([^<]+)</a>', menu)}


def test_where_there_is_one_cluster_there_is_none_to_choose(viewer: Client, cluster: Cluster) -> None:
    page = get(viewer, "/nodes?cluster=prod")
    assert switch(page) == {}
    assert "/cards" in page.links


@pytest.mark.parametrize("name", sorted(site.BY_CLUSTER))
def test_each_page_that_the_cluster_menu_keeps_takes_a_cluster(viewer: Client, two: Cluster, name: str) -> None:
    path = reverse(name)
    page = get(viewer, f"{path}?cluster=lab")
    assert "Invalid filter" not in page.text
    assert switch(page) == {"All clusters": path, "lab": f"{path}?cluster=lab", "prod": f"{path}?cluster=prod"}
    # The navigation stays with the cluster.
    assert {"/nodes?cluster=lab", "/findings?cluster=lab"} <= set(page.links)


def test_a_page_of_one_thing_leads_to_the_overview_of_another_cluster(viewer: Client, two: Cluster) -> None:
    page = get(viewer, "/nodes/lab/b")
    assert switch(page) == {"All clusters": "/", "lab": "/?cluster=lab", "prod": "/?cluster=prod"}
    assert switch(get(viewer, "/clusters/lab"))["prod"] == "/clusters/prod"


def test_a_cluster_that_is_not_seen_is_not_chosen_and_not_named(two: Cluster) -> None:
    client = signed_in(scoped_user("lena", "lab"))
    page = get(client, "/account?cluster=prod")
    assert switch(page) == {}
    assert "/nodes" in page.links
    assert "cluster=prod" not in " ".join(page.links)


def test_the_navigation_counts_what_needs_action(viewer: Client, cluster: Cluster) -> None:
    assert re.findall(r"<b>[0-9]+</b>", get(viewer, "/clusters").html.partition("</aside>")[0]) == []
    make_finding(cluster, "card-over-committed", "error", "a", "0")
    make_finding(cluster, "units-mixed", "warning")
    make_pending_pod(cluster, "hungry")
    make_pending_pod(cluster, "hungrier")
    side = " ".join(get(viewer, "/clusters").html.partition("</aside>")[0].split())
    assert ">Pending <b>2</b></a>" in side
    assert ">Findings <b>1</b></a>" in side
