"""Dynamic resource allocation as clusters serve it: older versions, none yet, rules behind a gate; with a real API server."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from inventory.models import Card, Cluster, Finding, ResourceSlice
from inventory.models.cluster import WatchState
from tests.cluster.fleet import Fleet
from tests.cluster.optional_kinds import cards, free, health, rests, start, watches
from tests.controlplane import claims
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json
from tests.processes import Processes
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]

TAINT_RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"
BETA = "/apis/resource.k8s.io/v1beta1/resourceslices"


@pytest.fixture
def apis(plane: ControlPlane, fleet: Fleet) -> Iterator[Callable[..., None]]:
    yield plane.serve
    plane.serve()


def beta(node_name: str, memory: str) -> Json:
    """A slice as v1beta1 has it: what a device has stands under `basic`."""
    made = claims.resource_slice(node_name, [claims.card(0, node_name, memory)])
    devices = [
        {"name": one["name"], "basic": {key: value for key, value in one.items() if key != "name"}}
        for one in made["spec"]["devices"]
    ]
    return {
        **made,
        "apiVersion": "resource.k8s.io/v1beta1",
        "spec": {**made["spec"], "devices": devices},
    }


def memory_of(uuid: str) -> int | None:
    found = Card.objects.filter(uuid=uuid, removed_at=None).values_list("memory_total_bytes", flat=True).first()
    return found // 2**30 if found else None


def test_taint_rules_are_found_when_they_are_served_and_keep_claims_off(
    admin: Admin, apis: Callable[..., None], objects: Callable[..., list[Json]], soon: Cluster
) -> None:
    objects(claims.node("dra-0"), claims.resource_slice("dra-0", [claims.card(n, "dra-0") for n in (0, 1)]))
    wait_until(lambda: health("dra-0") == ["unknown"] * 2, "cards, of which nobody says anything")
    wait_until(
        lambda: rests(soon, "devicetaintrules", WatchState.NOT_SERVED), "rules are behind a gate, off by default"
    )
    apis("resource.k8s.io/v1beta2=true", gates="DRADeviceTaintRules=true")
    wait_until(lambda: watches(soon, "devicetaintrules"), "they are found", 60)
    rule = claims.taint_rule("maintenance", "dra-0", "gpu-1")
    admin.call("POST", TAINT_RULES, rule)
    wait_until(lambda: health("dra-0") == ["unknown", "unhealthy"], "the device that it names", 60)
    assert free("dra-0") == [80, 0]
    admin.call("DELETE", f"{TAINT_RULES}/maintenance", None)
    wait_until(lambda: health("dra-0") == ["unknown"] * 2, "and the rule goes", 60)


def test_claims_of_a_cluster_that_serves_them_in_an_older_version_only_and_is_upgraded(
    admin: Admin,
    plane: ControlPlane,
    apis: Callable[..., None],
    objects: Callable[..., list[Json]],
    cluster: Cluster,
    processes: Processes,
) -> None:
    apis("resource.k8s.io/v1=false", "resource.k8s.io/v1beta1=true")
    objects(claims.node("dra-0"))
    admin.call("POST", BETA, beta("dra-0", "40Gi"))
    start(processes)
    wait_until(lambda: memory_of("GPU-dra-0-0") == 40, "cards by v1beta1")
    wait_until(lambda: watches(cluster, "resourceclaims"), "claims are watched, too")
    facts = ResourceSlice.objects.get().facts
    apis()  # the upgrade: v1 and no other
    wait_until(lambda: watches(cluster, "resourceslices"), "slices are watched in v1 now", 60)
    change = {"spec": claims.resource_slice("dra-0", [claims.card(0, "dra-0", "80Gi")])["spec"]}
    admin.patch(claims.resource_slice("dra-0", []), change)
    wait_until(lambda: memory_of("GPU-dra-0-0") == 80, "what comes now is followed", 60)
    assert facts.replace("40Gi", "80Gi") == ResourceSlice.objects.get().facts, "both versions are kept in one form"
    admin.delete(claims.resource_slice("dra-0", []))
    wait_until(lambda: not ResourceSlice.objects.exists(), "and what goes is gone")


def test_claims_that_are_not_served_are_found_when_they_are(
    admin: Admin,
    apis: Callable[..., None],
    objects: Callable[..., list[Json]],
    cluster: Cluster,
    processes: Processes,
) -> None:
    apis("resource.k8s.io/v1=false")
    objects(claims.node("dra-0"))
    start(processes)
    wait_until(lambda: rests(cluster, "resourceslices", WatchState.NOT_SERVED), "not watched slices")
    wait_until(lambda: rests(cluster, "resourceclaims", WatchState.NOT_SERVED), "nor claims")
    assert "API not available" in processes.call("cluster", "check", "test")
    apis("resource.k8s.io/v1=false", "resource.k8s.io/v1beta2=true")
    wait_until(lambda: watches(cluster, "resourceslices"), "they are found in v1beta2", 60)
    made = {**claims.resource_slice("dra-0", [claims.card(0, "dra-0")]), "apiVersion": "resource.k8s.io/v1beta2"}
    admin.call("POST", BETA.replace("v1beta1", "v1beta2"), made)
    wait_until(lambda: memory_of("GPU-dra-0-0") == 80, "and read")
    apis()
    admin.delete(claims.resource_slice("dra-0", []))


def test_the_other_nodes_of_a_pool_are_counted_anew_when_one_of_its_slices_goes(
    admin: Admin, objects: Callable[..., list[Json]], soon: Cluster
) -> None:
    objects(claims.node("a"), claims.node("b"))
    parts = [claims.resource_slice(name, [claims.card(number, name)], count=2) for number, name in enumerate("ab")]
    for part in parts:
        part["spec"]["pool"]["name"] = "shared"
    objects(*parts)

    def incomplete() -> set[str]:
        rows = Finding.objects.filter(code="dra-pool-incomplete", ended_at=None)
        return set(rows.values_list("node_name", flat=True))

    wait_until(lambda: (cards("a"), cards("b")) == (1, 1), "both nodes have their card")
    assert incomplete() == set()
    admin.delete(parts[1])
    wait_until(lambda: "a" in incomplete(), "the other node learns that its pool is not whole any more")
    objects(parts[1])
    wait_until(lambda: not incomplete() and cards("b") == 1, "and that it is whole again")
