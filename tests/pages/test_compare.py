"""Two nodes or two cards side by side: only what differs; the choice of the second; what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.models import Card, Cluster, Component, Node, NodeTotals
from pages.sections.beside import Facts, differences
from tests.cast import signed_in
from tests.factories import make_cluster, make_finding, make_fleet, make_node
from tests.factories.usage import measure
from tests.pages.reading import Page, get
from tests.pages.validations.rows import make_run
from tests.scopes.world import scoped_user
from validations.compared import apart

DIGEST = "sha256:" + "0123456789abcdef" * 4
NODES = "/nodes/compare?a=prod/left&b=prod/right"


@pytest.fixture
def two(cluster: Cluster) -> Cluster:
    """left and right: alike but for what the tests change."""
    for name in ("left", "right"):
        make_node(cluster, name, "gpushare", 2, loads=(0.0,))
    return cluster


def change(name: str, labels: dict[str, str] | None = None, taints: Any = (), **columns: Any) -> None:
    """Of a node, as its watcher would."""
    row = Node.objects.get(name=name)
    facts = json.loads(row.facts)
    facts["metadata"]["labels"] |= labels or {}
    facts["spec"] = {"taints": list(taints)}
    Node.objects.filter(pk=row.pk).update(facts=json.dumps(facts), **columns)


def told(page: Page) -> dict[str, list[str]]:
    """Row → its two values."""
    return {row[0]: row[1:] for row in page.rows if len(row) == 3}


def test_of_two_nodes_that_are_alike_nothing_is_told(viewer: Client, two: Cluster) -> None:
    page = get(viewer, NODES)
    assert "No known differences." in page.text
    assert "Unchanged: status" in page.text
    assert told(page) == {}


def test_only_what_differs_of_two_nodes_is_told(viewer: Client, two: Cluster) -> None:
    change("left", driver_version="535.1", kernel="5.15", unschedulable=True)
    change(
        "right",
        labels={"team": "llm", "image": DIGEST},
        taints=[{"key": "dedicated", "value": "llm", "effect": "NoSchedule"}],
        driver_version="550.2",
        kernel="5.15",
    )
    make_finding(two, "units-mixed", "warning", "right")
    make_finding(two, "card-over-committed", "error", "right", "1")
    Card.objects.filter(node_name="right", index=0).update(profile="1g.5gb")
    made = {"cluster": two, "name": "device-plugin", "state_since": timezone.now(), "digest": 0}
    Component.objects.create(node_name="left", state="ready", version="0.17.1", **made)
    Component.objects.create(node_name="right", state="missing", **made)
    page = get(viewer, NODES)
    rows = told(page)
    assert rows["Status"] == ["! cordoned", "✓ ready"]
    assert rows["Driver"] == ["535.1", "550.2"]
    assert rows["dedicated"] == ["–", "llm:NoSchedule"]
    assert rows["team"] == ["–", "llm"]
    assert rows["1g.5gb"] == ["–", "1"]
    assert rows["Device plugin"] == ["✓ ready 0.17.1", "✕ missing"]
    assert rows["Card overcommitted"] == ["–", "✕ card 1"]
    assert "Kernel" not in rows
    assert "kernel" in page.text.partition("Unchanged:")[2]
    headings = [row[0] for row in page.rows if len(row) == 1]
    assert headings == ["Slices", "Components", "Findings", "Taints", "Labels"]


def test_a_long_id_is_cut_in_the_middle_and_copied_whole(viewer: Client, two: Cluster) -> None:
    change("right", labels={"image": DIGEST})
    page = get(viewer, NODES)
    assert told(page)["image"] == ["–", f"{DIGEST[:29]}…{DIGEST[-10:]}"]
    assert DIGEST in [tag.get("data-copy") for tag in page.tags_of("button")]


def test_only_what_differs_of_two_cards_is_told(viewer: Client, two: Cluster) -> None:
    left, right = (Card.objects.get(node_name=name, index=0) for name in ("left", "right"))
    Card.objects.filter(pk=right.pk).update(model="Tesla V100", memory_total_bytes=31 * 2**30)
    numbers = {"time": (10.0, "ms")}
    make_run(two, node="left", card=left, measurements=numbers)
    make_run(two, node="right", card=right, verdict="failed", measurements={"time": (30.0, "ms")})
    make_run(two, node="right", card=right, suite="cuda-nbody")
    measure(left, temperature_celsius=40.0)
    measure(right, temperature_celsius=71.0)
    page = get(viewer, f"/cards/compare?a={left.pk}&b={right.pk}")
    rows = told(page)
    assert rows["Card model"] == ["Tesla-T4", "Tesla V100"]
    assert rows["Memory"] == ["15 GiB", "31 GiB"]
    assert rows["CUDA vectorAdd"] == ["✓ passed", "✕ failed"]
    assert rows["CUDA n-body"][0] == "–"
    assert rows["CUDA vectorAdd · time"] == ["10.00 ms", "30.00 ms 200 % slower"]
    assert rows["Temperature"] == ["40 °C", "71 °C"]
    assert "Memory used" not in rows
    assert f"/cards/compare?a={right.pk}&b={left.pk}" in [link.replace("&amp;", "&") for link in page.links]


def test_the_choice_has_the_nearest_first_and_finds_by_name(viewer: Client, two: Cluster) -> None:
    make_node(two, "another", "nvidia", 2)
    page = get(viewer, "/nodes/compare?a=prod/left")
    assert [row[0].split(",")[0] for row in page.rows] == ["Same pool", "right", "Other nodes", "another"]
    assert "/nodes/compare?a=prod/left&b=prod/right" in page.links
    found = get(viewer, "/nodes/compare?a=prod/left&q=anoth")
    assert [row[0].split(",")[0] for row in found.rows] == ["Other nodes", "another"]
    assert "Nothing found" in get(viewer, "/nodes/compare?a=prod/left&q=nope").text
    left = Card.objects.get(node_name="left", index=0)
    cards = [row[0].split(",")[0] for row in get(viewer, f"/cards/compare?b={left.pk}").rows]
    assert cards[:4] == ["Same node", "left card 1", "Same model", "right card 0"]
    other = Card.objects.get(node_name="right", index=0)
    assert f"/cards/compare?a={other.pk}&b={left.pk}" in get(viewer, f"/cards/compare?b={left.pk}").links


def test_the_pages_of_a_node_and_a_card_lead_to_the_choice(viewer: Client, two: Cluster) -> None:
    card = Card.objects.get(node_name="left", index=0)
    assert "/nodes/compare?a=prod/left" in get(viewer, "/nodes/prod/left").links
    assert f"/cards/compare?a={card.pk}" in get(viewer, f"/cards/{card.pk}").links


def test_two_ticked_rows_are_compared(viewer: Client, two: Cluster) -> None:
    answer: Any = viewer.get("/nodes/compare?target=prod/left&target=prod/right")
    assert answer["Location"] == "/nodes/compare?a=prod/left&b=prod/right"
    assert "Select exactly two rows." in get(viewer, "/nodes/compare?target=prod/left", 400).text
    ticked: Any = viewer.get("/cards/compare?target=prod/left+0&target=prod/right+1", follow=True)
    assert ticked.status_code == 200


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/nodes/compare", 400, "Must be a node: “cluster/node”."),
        ("/nodes/compare?a=left", 400, "Must be a node: “cluster/node”."),
        ("/nodes/compare?a=prod/left&b=prod/left", 400, "Must be another node than a."),
        ("/nodes/compare?a=prod/left&b=prod/rihgt", 404, "No GPU node rihgt in cluster prod."),
        ("/nodes/compare?a=nope/left", 404, "Unknown cluster: nope."),
        ("/nodes/compare?a=prod/%00", 400, "Must be a node"),
        ("/nodes/compare?a=" + "x/" * 4000, 400, "Must be a node"),
        ("/nodes/compare?a=prod/left&q=" + "x" * 600, 400, "At most 512 characters."),
        ("/nodes/compare?a=prod/<script>alert(1)</script>", 404, "No GPU node <script>"),
        ("/cards/compare?a=none", 400, "Must be the number of a card."),
        ("/cards/compare?a=999999999999999999999", 400, "Must be the number of a card."),
        ("/cards/compare?a=99999999", 404, "No card has this number."),
        ("/cards/compare?a=%E0%A5%AA", 400, "Must be the number of a card."),
    ],
)
def test_what_makes_no_sense_is_said(viewer: Client, two: Cluster, path: str, status: int, text: str) -> None:
    page = get(viewer, path, status)
    assert text in page.text
    assert "<script>alert" not in page.html


def test_a_node_out_of_scope_is_not_there(two: Cluster) -> None:
    make_node(make_cluster("secret"), "theirs", "gpushare", 2)
    nora = signed_in(scoped_user("nora", "prod"))
    assert "Unknown cluster: secret." in get(nora, "/nodes/compare?a=prod/left&b=secret/theirs", 404).text
    assert "theirs" not in get(nora, "/nodes/compare?a=prod/left").text
    theirs = Card.objects.filter(node_name="theirs")[0]
    assert "No card has this number." in get(nora, f"/cards/compare?a={theirs.pk}", 404).text


def test_the_number_of_queries_does_not_grow(viewer: Client) -> None:
    def counts(nodes: int) -> list[int]:
        cluster = make_cluster("prod")
        make_fleet(cluster, nodes=nodes, cards=4)
        first, second = (Card.objects.filter(node_name=f"gpu-0000{number}")[0] for number in range(2))
        found = []
        for path in (
            "/nodes/compare?a=prod/gpu-00000&b=prod/gpu-00001",
            "/nodes/compare?a=prod/gpu-00000",
            f"/cards/compare?a={first.pk}&b={second.pk}",
            f"/cards/compare?a={first.pk}",
        ):
            viewer.get(path)
            with CaptureQueriesContext(connection) as queries:
                assert viewer.get(path).status_code == 200
            found.append(len(queries))
        cluster.delete()
        return found

    small, large = counts(12), counts(80)
    # Fewer is well: where the nearest are enough the others are not asked for.
    assert [more for few, more in zip(small, large, strict=True) if more > few] == []
    assert max(small) <= 20


def test_what_is_not_known_of_one_is_no_difference() -> None:
    old, new = Facts(), Facts()
    old.put("driver_version", "535.1")
    new.put("driver_version", "")
    new.put("label team", "llm")
    found = differences(apart(old.known, new.known, []), old, new)
    assert found.unknown == ["Driver"]
    assert [(row.name, row.item, row.group, row.short) for row in found.changed] == [
        ("Label team", '<span translate="no">team</span>', "Labels", "– → llm")
    ]


def test_a_node_with_strange_labels_has_its_page(viewer: Client, two: Cluster) -> None:
    Node.objects.filter(name="left").update(facts="{broken")
    NodeTotals.objects.filter(node_name="left").update(stacks=["<b>"], pool="\u202eevil")
    assert get(viewer, NODES).status == 200
