"""Lists of the embedded API server: pages that belong together, selectors, and tokens that expire."""

from __future__ import annotations

import pytest

from fleetsim import Fleet, Server
from fleetsim.resources import PODS
from tests.fleetsim.client import Client
from tests.fleetsim.conftest import pass_time


def names(items: list[dict[str, object]]) -> list[str]:
    return [f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}" for item in items]  # type: ignore[attr-defined]


def test_a_list_is_in_the_order_of_its_keys_and_carries_its_version(api: Client, simulated: Fleet) -> None:
    answer = api.get("/api/v1/pods")
    assert answer["kind"] == "PodList"
    assert answer["metadata"] == {"resourceVersion": str(simulated.store.version)}
    assert names(answer["items"]) == simulated.store.names(PODS)
    assert "kind" not in answer["items"][0]


@pytest.mark.parametrize("limit", [1, 7, 100, 500])
def test_pages_of_any_size_give_the_same_list(api: Client, limit: int) -> None:
    path = "/api/v1/namespaces/kube-system/pods"
    assert names(api.pages(path, limit)[0]) == names(api.get(path)["items"])


def test_pages_continue_the_first_snapshot_while_pods_come_and_go(api: Client, simulated: Fleet) -> None:
    before = names(api.get("/api/v1/pods")["items"])
    items, version = api.pages("/api/v1/pods", 20, between=lambda: pass_time(simulated, 5))
    after = names(api.get("/api/v1/pods")["items"])
    assert names(items) == before
    assert before != after
    assert int(version) < simulated.store.version


def test_the_remaining_count_is_told_without_selectors_only(api: Client) -> None:
    total = len(api.get("/api/v1/pods")["items"])
    page = api.get("/api/v1/pods?limit=10")
    assert page["metadata"]["remainingItemCount"] == total - 10
    chosen = api.get("/api/v1/pods?limit=1&labelSelector=app")
    assert "remainingItemCount" not in chosen["metadata"]
    assert chosen["metadata"]["continue"]


def test_a_token_of_a_compacted_snapshot_is_expired_and_offers_the_inconsistent_rest(
    api: Client, server: Server
) -> None:
    page = api.get("/api/v1/pods?limit=10")
    server.compact()
    status = api.get(f"/api/v1/pods?limit=10&continue={page['metadata']['continue']}", status=410)
    assert (status["reason"], status["code"]) == ("Expired", 410)
    rest = api.get(f"/api/v1/pods?continue={status['metadata']['continue']}")
    assert len(page["items"]) + len(rest["items"]) == len(api.get("/api/v1/pods")["items"])


def test_old_snapshots_are_forgotten_first(api: Client, simulated: Fleet) -> None:
    first = api.get("/api/v1/pods?limit=1")["metadata"]["continue"]
    for _ in range(20):
        pass_time(simulated, 10)
        last = api.get("/api/v1/pods?limit=1")["metadata"]["continue"]
    api.get(f"/api/v1/pods?limit=1&continue={first}", status=410)
    assert api.get(f"/api/v1/pods?limit=1&continue={last}")["items"]


@pytest.mark.parametrize(
    ("selector", "holds"),
    [
        ("gpushare=true", lambda labels: labels.get("gpushare") == "true"),
        ("gpushare", lambda labels: "gpushare" in labels),
        ("!gpushare", lambda labels: "gpushare" not in labels),
        ("kubernetes.io/os!=windows", lambda labels: labels["kubernetes.io/os"] != "windows"),
        ("pool in (h100, a100)", lambda labels: labels["pool"] in ("h100", "a100")),
        ("pool notin (h100,a100),gpushare", lambda labels: "gpushare" in labels),
        ("pool==h100", lambda labels: labels["pool"] == "h100"),
    ],
)
def test_label_selectors_choose_what_they_say(api: Client, selector: str, holds: object) -> None:
    everything = api.get("/api/v1/nodes")["items"]
    wanted = [node["metadata"]["name"] for node in everything if holds(node["metadata"]["labels"])]  # type: ignore[operator]
    answer = api.pool.request(
        "GET",
        f"{api.server.url}/api/v1/nodes",
        fields={"labelSelector": selector},
        headers={"Authorization": f"Bearer {api.server.token}"},
    )
    assert [node["metadata"]["name"] for node in answer.json()["items"]] == wanted
    assert 0 < len(wanted) < len(everything)


def test_field_selectors_choose_by_node_name_and_phase(api: Client) -> None:
    here = api.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dgpu-t4-01,status.phase%3DRunning")["items"]
    assert here
    assert {(pod["spec"]["nodeName"], pod["status"]["phase"]) for pod in here} == {("gpu-t4-01", "Running")}
    waiting = api.get("/api/v1/pods?fieldSelector=spec.nodeName%3D")["items"]
    assert waiting
    assert all("nodeName" not in pod["spec"] for pod in waiting)
    assert [
        node["metadata"]["name"] for node in api.get("/api/v1/nodes?fieldSelector=metadata.name%3Dcpu-01")["items"]
    ] == ["cpu-01"]


def test_one_object_is_read_with_its_kind(api: Client) -> None:
    node = api.get("/api/v1/nodes/gpu-t4-01")
    assert (node["kind"], node["apiVersion"], node["metadata"]["name"]) == ("Node", "v1", "gpu-t4-01")


def test_a_node_can_be_tainted_and_cordoned(api: Client, simulated: Fleet) -> None:
    name = simulated.world.machines[0].name
    taint = {"key": "gpudash.io/failed-validation", "value": "0abc", "effect": "NoSchedule"}
    api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": [taint], "unschedulable": True}})
    machine = simulated.world.machines[0]
    assert (machine.taints, machine.cordoned) == (((taint["key"], "0abc", "NoSchedule"),), True)
    api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": None, "unschedulable": None}})
    assert (machine.taints, machine.cordoned) == ((), False)


def test_labels_and_annotations_can_be_patched_and_nothing_else(api: Client) -> None:
    path = "/api/v1/nodes/gpu-t4-01"
    node = api.patch(path, {"metadata": {"labels": {"probe": "1", "gpushare": None}}})
    assert node["metadata"]["labels"]["probe"] == "1"
    assert "gpushare" not in node["metadata"]["labels"]
    for patch in (
        {"spec": {"podCIDR": "10.0.0.0/8"}},
        {"spec": {"taints": "x"}},
        {"status": None},
        {"metadata": None},
        {"metadata": {"name": "x"}},
    ):
        assert api.patch(path, patch, status=422)["reason"] == "Invalid"
    for patch in ({"metadata": {"labels": {"a": 1}}}, {"metadata": {"annotations": "x"}}):
        api.patch(path, patch, status=422)
    api.patch(path, {"metadata": {"resourceVersion": "1"}}, status=409)
    assert api.request("PATCH", path, [], content_type="application/json-patch+json").status in (400, 415)
