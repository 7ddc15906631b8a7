"""Dynamic resource allocation in the simulated fleet: what the driver lists, what claims get, and what is taken back."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from fleetsim import Fleet, Server
from fleetsim.claimcases import SHARED
from fleetsim.dra import DRIVER
from fleetsim.resources import PODS, RESOURCECLAIMS, RESOURCESLICES
from tests.fleetsim.client import Client
from tests.fleetsim.conftest import START, pass_time

SLICES, CLAIMS = "/apis/resource.k8s.io/v1/resourceslices", "/apis/resource.k8s.io/v1/resourceclaims"
#: Kubernetes quantities that the driver writes.
UNITS = {"Gi": 2**30, "Mi": 2**20}
Given = dict[tuple[str, str], list[dict[str, Any]]]


def number(text: str) -> int:
    return int(text[:-2]) * UNITS[text[-2:]] if text[-2:] in UNITS else int(text)


def amounts(counters: dict[str, dict[str, str]]) -> Counter[str]:
    return Counter({name: number(one["value"]) for name, one in counters.items()})


def given(fleet: Fleet) -> Given:
    """(pool, device) → the claims that have it, without those with admin access."""
    found: Given = defaultdict(list)
    for claim in fleet.store.all(RESOURCECLAIMS):
        for result in ((claim["status"].get("allocation") or {}).get("devices") or {}).get("results", []):
            if not result.get("adminAccess"):
                found[result["pool"], result["device"]].append(claim)
    return found


def devices(fleet: Fleet) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (one["spec"]["pool"]["name"], device["name"]): device
        for one in fleet.store.all(RESOURCESLICES)
        for device in one["spec"].get("devices", [])
    }


def check_no_device_and_no_counter_is_promised_twice(fleet: Fleet) -> None:
    held, there = given(fleet), devices(fleet)
    assert max(len(claims) for claims in held.values()) == 1
    assert set(held) <= set(there)
    taken: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for (pool, name), device in there.items():
        for consumed in device.get("consumesCounters", []) if (pool, name) in held else []:
            taken[pool, consumed["counterSet"]].update(amounts(consumed["counters"]))
    sets = {
        (one["spec"]["pool"]["name"], each["name"]): amounts(each["counters"])
        for one in fleet.store.all(RESOURCESLICES)
        for each in one["spec"].get("sharedCounters", [])
    }
    over = [(key, name) for key, used in taken.items() for name in used if used[name] > sets[key][name]]
    assert over == []


def check_claims_and_pods_agree(fleet: Fleet) -> None:
    """Who is reserved is there and runs, or is about to; a claim of a pod that is gone is gone."""
    pods = {pod["metadata"]["uid"]: pod for pod in fleet.store.all(PODS)}
    for claim in fleet.store.all(RESOURCECLAIMS):
        users = claim["status"].get("reservedFor", [])
        for user in users:
            pod = pods[user["uid"]]
            assert pod["status"]["phase"] in ("Pending", "Running")
            pool = claim["status"]["allocation"]["devices"]["results"][0]["pool"]
            assert pod["spec"]["nodeName"] == pool
        for owner in claim["metadata"].get("ownerReferences", []):
            assert (
                pods[owner["uid"]]["status"]["resourceClaimStatuses"][0]["resourceClaimName"]
                == claim["metadata"]["name"]
            )
        assert bool(users) == ("allocation" in claim["status"])


@pytest.mark.sweep
@pytest.mark.parametrize("seed", [1, 2])
def test_an_hour_of_life_promises_nothing_twice(seed: int) -> None:
    fleet = Fleet(seed=seed, now=START)
    claims = set()
    for _ in range(180):
        pass_time(fleet, 20, pace=2.0)
        check_no_device_and_no_counter_is_promised_twice(fleet)
        check_claims_and_pods_agree(fleet)
        claims |= {claim["metadata"]["uid"] for claim in fleet.store.all(RESOURCECLAIMS)}
    # Pods came and went meanwhile; they stay for hours.
    assert len(claims) >= len(fleet.store.all(RESOURCECLAIMS)) + 5


def test_what_the_driver_lists_is_what_a_card_can_be() -> None:
    """H100, 80 GB: the card, and 25 instances in all places that they can have."""
    fleet = Fleet(seed=1, now=START)
    mine = [one for one in fleet.store.all(RESOURCESLICES) if one["spec"]["nodeName"] == "dra-mig-01"]
    assert [one["spec"]["pool"]["resourceSliceCount"] for one in mine] == [3, 3, 3]
    assert [sorted(set(one["spec"]) & {"devices", "sharedCounters"}) for one in mine] == [
        ["sharedCounters"],
        ["devices"],
        ["devices"],
    ]
    profiles = Counter(device["attributes"].get("profile", {}).get("string") for device in mine[1]["spec"]["devices"])
    assert profiles == {
        None: 1,
        "1g.10gb": 7,
        "1g.10gb+me": 7,
        "1g.20gb": 4,
        "2g.20gb": 3,
        "3g.40gb": 2,
        "4g.40gb": 1,
        "7g.80gb": 1,
    }
    half = next(device for device in mine[1]["spec"]["devices"] if device["name"] == "gpu-0-mig-3g40gb-9-4")
    assert half["capacity"]["memory"] == {"value": "40448Mi"}
    [consumed] = half["consumesCounters"]
    slices = {name for name in consumed["counters"] if name.startswith("memory-slice-")}
    assert slices == {f"memory-slice-{place}" for place in (4, 5, 6, 7)}


def test_admin_access_takes_nothing_from_anybody() -> None:
    fleet = Fleet(seed=1, now=START)
    admin = [one for one in fleet.store.all(RESOURCECLAIMS) if one["metadata"]["namespace"] == "gpu-monitoring"]
    seen = {
        (result["pool"], result["device"])
        for one in admin
        for result in one["status"]["allocation"]["devices"]["results"]
    }
    assert len(admin) == 3
    assert seen >= {key for key in given(fleet) if "-mig-" not in key[1]}


def test_a_tainted_device_is_given_to_nobody() -> None:
    fleet = Fleet(seed=1, now=START)
    tainted = {key for key, device in devices(fleet).items() if device.get("taints")}
    assert tainted == {("dra-h100-02", "gpu-3")}
    for _ in range(60):
        pass_time(fleet, 20, pace=2.0)
        assert not tainted & set(given(fleet))


def test_a_claim_that_two_pods_use_is_held_once_and_taken_back_with_the_last() -> None:
    fleet = Fleet(seed=1, now=START)
    shared = fleet.store.get(RESOURCECLAIMS, "team-vision", SHARED)
    users = shared["status"]["reservedFor"]
    assert len(users) == 2
    [result] = shared["status"]["allocation"]["devices"]["results"]
    assert result["driver"] == DRIVER
    fleet.delete_pod("team-vision", users[0]["name"], immediately=True)
    left = fleet.store.get(RESOURCECLAIMS, "team-vision", SHARED)
    assert (left["status"]["reservedFor"], left["status"]["allocation"]) == (users[1:], shared["status"]["allocation"])
    fleet.delete_pod("team-vision", users[1]["name"], immediately=True)
    free = fleet.store.get(RESOURCECLAIMS, "team-vision", SHARED)
    assert free["status"] == {}
    assert "finalizers" not in free["metadata"]
    assert (result["pool"], result["device"]) not in given(fleet)


def test_a_pod_that_waits_for_its_claim_says_so_in_the_schedulers_words() -> None:
    fleet = Fleet(seed=1, now=START)
    pass_time(fleet, 60, pace=2.0)
    waiting = {pod["metadata"]["labels"]["app"]: pod for pod in fleet.store.all(PODS) if "nodeName" not in pod["spec"]}
    [condition] = waiting["fold-90gi"]["status"]["conditions"]
    assert " cannot allocate all claims" in condition["message"]
    name = waiting["fold-90gi"]["status"]["resourceClaimStatuses"][0]["resourceClaimName"]
    claim = fleet.store.get(RESOURCECLAIMS, "research-bio", name)
    assert (claim["status"], "90Gi" in str(claim["spec"])) == ({}, True)
    assert "conditions" not in waiting["segment-typo"]["status"]


@pytest.mark.parametrize(("path", "kind"), [(SLICES, "ResourceSlice"), (CLAIMS, "ResourceClaim")])
def test_they_are_listed_in_pages_watched_with_bookmarks_and_expire(
    api: Client, server: Server, simulated: Fleet, path: str, kind: str
) -> None:
    whole = api.get(path)
    assert whole["kind"] == f"{kind}List"
    items, version = api.pages(path, 2)
    assert [one["metadata"]["uid"] for one in items] == [one["metadata"]["uid"] for one in whole["items"]]
    assert version == whole["metadata"]["resourceVersion"]
    silent = api.watch(f"{path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion={version}").rest()
    assert {event["type"] for event in silent} == {"BOOKMARK"}
    assert {event["object"]["kind"] for event in silent} == {kind}
    pass_time(simulated, 60)
    server.compact()
    assert api.get(f"{path}?watch=1&resourceVersion={version}", status=410)["reason"] == "Expired"


def test_a_watch_of_claims_tells_what_became_of_them(api: Client, simulated: Fleet) -> None:
    first = api.get(CLAIMS)
    known = {one["metadata"]["uid"]: one for one in first["items"]}
    stream = api.watch(f"{CLAIMS}?watch=1&timeoutSeconds=100&resourceVersion={first['metadata']['resourceVersion']}")
    pass_time(simulated, 600, pace=2.0)
    now = {one["metadata"]["uid"]: one for one in api.get(CLAIMS)["items"]}
    while known != now:
        event = stream.next()
        body = {name: value for name, value in event["object"].items() if name not in ("kind", "apiVersion")}
        assert (body["metadata"]["uid"] in known) == (event["type"] != "ADDED")
        if event["type"] == "DELETED":
            del known[body["metadata"]["uid"]]
        else:
            known[body["metadata"]["uid"]] = body
    stream.close()
    assert known.keys() != {one["metadata"]["uid"] for one in first["items"]}


def test_claims_are_selected_by_namespace_and_slices_by_node(api: Client) -> None:
    mine = api.get("/apis/resource.k8s.io/v1/namespaces/gpu-monitoring/resourceclaims")["items"]
    assert {one["metadata"]["namespace"] for one in mine} == {"gpu-monitoring"}
    slices = api.get(f"{SLICES}?fieldSelector=spec.nodeName%3Ddra-mig-01")["items"]
    assert {one["spec"]["nodeName"] for one in slices} == {"dra-mig-01"}
