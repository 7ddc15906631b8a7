"""Find room: the page and REST."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from inventory.models import Card, Cluster
from tests.factories import GIB, make_node
from tests.inventory.placement.finder.test_finder import TAINT, say
from tests.pages.reading import get


@pytest.fixture
def roomy(cluster: Cluster) -> Cluster:
    """Two whole cards free; parts of cards; a node whose taint keeps pods off."""
    make_node(cluster, "large", "nvidia", 4, loads=(0.0, 1.0))
    make_node(cluster, "small", "gpushare", 2, loads=(0.0, 0.4))
    make_node(cluster, "kept", "nvidia", 4, loads=(0.0,))
    say("kept", spec={"taints": [TAINT]})
    return cluster


def test_it_is_one_click_from_the_overview(viewer: Client, roomy: Cluster) -> None:
    assert 'action="/fit"' in get(viewer, "/").html


def test_the_page_says_which_nodes_and_cards_take_it_and_why_the_others_do_not(viewer: Client, roomy: Cluster) -> None:
    page = get(viewer, "/fit?cards=2&memory=20")
    assert "1 of 3 nodes fit 2 × 20 GiB now" in page.text
    [row] = page.rows
    assert row[0].startswith("large NVIDIA device plugin, whole cards")
    assert row[5] == "nvidia.com/gpu: 2"
    free = Card.objects.filter(node_name="large", state="free")
    assert {f"/cards/{card.pk}" for card in free} <= set(page.links)
    assert "1 a pod can get a part of one card only" in page.text
    assert "1 taint not tolerated: nvidia.com/gpu=present:NoSchedule" in page.text
    [tolerate] = [link for link in page.links if "tolerate=" in link]
    assert "2 of 3 nodes fit" in get(viewer, tolerate).text


def test_all_nodes_are_listed_when_asked(viewer: Client, cluster: Cluster) -> None:
    for number in range(23):
        make_node(cluster, f"n{number:02}", "nvidia", 1, loads=(0.0,))
    page = get(viewer, "/fit")
    assert len(page.rows) == 20
    assert "/fit?all=1" in page.links
    assert len(get(viewer, "/fit?all=1").rows) == 23


def test_every_node_that_refuses_is_named_with_its_reason(viewer: Client, roomy: Cluster) -> None:
    rows = get(viewer, "/fit?cards=2&memory=20&all=1").rows
    assert [(row[0], row[1]) for row in rows[1:]] == [
        ("kept", "taint not tolerated: nvidia.com/gpu=present:NoSchedule"),
        ("small", "a pod can get a part of one card only"),
    ]


def test_a_wrong_value_is_said_at_its_field_and_nothing_typed_is_lost(viewer: Client, roomy: Cluster) -> None:
    page = get(viewer, "/fit?cards=many&memory=20", 400)
    fields = {tag["name"]: tag for tag in page.tags_of("input") if "name" in tag}
    assert fields["cards"]["aria-describedby"] == "wrong-cards"
    assert (fields["cards"]["value"], fields["memory"]["value"]) == ("many", "20")
    assert page.rows == []
    assert viewer.get("/fit?cord=1").status_code == 400


def ask(api: Client, query: str) -> Any:
    return api.get(f"/api/v1/fit?{query}").json()


def test_rest_has_the_same_answer(api: Client, roomy: Cluster) -> None:
    found = ask(api, "cards=2&memory=20")
    assert found["request"] | {"clusters": []} == {
        "cards": 2,
        "memory_bytes": 20 * GIB,
        "stacks": [],
        "models": [],
        "tolerations": [],
        "selector": {},
        "clusters": [],
    }
    assert (found["nodes"], found["nodes_fitting"]) == (3, 1)
    [node] = found["fitting"]
    assert (node["node"], node["stack"], node["limits"]) == ("large", "nvidia", {"nvidia.com/gpu": 2})
    assert [card["memory_total_bytes"] for card in node["cards"]] == [80 * GIB] * 2
    assert {(one["code"], one["about"], one["nodes"]) for one in found["reasons"]} == {
        ("one-card", None, 1),
        ("taint", "nvidia.com/gpu=present:NoSchedule", 1),
    }
    assert {one["node"] for one in found["refusing"]} == {"small", "kept"}
    assert [one["name"] for one in found["stacks"]] == ["nvidia"]


def test_rest_chooses_the_system_and_the_number_of_nodes(api: Client, roomy: Cluster) -> None:
    found = ask(api, "memory=4&stack=gpushare&limit=0")
    assert (found["nodes_fitting"], found["fitting"], found["refusing"]) == (1, [], [])
    [node] = ask(api, "memory=4&stack=gpushare")["fitting"]
    # The scheduler extender takes the card with the least free memory first.
    assert [card["index"] for card in node["cards"]] == [1, 0]
    assert node["limits"] == {"aliyun.com/gpu-mem": 4}


@pytest.mark.parametrize("query", ["cards=0", "memory=much", "stack=abacus", "colour=red", "limit=-1", "cluster=x"])
def test_rest_refuses_what_makes_no_sense(api: Client, roomy: Cluster, query: str) -> None:
    answer = api.get(f"/api/v1/fit?{query}")
    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["errors"]] == [query.partition("=")[0]]
