"""Find capacity: the page with the pod to copy and the closest nodes, and REST."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Card, Cluster
from tests.factories import GIB, make_node
from tests.inventory.placement.finder.test_finder import TAINT, say
from tests.pages.reading import Page, get


@pytest.fixture
def roomy(cluster: Cluster) -> Cluster:
    """Two whole cards free; parts of cards; a node whose taint keeps pods off."""
    make_node(cluster, "large", "nvidia", 4, loads=(0.0, 1.0))
    make_node(cluster, "small", "gpushare", 2, loads=(0.0, 0.4))
    make_node(cluster, "kept", "nvidia", 4, loads=(0.0,))
    say("kept", spec={"taints": [TAINT]})
    return cluster


def test_it_is_one_click_from_the_overview(viewer: Client, roomy: Cluster) -> None:
    assert "/fit" in get(viewer, "/").links


def test_the_page_says_which_nodes_and_cards_take_it_and_why_the_others_do_not(viewer: Client, roomy: Cluster) -> None:
    page = get(viewer, "/fit?cards=2&memory=20")
    assert "1 of 3 nodes fit 2 × 20 GiB now" in page.text
    [row] = page.tables["Fitting nodes"]
    assert row[0].startswith("large ")
    assert "NVIDIA device plugin, whole cards" in row[0]
    assert row[4] == "nvidia.com/gpu: 2"
    free = Card.objects.filter(node_name="large", state="free")
    assert {f"/cards/{card.pk}" for card in free} <= set(page.links)
    assert sorted(row[:3] for row in page.tables["Rejected nodes by reason"]) == [
        ["1", "a pod can get a part of one card only", "small"],
        ["1", "taint not tolerated: nvidia.com/gpu=present:NoSchedule", "kept"],
    ]
    [tolerate] = [link for link in page.links if "tolerate=" in link]
    assert "2 of 3 nodes fit" in get(viewer, tolerate).text


def test_all_nodes_are_listed_when_asked(viewer: Client, cluster: Cluster) -> None:
    for number in range(23):
        make_node(cluster, f"n{number:02}", "nvidia", 1, loads=(0.0,))
    page = get(viewer, "/fit")
    assert len(page.tables["Fitting nodes"]) == 20
    assert "/fit?all=1" in page.links
    assert len(get(viewer, "/fit?all=1").tables["Fitting nodes"]) == 23


def test_every_node_that_refuses_is_named_with_its_reason(viewer: Client, roomy: Cluster) -> None:
    rows = get(viewer, "/fit?cards=2&memory=20&all=1").tables["Rejected nodes"]
    assert [(row[0], row[1]) for row in rows] == [
        ("kept", "taint not tolerated: nvidia.com/gpu=present:NoSchedule"),
        ("small", "a pod can get a part of one card only"),
    ]


def manifest(page: Page) -> str:
    """What the copy button of the pod copies."""
    [button] = [tag for tag in page.tags_of("button") if tag.get("aria-label") == "Copy: YAML"]
    return button["data-copy"]


def test_the_pod_of_the_first_node_is_there_to_copy(viewer: Client, roomy: Cluster) -> None:
    page = get(viewer, "/fit?cards=2&memory=20")
    assert "Pod for large" in page.text
    pod = yaml.safe_load(manifest(page))
    assert pod["spec"]["nodeSelector"] == {"kubernetes.io/hostname": "large"}
    [container] = pod["spec"]["containers"]
    assert container["resources"] == {"limits": {"nvidia.com/gpu": 2}}
    assert container["image"] == "IMAGE"


def test_a_pod_is_written_for_the_node_that_is_chosen(viewer: Client, roomy: Cluster) -> None:
    path = "/fit?cards=2&memory=20&tolerate=nvidia.com/gpu"
    page = get(viewer, path)
    assert "kubernetes.io/hostname: large" in manifest(page)
    [other] = [link for link in page.links if link.endswith("node=prod/kept#pod") or "node=prod%2Fkept" in link]
    chosen = get(viewer, other)
    assert "Pod for kept" in chosen.text
    pod = yaml.safe_load(manifest(chosen))
    assert pod["spec"]["nodeSelector"] == {"kubernetes.io/hostname": "kept"}
    assert pod["spec"]["tolerations"]
    assert [tag["href"] for tag in chosen.tags_of("a") if tag.get("aria-current") == "true" and "pod" in tag["href"]]
    # One that does not fit any more, or that somebody made up, is not chosen.
    assert "Pod for large" in get(viewer, f"{path}&node=prod/gone").text


def test_cpu_and_host_memory_are_asked_of_the_node_too(viewer: Client, roomy: Cluster) -> None:
    page = get(viewer, "/fit?cards=2&memory=20&cpu=8&host_memory=64")
    assert "fit 2 × 20 GiB now · 8 CPU · 64 GiB host memory" in page.text
    [row] = page.tables["Fitting nodes"]
    # Each pod of a card requests 1.5 CPU and 4 GiB. Other pods are not synced, so there may be less.
    assert row[4:6] == ["≤ 93", "≤ 760"]
    [container] = yaml.safe_load(manifest(page))["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "8", "memory": "64Gi"}
    none = get(viewer, "/fit?cards=2&memory=20&cpu=95")
    assert "No fitting node found for 2 × 20 GiB (3 checked) · 95 CPU" in none.text
    assert "too little free CPU" in none.text
    assert "Pod for" not in none.text


def test_columns_of_the_node_itself_are_there_only_where_they_are_asked_for(viewer: Client, roomy: Cluster) -> None:
    assert "Free CPU" not in get(viewer, "/fit?cards=2").text
    page = get(viewer, "/fit?cards=2&cpu=8")
    assert ("Free CPU" in page.text, "Free host memory" in page.text) == (True, False)


def test_which_pods_block_a_node_of_eight_cards(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "lacks-one", "nvidia", 8, loads=(1.0, *(0.0,) * 7))
    make_node(cluster, "lacks-two", "nvidia", 8, loads=(1.0, 1.0, *(0.0,) * 6))
    page = get(viewer, "/fit?cards=8")
    near = page.tables["Closest nodes"]
    assert [row[:2] for row in near] == [["lacks-one", "1"], ["lacks-two", "2"]]
    assert near[0][2] == "train-lacks-one-0-0"
    assert "/pods/prod/default/train-lacks-one-0-0" in page.links
    make_node(cluster, "roomy", "nvidia", 8, loads=(0.0,))
    assert "Closest nodes" not in get(viewer, "/fit?cards=8").tables


def test_what_is_behind_more_is_seen_when_it_is_set_and_can_be_taken_away(viewer: Client, roomy: Cluster) -> None:
    page = get(viewer, "/fit?cards=2&tolerate=nvidia.com/gpu&selector=topology.kubernetes.io/zone=zone-a")
    [away] = [link for link in page.links if "tolerate" not in link and "selector=" in link and "cards=2" in link]
    assert "Tolerated taints: nvidia.com/gpu" in page.text
    assert "Tolerated taints: nvidia.com/gpu" not in get(viewer, away).text


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
        "cpu_millis": None,
        "host_memory_bytes": None,
        "stacks": [],
        "models": [],
        "tolerations": [],
        "selector": {},
        "clusters": [],
    }
    assert (found["nodes"], found["nodes_fitting"]) == (3, 1)
    [node] = found["fitting"]
    assert (node["node"], node["stack"], node["limits"]) == ("large", "nvidia", {"nvidia.com/gpu": 2})
    assert (node["cpu_free_millis"], node["host_memory_free_bytes"]) == (96_000 - 2 * 1500, (768 - 8) * GIB)
    assert "kubernetes.io/hostname: large" in node["manifest"]
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


@pytest.fixture
def fragmented(cluster: Cluster) -> Cluster:
    """Two nodes with one free card each: moving one pod frees a node."""
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 0.0))
    make_node(cluster, "b", "nvidia", 2, loads=(1.0, 0.0))
    return cluster


def test_the_cheapest_moves_are_planned_when_asked(viewer: Client, fragmented: Cluster) -> None:
    page = get(viewer, "/fit?cards=2")
    assert "Moves" not in page.tables
    [plan] = [link for link in page.links if "moves=fit" in link]
    page = get(viewer, plan)
    assert "1 pod to move from a" in page.text
    [row] = page.tables["Moves"]
    assert (row[0], row[4]) == ("train-a-0-0", "b")
    [button] = [tag for tag in page.tags_of("button") if tag.get("aria-label") == "Copy: plan"]
    assert all(line.startswith("#") for line in button["data-copy"].splitlines())
    assert "1 pod to move from a" in get(viewer, "/fit?moves=node").text


def test_a_plan_reads_pods_and_what_the_finder_has_read_not_again(viewer: Client, fragmented: Cluster) -> None:
    counts = []
    for address in ("/fit?cards=4", "/fit?cards=4&moves=node"):
        get(viewer, address)
        with CaptureQueriesContext(connection) as queries:
            get(viewer, address)
        counts.append(len(queries))
    assert counts[1] - counts[0] <= 2


def test_rest_plans_moves(viewer: Client, fragmented: Cluster) -> None:
    found = viewer.get("/api/v1/fit/moves?cards=2").json()
    assert (found["node"], found["pods"], found["exact"], found["moves"][0]["to"]) == ("a", 1, True, "b")
    assert viewer.get("/api/v1/fit/moves?whole_node=true").json()["node"] == "a"
    assert viewer.get("/api/v1/fit/moves?whole_node=perhaps").status_code == 400
