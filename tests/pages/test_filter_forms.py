"""Filter forms: amounts of memory as people write them, and wrong values that are said where they stand."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from django.test import Client

from inventory.models import Cluster
from kube import quantity
from resources.filter_fields import typed_memory
from tests.factories import GIB, MIB, make_node
from tests.pages.reading import Page, get

FORMS = (
    "/nodes",
    "/cards",
    "/allocations",
    "/allocations/pending",
    "/allocations/idle",
    "/namespaces",
    "/findings",
    "/validations",
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("20", 20 * GIB),
        (" 20 ", 20 * GIB),
        ("7.5", 15 * GIB // 2),
        ("7,5", 15 * GIB // 2),
        ("20 GiB", 20 * GIB),
        ("20GiB", 20 * GIB),
        ("20gib", 20 * GIB),
        ("20 Gi", 20 * GIB),
        ("20Gi", 20 * GIB),
        ("20480 MiB", 20 * GIB),
        ("20480Mi", 20 * GIB),
        ("512 MiB", 512 * MIB),
        ("20G", 20 * 10**9),
        ("20 GB", 20 * 10**9),
        ("1 TiB", 1024 * GIB),
        ("0", 0),
        # Addresses of before, and of REST: nobody means that many GiB.
        ("8589934592", 8 * GIB),
        ("1048576 B", MIB),
    ],
)
def test_an_amount_is_understood_as_it_is_typed(text: str, size: int) -> None:
    assert quantity.size(typed_memory(text)) == size


@pytest.mark.parametrize(
    "text", ["", "GiB", "twenty", "-20", "20 GiBs", "20 Q", "1 2", "0x10", "١٢", "20 Gi B", "9" * 40]
)
def test_what_is_no_amount_stays_as_it_is(text: str) -> None:
    assert typed_memory(text) == text


@pytest.fixture
def roomy(cluster: Cluster) -> Cluster:
    """Cards with 80 GiB and with 15 GiB free."""
    make_node(cluster, "large", "nvidia", 1, loads=(0.0,))
    make_node(cluster, "small", "gpushare", 1, loads=(0.0,))
    return cluster


@pytest.mark.parametrize(("path", "name"), [("/cards", "min_free_bytes"), ("/nodes", "min_gap_bytes")])
@pytest.mark.parametrize("typed", ["20", "20 GiB", "20480 MiB", "20G"])
def test_the_form_finds_what_has_that_much_room(
    viewer: Client, roomy: Cluster, path: str, name: str, typed: str
) -> None:
    answer = viewer.get(f"{path}?{name}={quote(typed)}", follow=True)
    # The address then says in REST's words what was taken.
    assert quantity.size(dict(answer.wsgi_request.GET.items())[name]) in (20 * GIB, 20 * 10**9)
    page = get(viewer, answer.wsgi_request.get_full_path())
    assert [row[0].split(" ")[0] for row in page.rows] == ["large"]


def test_rest_takes_a_plain_number_as_bytes_and_says_so(api: Client, roomy: Cluster) -> None:
    response = api.get("/api/v1/cards?min_free_bytes=20")
    assert len(response.json()["results"]) == 2
    assert response.headers["Filter-Bytes"] == "min_free_bytes=20"
    assert api.get("/api/v1/cards?min_free_bytes=20Gi").headers["Filter-Bytes"] == f"min_free_bytes={20 * GIB}"
    assert "Filter-Bytes" not in api.get("/api/v1/cards").headers
    refused = api.get("/api/v1/cards?min_free_bytes=twenty")
    assert refused.status_code == 400
    assert "a plain number is bytes" in refused.content.decode()


@pytest.mark.parametrize("typed", ["20Gi", "20 GiB", "20gib", "20480 MiB"])
def test_rest_takes_units_as_people_write_them(api: Client, roomy: Cluster, typed: str) -> None:
    response = api.get("/api/v1/cards", {"min_free_bytes": typed})
    assert response.headers["Filter-Bytes"] == f"min_free_bytes={20 * GIB}"
    assert len(response.json()["results"]) == 1


def wrong_at(page: Page, name: str) -> bool:
    """Whether the field says that it is wrong."""
    fields = [*page.tags_of("input"), *page.tags_of("select")]
    return any(field.get("name") == name and field.get("aria-describedby") == f"wrong-{name}" for field in fields)


def test_a_wrong_amount_is_said_at_its_field_and_nothing_typed_is_lost(viewer: Client, roomy: Cluster) -> None:
    page = get(viewer, "/cards?q=large&stack=nvidia&min_free_bytes=twenty&ordering=-model&page_size=7", 400)
    assert wrong_at(page, "min_free_bytes")
    assert not wrong_at(page, "q")
    values = {tag["name"]: tag.get("value") for tag in page.tags_of("input") if "name" in tag}
    assert (values["q"], values["min_free_bytes"]) == ("large", "twenty")
    assert (values["ordering"], values["page_size"]) == ("-model", "7")
    assert {"value": "nvidia", "selected": ""} in page.tags_of("option")
    assert "Got: 'twenty'" in page.text
    assert page.rows == []
    assert "the list is not shown" in page.text


@pytest.mark.parametrize("path", FORMS)
def test_each_form_keeps_its_fields_and_shows_no_list(viewer: Client, roomy: Cluster, path: str) -> None:
    good = get(viewer, path)
    names = {tag["name"] for tag in [*good.tags_of("input"), *good.tags_of("select")] if "name" in tag}
    names -= {"target"}  # a row of the list that is not shown
    page = get(viewer, f"{path}?q=%00", 400)
    assert wrong_at(page, "q")
    assert names <= {tag["name"] for tag in [*page.tags_of("input"), *page.tags_of("select")] if "name" in tag}
    assert page.rows == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/cards", "state"),
        ("/cards", "cluster"),
        ("/nodes", "ready"),
        ("/findings", "severity"),
        ("/findings", "ended"),
    ],
)
def test_a_wrong_choice_stands_in_its_select(viewer: Client, roomy: Cluster, path: str, name: str) -> None:
    page = get(viewer, f"{path}?{name}=bogus", 400)
    assert wrong_at(page, name)
    assert {"value": "bogus", "selected": ""} in page.tags_of("option")


def test_a_refresh_of_a_refused_page_is_no_outage(viewer: Client, roomy: Cluster) -> None:
    assert viewer.get("/cards?state=bogus", headers={"HX-Request": "true"}).status_code == 200


def test_the_csv_of_a_wrong_filter_is_refused_not_unfiltered(viewer: Client, roomy: Cluster) -> None:
    assert viewer.get("/cards?min_free_bytes=twenty&format=csv").status_code == 400
