"""Columns to choose: the address says which, the declaration what there is, and CSV has the same."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.test import Client

from inventory.models import Card, Cluster
from resources.card import CARDS
from resources.node import NODES
from tests.database import RowsOfModule
from tests.factories import make_cluster, make_finding, make_fleet, make_pending_pod
from tests.pages.reading import Page, get
from tests.pages.validations.rows import make_run, reason
from validations.models import Campaign, CampaignTarget

LISTS = (
    "/nodes",
    "/cards",
    "/allocations",
    "/allocations/pending",
    "/allocations/idle",
    "/namespaces",
    "/findings?group=none",
    "/validations",
    "/validations/campaigns",
    "/validations/campaigns/000000000000001/targets",
    "/policies",
    "/policies/cards",
    "/out-of-service",
    "/out-of-service/cases",
    "/users",
    "/audit",
)


@pytest.fixture(scope="module")
def fleet(rows_of_module: RowsOfModule) -> Cluster:
    """A cluster with one node of each trait."""
    with rows_of_module():
        cluster = make_cluster("prod")
        make_fleet(cluster, nodes=7)
        return cluster


def heads(page: Page) -> list[str]:
    found = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', page.html, re.DOTALL)
    return [re.sub(r"<button.*?</button>|<[^>]+>|[▲▼]", "", head, flags=re.DOTALL).strip() for head in found]


def boxes(page: Page) -> dict[str, bool]:
    """Name → whether it is ticked, of the menu."""
    return {
        tag["value"]: "checked" in tag
        for tag in page.tags_of("input")
        if tag.get("name") == "columns" and tag["type"] == "checkbox"
    }


def test_a_list_shows_the_columns_that_the_address_names_in_the_order_of_the_declaration(
    viewer: Client, fleet: Cluster
) -> None:
    page = get(viewer, "/nodes?columns=name,pool,cards_total")
    assert heads(page) == ["Node", "Pool", "Cards"]
    assert {name for name, ticked in boxes(page).items() if ticked} == {"name", "pool", "cards_total"}
    assert set(boxes(page)) == set(NODES.columns)


def test_the_column_that_says_which_row_it_is_cannot_be_left_out(viewer: Client, fleet: Cluster) -> None:
    response = viewer.get("/nodes?columns=pool")
    assert response.headers["Location"] == "/nodes?columns=name%2Cpool"
    page = get(viewer, "/nodes?columns=name%2Cpool")
    assert heads(page) == ["Node", "Pool"]
    [fixed] = [tag for tag in page.tags_of("input") if tag.get("value") == "name" and tag["type"] == "checkbox"]
    assert "disabled" in fixed


def test_what_the_form_sends_becomes_one_short_parameter(viewer: Client, fleet: Cluster) -> None:
    form = "q=gpu&columns=pool&columns=name&columns=cards_total"
    assert viewer.get(f"/nodes?{form}").headers["Location"] == "/nodes?q=gpu&columns=name%2Cpool%2Ccards_total"


def test_the_usual_columns_need_no_word_in_the_address(viewer: Client, fleet: Cluster) -> None:
    form = "&".join(f"columns={name}" for name in NODES.table)
    assert viewer.get(f"/nodes?{form}").headers["Location"] == "/nodes"
    assert viewer.get("/nodes?columns=").headers["Location"] == "/nodes"


@pytest.fixture
def campaign(fleet: Cluster, db: None) -> Campaign:
    """One target that ran, one that no run took, one that has not begun."""
    made = Campaign.objects.create(suite="cuda-vectoradd", pk="000000000000001")
    wrong = [reason("verification", "The card gave a wrong result.")]
    runs = [make_run(fleet, verdict="failed", reasons=wrong), make_run(fleet, node="gpu-2"), None]
    for position, run in enumerate(runs):
        place = {"cluster": fleet, "node_name": f"gpu-{position}"}
        CampaignTarget.objects.create(campaign=made, position=position, run=run, **place)
    return made


@pytest.mark.parametrize("path", LISTS)
def test_a_column_that_is_none_is_named(admin: Client, campaign: Campaign, path: str) -> None:
    for more in ("", "&format=csv"):
        page = get(admin, f"{path}{'&' if '?' in path else '?'}columns=colour,nonsense{more}", status=400)
        assert "Unknown column: 'colour', 'nonsense'. Valid columns: " in page.text


@pytest.mark.parametrize("path", LISTS)
def test_every_column_can_be_shown_on_every_list(admin: Client, fleet: Cluster, campaign: Campaign, path: str) -> None:
    make_finding(fleet, "units-mixed", "warning")
    make_pending_pod(fleet, "waits")
    names = list(boxes(get(admin, path)))
    page = get(admin, f"{path}{'&' if '?' in path else '?'}columns={','.join(names)}")
    assert all(boxes(page).values())
    if page.rows:
        assert len(heads(page)) == len(names)
        assert {len(row) for row in page.rows if len(row) != len(names)} <= {5}  # the groups of the idle page
    assert "object at 0x" not in page.html
    assert "[&#x27;" not in page.html


def test_sorting_filtering_and_the_refresh_keep_the_columns(viewer: Client, fleet: Cluster) -> None:
    page = get(viewer, "/nodes?columns=name%2Cpool")
    assert any("ordering=" in link and "columns=name%2Cpool" in link for link in page.links)
    hidden = [(tag["name"], tag["value"]) for tag in page.tags_of("input") if tag["type"] == "hidden" and "name" in tag]
    assert ("columns", "name,pool") in hidden
    assert 'data-here="/nodes?columns=name%2Cpool"' in page.html
    part = get(viewer, "/nodes?columns=name%2Cpool", **{"HX-Request": "true"})
    assert heads(part) == ["Node", "Pool"]
    none = get(viewer, "/nodes?columns=name%2Cpool&q=nosuchthing")
    assert "/nodes?columns=name%2Cpool" in none.links


def test_csv_of_a_list_has_the_columns_that_are_shown(viewer: Client, fleet: Cluster) -> None:
    page = get(viewer, "/cards?columns=node%2Cmodel%2Callocations")
    [link] = [link for link in page.links if "format=csv" in link]
    assert "columns=" in link
    rows = list(csv.DictReader(io.StringIO(b"".join(viewer.get(link)).decode())))  # type: ignore[call-overload]
    assert list(rows[0]) == ["cluster", "node", "model", "holders"]
    assert len(rows) == Card.objects.count()
    assert any("/" in row["holders"] for row in rows)


@pytest.mark.parametrize(
    ("path", "columns", "heads"),
    [
        ("/audit", "at,actor,kind,hash", ["at", "actor", "kind", "hash", "at_utc"]),
        ("/users", "name,scope,created_at", ["name", "scope", "created_at", "created_at_utc"]),
        (
            "/validations/campaigns/000000000000001/targets",
            "node,why,took",
            ["cluster", "node", "reason", "skipped", "not_tested", "started_at", "ended_at"],
        ),
    ],
)
def test_csv_of_administration_and_of_a_matrix_has_the_columns_that_are_shown(
    admin: Client, campaign: Campaign, path: str, columns: str, heads: list[str]
) -> None:
    [link] = [link for link in get(admin, f"{path}?columns={columns}").links if "format=csv" in link]
    rows = list(csv.reader(io.StringIO(b"".join(admin.get(link)).decode())))  # type: ignore[call-overload]
    assert rows[0][: len(heads)] == heads
    assert len(rows) > 1
    if "campaigns" in path:
        assert [row[:3] for row in rows[1:]] == [
            ["prod", "gpu-0", "verification"],
            ["prod", "gpu-1", ""],
            ["prod", "gpu-2", ""],
        ]


def test_without_a_choice_csv_has_all(viewer: Client, fleet: Cluster) -> None:
    text = b"".join(viewer.get("/cards?format=csv")).decode()  # type: ignore[call-overload]
    assert next(csv.reader(io.StringIO(text))) == CARDS.csv_heads


def test_of_another_time_only_what_is_kept_of_it_can_be_chosen(viewer: Client, fleet: Cluster) -> None:
    page = get(viewer, "/cards?from=24h&columns=node%2Cstack%2Cmodel")
    assert heads(page) == ["Card", "Model", "Stack"]
    assert "health" not in boxes(page)


def test_rest_knows_no_columns(api: Client, fleet: Cluster) -> None:
    assert api.get("/api/v1/nodes?columns=name").status_code == 400
