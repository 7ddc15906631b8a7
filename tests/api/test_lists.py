"""The lists and details of REST: what they say, page by page, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from inventory.models import Allocation, Card, Cluster, Node
from tests.factories import (
    GIB,
    end_allocation,
    lose_card,
    make_claim,
    make_claiming_pod,
    make_cluster,
    make_fleet,
    make_node,
    make_pending_pod,
    not_metered,
)

LISTS = (
    "clusters",
    "nodes",
    "cards",
    "allocations",
    "pods",
    "findings",
    "components",
    "component-changes",
    "node-changes",
    "tokens",
)


def get(client: Client, path: str, **query: Any) -> Any:
    response = client.get(f"/api/v1/{path}", query)
    assert response.status_code == 200, response.content
    assert response.headers["Content-Type"] == "application/json"
    return response.json()


def results(client: Client, path: str, **query: Any) -> list[Any]:
    found: list[Any] = get(client, path, **query)["results"]
    return found


def walk(client: Client, path: str, **query: Any) -> list[int]:
    """The ids of all pages, following `next`."""
    page = get(client, path, **query)
    seen = [row["id"] for row in page["results"]]
    while page["next"]:
        page = client.get(page["next"]).json()
        seen += [row["id"] for row in page["results"]]
    return seen


def test_a_card_carries_its_source_its_age_and_its_holders(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "n", "gpushare", 1, loads=(0.4,))
    (card,) = results(api, "cards")
    assert (card["memory_total_bytes"], card["memory_allocated_bytes"], card["memory_free_bytes"]) == (
        15 * GIB,
        6 * GIB,
        9 * GIB,
    )
    assert card["memory_source"] == "node total ÷ cards; unit by label aliyun.accelerator/nvidia_mem"
    assert card["changed_at"].endswith("Z")
    assert [held["memory_bytes"] for held in card["allocations"]] == [3 * GIB, 3 * GIB]
    assert {held["evidence"] for held in card["allocations"]} == {"annotation-v1"}
    assert card["uuid"] is None


def test_what_is_not_known_is_null_and_never_zero(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "n", "nvidia-count", 2, loads=(1.0,))
    for card in results(api, "cards"):
        assert (card["memory_allocated_bytes"], card["memory_free_bytes"], card["state"]) == (None, None, "unknown")
    (node,) = results(api, "nodes")
    assert (node["memory_allocated_bytes"], node["memory_free_bytes"], node["largest_gap_bytes"]) == (
        160 * GIB,
        0,
        None,
    )
    assert (node["cards_total"], node["cards_allocated"], node["unplaced_count"]) == (2, 2, 2)
    not_metered("n")
    totals = get(api, "summary")["totals"]
    assert totals["memory_allocated_bytes"] == {"value": None, "unknown_nodes": 1}


def test_a_node_has_its_cards_what_is_unplaced_and_its_findings(cluster: Cluster, api: Client) -> None:
    make_fleet(cluster, 1, 4, stacks=("nvidia-count",))
    node = get(api, "nodes/prod/gpu-00000")
    assert len(node["cards"]) == 4
    assert len(node["unplaced"]) == 3
    assert [finding["code"] for finding in node["findings"]] == ["card-over-committed"]


def test_a_node_whose_own_row_has_gone_says_so_with_null(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "n")
    Node.objects.all().delete()
    (node,) = results(api, "nodes")
    assert (node["ready"], node["kubelet"], node["cards_total"]) == (None, None, 8)


def test_a_gone_card_keeps_its_address_and_leaves_the_list(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "n", cards=2)
    card = Card.objects.order_by("id")[0]
    lose_card(card)
    assert [row["id"] for row in results(api, "cards")] == [card.pk + 1]
    assert get(api, f"cards/{card.pk}")["removed_at"] is not None


def test_history_is_asked_for_by_card(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "n", "nvidia", 1, loads=(1.0,))
    held = Allocation.objects.get()
    end_allocation(held)
    assert results(api, "allocations") == []
    (ended,) = results(api, "allocations", ended="true", card_id=held.card_id)
    assert ended["ended_at"] is not None
    assert get(api, f"cards/{held.card_id}")["allocations"] == []


def test_a_pod_names_its_claims_and_what_they_ask_for(cluster: Cluster, api: Client) -> None:
    exactly = {
        "deviceClassName": "mig.nvidia.com",
        "allocationMode": "ExactCount",
        "count": 1,
        "selectors": [{"cel": {"expression": "device.attributes['gpu.nvidia.com'].profile == '3g.40gb'"}}],
        "capacity": {"requests": {"memory": "6Gi"}},
    }
    make_claim(cluster, "serve-gpu-p0q9x", request={"exactly": exactly})
    make_claiming_pod(cluster, claim="serve-gpu-p0q9x", template="mig-3g")
    (pod,) = results(api, "pods", pending="true")
    request = {
        "request": "gpu",
        "device_class": "mig.nvidia.com",
        "count": 1,
        "admin": False,
        "selectors": ["device.attributes['gpu.nvidia.com'].profile == '3g.40gb'"],
        "capacity": {"memory": "6Gi"},
        "alternative_to": None,
    }
    assert pod["claims"] == [
        {
            "name": "gpu",
            "claim": "serve-gpu-p0q9x",
            "template": "mig-3g",
            "state": "pending",
            "node": None,
            "requests": [request],
        }
    ]
    csv = b"".join(api.get("/api/v1/pods", {"format": "csv"}).streaming_content).decode().splitlines()
    assert "mig.nvidia.com: 1, profile == '3g.40gb', memory 6Gi" in csv[1]


def test_a_claim_that_is_not_mirrored_asks_for_nothing_known(cluster: Cluster, api: Client) -> None:
    make_claiming_pod(cluster, claim="nic-0")
    (pod,) = results(api, "pods")
    assert [(one["state"], one["requests"]) for one in pod["claims"]] == [("not-seen", None)]


def test_a_claim_of_another_namespace_or_cluster_is_not_the_pods(cluster: Cluster, api: Client) -> None:
    make_claim(cluster, "shared", namespace="team-b")
    make_claim(make_cluster("other"), "shared")
    make_claiming_pod(cluster, claim="shared")
    (pod,) = results(api, "pods")
    assert pod["claims"][0]["state"] == "not-seen"


def test_waiting_pods_say_why(cluster: Cluster, api: Client) -> None:
    make_pending_pod(cluster)
    (pod,) = results(api, "pods", pending="true")
    assert pod["pending_reason"] == "Unschedulable"
    assert pod["requests"] == {"aliyun.com/gpu-mem": 8}
    assert pod["node"] is None


def test_a_cluster_that_is_not_synced_says_so(db: None, api: Client) -> None:
    make_cluster("fresh", synced=False)
    (cluster,) = results(api, "clusters")
    assert (cluster["synced_at"], cluster["age_seconds"], cluster["state"]) == (None, None, "listing")


def test_a_cluster_says_how_old_its_mirror_is(db: None, api: Client) -> None:
    make_cluster("late", age_s=300)
    assert 300 <= get(api, "clusters/late")["age_seconds"] < 330


@pytest.mark.parametrize("ordering", ["", "memory_free_bytes", "-memory_free_bytes", "model,-index", "-changed_at"])
def test_the_pages_of_a_list_have_every_row_once(fleet: Cluster, api: Client, ordering: str) -> None:
    whole = [row["id"] for row in results(api, "cards", page_size=1000, ordering=ordering)]
    assert len(whole) == len(set(whole)) == 56
    assert walk(api, "cards", page_size=5, ordering=ordering) == whole


def test_the_pages_go_back_the_way_they_came(fleet: Cluster, api: Client) -> None:
    for ordering in ("", "-memory_free_bytes"):
        first = get(api, "cards", page_size=20, ordering=ordering)
        second = api.get(first["next"]).json()
        third = api.get(second["next"]).json()
        assert third["next"] is None
        assert api.get(third["previous"]).json()["results"] == second["results"]
        back = api.get(api.get(third["previous"]).json()["previous"]).json()
        assert back["results"] == first["results"]
        assert (back["previous"], first["previous"]) == (None, None)


def test_rows_that_come_meanwhile_do_not_shift_the_pages(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "b", cards=4)
    first = get(api, "cards", page_size=2)
    make_node(cluster, "a", cards=3)
    rest = api.get(first["next"]).json()["results"]
    assert [(row["node"], row["index"]) for row in rest] == [("b", 2), ("b", 3)]


def test_pages_go_on_over_several_clusters(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "n", cards=3)
    make_node(make_cluster("other"), "n", cards=3)
    assert len(set(walk(api, "cards", page_size=2))) == 6


def test_the_address_of_the_next_page_keeps_host_and_sub_path(fleet: Cluster, api: Client, settings: Any) -> None:
    settings.FORCE_SCRIPT_NAME = "/gpu"
    page = api.get("/api/v1/cards", {"page_size": 5, "state": "free"}, HTTP_HOST="localhost:8080").json()
    assert page["next"].startswith("http://localhost:8080/gpu/api/v1/cards?")
    assert "state=free" in page["next"]


BAD_CURSORS = (
    "abc",
    "%00",
    "W10",
    "bnVsbA",
    "W2ZhbHNlLCJub2RlX25hbWUsaW5kZXgsaWQiLFtdXQ",  # no values
    "W2ZhbHNlLCJub2RlX25hbWUsaW5kZXgsaWQiLFsiYSIsIngiLDFdXQ",  # a word as index
    "W2ZhbHNlLCJub2RlX25hbWUsaW5kZXgsaWQiLFsiYSIsMSw5OTk5OTk5OTk5OTk5OTk5OTk5OTldXQ",  # an id that no row can have
    "W2ZhbHNlLCJub2RlX25hbWUsaW5kZXgsaWQiLFtudWxsLDEsMV1d",  # null where there is none
    "W2ZhbHNlLCItbm9kZV9uYW1lLGluZGV4LGlkIixbImEiLDEsMV1d",  # of another order
    "x" * 5000,
    "ü",
)


@pytest.mark.parametrize("cursor", BAD_CURSORS)
def test_a_cursor_that_makes_no_sense_is_refused_by_name(cluster: Cluster, api: Client, cursor: str) -> None:
    response = api.get("/api/v1/cards", {"cursor": cursor})
    assert response.status_code == 400
    assert [error["field"] for error in response.json()["errors"]] == ["cursor"]


def test_the_cursor_of_one_order_is_refused_in_another(fleet: Cluster, api: Client) -> None:
    cursor = get(api, "cards", page_size=5)["next"].split("cursor=")[1].split("&")[0]
    assert api.get(f"/api/v1/cards?cursor={cursor}&ordering=-model").status_code == 400


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("page_size", "0"),
        ("page_size", "1001"),
        ("page_size", "x"),
        ("nonsense", "1"),
        ("ordering", "x"),
        ("format", "xml"),
    ],
)
def test_every_list_refuses_what_makes_no_sense_by_name(
    cluster: Cluster, api: Client, path: str, name: str, value: str
) -> None:
    response = api.get(f"/api/v1/{path}", {name: value})
    assert response.status_code == 400
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert [error["field"] for error in problem["errors"]] == [name]
    assert (problem["status"], problem["title"], problem["type"]) == (400, "Bad Request", "about:blank")
    assert name in problem["detail"]


@pytest.mark.parametrize(
    "path",
    ["clusters/none", "nodes/prod/none", "nodes/none/n", "cards/999", f"cards/{10**30}", "nodes/prod/a%00b", "nowhere"],
)
def test_what_is_not_there_is_a_problem_that_says_where_to_look(cluster: Cluster, api: Client, path: str) -> None:
    response = api.get(f"/api/v1/{path}")
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["detail"]


def test_a_method_that_is_not_there_is_a_problem(cluster: Cluster, admin: Client) -> None:
    response = admin.post("/api/v1/cards", {}, content_type="application/json")
    assert (response.status_code, response.headers["Content-Type"]) == (405, "application/problem+json")


def test_a_body_that_is_no_json_is_a_problem(viewer: Client) -> None:
    response = viewer.post("/api/v1/tokens", "{", content_type="application/json")
    assert (response.status_code, response.headers["Content-Type"]) == (400, "application/problem+json")


def test_an_address_works_with_a_slash_at_its_end_too(fleet: Cluster, api: Client) -> None:
    assert get(api, "cards/") == get(api, "cards")


def test_the_summary_of_one_cluster_leaves_out_the_others(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "n", cards=2)
    make_node(make_cluster("other"), "n", cards=3)
    one, both = get(api, "summary", cluster="prod"), get(api, "summary")
    assert one["totals"]["cards_total"]["value"] == 2
    assert both["totals"]["cards_total"]["value"] == 5
    assert [cluster["name"] for cluster in both["clusters"]] == ["other", "prod"]
    assert [pool["pool"] for pool in one["pools"]] == ["gpushare · Tesla-T4"]
    assert api.get("/api/v1/summary?cluster=none").json()["errors"][0]["field"] == "cluster"
