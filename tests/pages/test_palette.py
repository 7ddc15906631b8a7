"""The palette and the list of keys: what is found, within what the visitor sees."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from inventory.charges import now
from inventory.models import Cluster
from tests.cast import make_user, signed_in
from tests.factories import make_cluster, make_fleet
from tests.pages.reading import get
from tests.scopes.world import scoped_user


def found(client: Client, text: str) -> dict[str, str]:
    """Address → title."""
    page = get(client, f"/palette?q={text}")
    return dict.fromkeys(page.links, page.text)


def test_without_words_it_has_the_pages(viewer: Client, fleet: Cluster) -> None:
    links = found(viewer, "")
    assert {"/", "/nodes", "/allocations/pending", "/fit", "/views", "/keys"} <= set(links)
    assert "/administration" not in links


def test_it_finds_pages_views_clusters_nodes_pods_namespaces_suites_and_documents(
    viewer: Client, fleet: Cluster
) -> None:
    viewer.post("/views", {"of": "nodes", "query": "q=gpu", "name": "Mine of nodes"})
    now.look()
    assert any(link.startswith("/views/") for link in found(viewer, "mine"))
    assert "/clusters/prod" in found(viewer, "prod")
    assert "/nodes/prod/gpu-00000" in found(viewer, "gpu-00000")
    assert "/allocations?namespace=team-a" in found(viewer, "team-a")
    assert "/validations?suite=cuda-vectoradd" in found(viewer, "vectoradd")
    assert "/docs/find-room" in found(viewer, "find+capacity")
    assert "/docs/words" in found(viewer, "glossary")
    assert "No results." in get(viewer, "/palette?q=nosuchthing").text


def test_too_many_words_and_strange_ones_find_pages_only(viewer: Client, fleet: Cluster) -> None:
    for text in ("a+b+c+d+e+f+g+h+i+j", "%00", "x" * 3000):
        assert get(viewer, f"/palette?q={text}").status == 200


def test_what_is_not_seen_is_not_found(fleet: Cluster) -> None:
    make_fleet(make_cluster("other"), nodes=3, cards=2)
    now.look()
    client = signed_in(scoped_user("nora", "prod/mine"))
    assert "/clusters/other" not in found(client, "other")
    assert "/allocations?namespace=team-a" not in found(client, "team-a")
    assert "/clusters/prod" in found(client, "prod")


def test_its_queries_do_not_grow(viewer: Client) -> None:
    counts = []
    for name, nodes in (("few", 7), ("many", 60)):
        Cluster.objects.all().delete()
        make_fleet(make_cluster(name), nodes=nodes, cards=2)
        now.look()
        get(viewer, "/palette?q=gpu")
        with CaptureQueriesContext(connection) as queries:
            get(viewer, "/palette?q=gpu")
        counts.append(len(queries))
    assert counts[1] <= counts[0] <= 20


def test_administrators_find_their_pages(fleet: Cluster) -> None:
    assert "/administration" in found(signed_in(make_user("ada", Role.ADMIN)), "admin")


def test_every_key_is_on_a_page_and_in_a_part(viewer: Client, fleet: Cluster) -> None:
    page = get(viewer, "/keys")
    letters = {tag["data-go"] for tag in page.tags_of("a") if "data-go" in tag}
    assert letters == set("onchtaembfpvyls")
    for letter in letters:
        assert f"g {letter}" in page.text
    assert "<html" not in get(viewer, "/keys", **{"HX-Request": "true"}).html


def test_every_page_offers_the_palette_and_the_keys(viewer: Client, fleet: Cluster) -> None:
    page = get(viewer, "/nodes")
    opens = {tag["data-opens"]: tag["href"] for tag in page.tags_of("a") if "data-opens" in tag}
    assert opens == {"palette": "/search", "keys": "/keys"}


def test_actions_are_those_of_the_role(fleet: Cluster, viewer: Client) -> None:
    assert "/validations/new" not in found(viewer, "launch")
    operator = signed_in(make_user("olga", Role.OPERATOR))
    assert "/validations/new" in found(operator, "launch")
    assert "/validations/campaigns/new" in found(operator, "campaign")
    assert "/policies/new" in found(operator, "policy")


def test_a_theme_is_chosen_there_and_leads_back(fleet: Cluster, viewer: Client) -> None:
    page = get(viewer, "/palette?q=theme&here=/nodes%3Fstack%3Dgpushare")
    sent = {tag["name"]: tag["value"] for tag in page.tags_of("input") if tag.get("type") == "hidden"}
    assert sent["next"] == "/nodes?stack=gpushare"
    assert [tag["action"] for tag in page.tags_of("form")] == ["/account/theme"] * 3
    answer = viewer.post("/account/theme", {"theme": "dark", "next": sent["next"]})
    assert answer.headers["Location"] == "/nodes?stack=gpushare"


@pytest.mark.parametrize("here", ["https://evil.example/x", "//evil.example/x", "javascript:alert(1)", "\\\\evil"])
def test_it_leads_back_to_no_other_site(fleet: Cluster, viewer: Client, here: str) -> None:
    page = get(viewer, f"/palette?q=dark&here={quote(here, safe='')}")
    [back] = {tag["value"] for tag in page.tags_of("input") if tag.get("name") == "next"}
    answer = viewer.post("/account/theme", {"theme": "dark", "next": back})
    assert "evil" not in urlsplit(answer.headers["Location"]).netloc
