"""CSV of the lists: the same rows, all of them, harmless to a spreadsheet."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client

from inventory.models import Cluster, Pod
from resources.csv_export import harmless
from tests.factories import GIB, make_finding, make_fleet, make_node, make_pending_pod


def table(response: Any) -> list[dict[str, str]]:
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(b"".join(response).decode())))


def rows(client: Client, path: str, **query: Any) -> list[dict[str, str]]:
    return table(client.get(f"/api/v1/{path}", query | {"format": "csv"}))


@pytest.mark.parametrize(
    "path", ["clusters", "nodes", "cards", "allocations", "pods", "findings", "components", "component-changes"]
)
def test_every_list_has_its_csv(fleet: Cluster, api: Client, path: str) -> None:
    found = api.get(f"/api/v1/{path}?page_size=1000").json()["results"]
    assert len(rows(api, path)) == len(found) > 0


def test_it_is_all_rows_and_not_a_page(cluster: Cluster, api: Client) -> None:
    make_fleet(cluster, nodes=40)
    assert len(rows(api, "cards")) == 320
    assert len(rows(api, "cards", page_size=5)) == 320


def test_filters_and_order_hold(fleet: Cluster, api: Client) -> None:
    found = rows(api, "cards", min_free_bytes="1Gi", ordering="-memory_free_bytes")
    free = [int(row["memory_free_bytes"]) for row in found]
    assert free == sorted(free, reverse=True)
    assert min(free) >= GIB
    assert api.get("/api/v1/cards?format=csv&nonsense=1").status_code == 400


def test_the_header_asks_for_it_as_well(fleet: Cluster, api: Client) -> None:
    response = api.get("/api/v1/nodes", headers={"Accept": "text/csv"})
    assert len(table(response)) == 7
    assert response.headers["Content-Disposition"] == 'attachment; filename="gpudash-nodes.csv"'


def test_bytes_are_whole_numbers_and_the_unknown_is_empty(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(0.4,))
    make_node(cluster, "b", "time-sliced", 1)
    known, unknown = rows(api, "nodes")
    assert (known["memory_total_bytes"], known["memory_allocated_bytes"]) == (str(15 * GIB), str(6 * GIB))
    assert unknown["memory_allocated_bytes"] == unknown["memory_free_bytes"] == ""
    assert (known["ready"], known["stacks"]) == ("true", "gpushare")


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@x",
        "\tx",
        "\rx",
        " =1",
        "=cmd|' /C calc'!A0",
        "\u00a0=1",
        "\uff1d1+1",
        "\u3000\uff0b1",
        "\ufeff@x",
        "\u200b-1",
        "\x0b=1",
        "\ufe631",
    ],
)
def test_a_formula_is_made_harmless(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "gpu-1", "a=b", "10.0.0.1", " a", "\u4e2d=1", "\u00a0"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


def test_names_that_a_stranger_chose_cannot_break_the_table(cluster: Cluster, api: Client) -> None:
    make_pending_pod(cluster)
    Pod.objects.update(pending_message='=HYPERLINK("http://evil","x"),\n"quoted"')
    (row,) = rows(api, "pods")
    assert row["pending_message"] == '\'=HYPERLINK("http://evil","x"),\n"quoted"'


def test_a_negative_number_stays_a_number(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "n")
    from inventory.models import NodeTotals

    NodeTotals.objects.update(memory_free_bytes=-GIB)
    assert rows(api, "nodes")[0]["memory_free_bytes"] == str(-GIB)


def test_findings_keep_their_text(cluster: Cluster, api: Client) -> None:
    finding = make_finding(cluster, node_name="n")
    assert rows(api, "findings")[0]["text"] == finding.text
