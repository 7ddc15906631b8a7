"""Dynamic resource allocation with the real scheduler and its controller: what they gave is what the mirror says, and when they take
it back, it is free."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inventory.models import Allocation, Card, Cluster, Finding, NodeTotals, Pod
from tests.cluster.fleet import Fleet
from tests.controlplane import claims
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]

GIB = 2**30
Held = set[tuple[str, str, int | None, str]]


@pytest.fixture
def scheduler(plane: ControlPlane, fleet: Fleet) -> Iterator[None]:
    for part in ("scheduler", "controllers"):
        plane.start(part)
    yield
    for part in ("scheduler", "controllers"):
        plane.stop(part)


@pytest.fixture
def dra(fleet: Fleet, admin: Admin, scheduler: None) -> Iterator[Admin]:
    """A node with two cards that a driver offers, and the class by which they are claimed."""
    admin.create(claims.device_class("nvidia.com/gpu"))
    _node(admin, "n1")
    admin.create(claims.resource_slice("n1", [claims.card(0, "n1"), claims.card(1, "n1")]))
    yield admin
    admin.delete_all()
    admin.delete_claims()


def _node(admin: Admin, name: str) -> None:
    admin.create(claims.node(name))
    admin.patch({"kind": "Node", "metadata": {"name": name}}, {"spec": {"taints": None}})


def held(cluster: Cluster) -> Held:
    """(pod, card, bytes, evidence) of what is held now."""
    rows = Allocation.objects.filter(cluster=cluster, ended_at=None)
    return set(rows.values_list("pod", "card_key", "memory_bytes", "evidence"))


def wait_for(cluster: Cluster, wanted: Held) -> None:
    try:
        wait_until(lambda: held(cluster) == wanted, "the holders are as they should be", 60.0)
    except AssertionError as late:
        raise AssertionError(f"{late}; held: {held(cluster)}") from None


def on(number: int, pod: str, memory: int | None = 80 * GIB) -> tuple[str, str, int | None, str]:
    return (pod, f"GPU-n1-{number}", memory, "claim")


def _end(admin: Admin, name: str) -> None:
    thing = {"kind": "Pod", "metadata": {"name": name, "namespace": claims.NAMESPACE}}
    admin.patch(thing, {"status": {"phase": "Succeeded"}}, "/status")


def test_what_is_offered_is_counted(dra: Admin, watched: Cluster) -> None:
    wait_until(lambda: Card.objects.filter(cluster=watched).count() == 2, "both cards are there")
    card = Card.objects.get(uuid="GPU-n1-0")
    assert (card.index, card.model, card.memory_total_bytes, card.state) == (
        0,
        "NVIDIA A100-SXM4-80GB",
        80 * GIB,
        "free",
    )
    totals = NodeTotals.objects.get(cluster=watched)
    assert (totals.cards_total, totals.cards_free, totals.memory_free_bytes) == (2, 2, 160 * GIB)
    assert totals.stacks == ["dra"]
    assert not Finding.objects.filter(cluster=watched, ended_at=None).exists()


def test_a_named_claim_is_held_once_by_two_pods_and_free_when_both_have_ended(dra: Admin, watched: Cluster) -> None:
    dra.create(claims.claim("shared"))
    dra.create(claims.pod("a", claim_name="shared"))
    wait_until(lambda: len(held(watched)) == 1, "the claim is allocated")
    number = int(next(iter(held(watched)))[1][-1])
    dra.create(claims.pod("b", claim_name="shared"))
    wait_for(watched, {on(number, "a"), on(number, "b", 0)})
    totals = NodeTotals.objects.get(cluster=watched)
    assert (totals.cards_free, totals.memory_allocated_bytes, totals.allocations_count) == (1, 80 * GIB, 2)
    _end(dra, "a")
    wait_for(watched, {on(number, "b")})
    _end(dra, "b")
    wait_for(watched, set())
    assert NodeTotals.objects.get(cluster=watched).cards_free == 2


def test_claims_of_a_template_and_a_pod_that_finds_no_card(dra: Admin, watched: Cluster) -> None:
    dra.create(claims.template("one"))
    for name in ("a", "b"):
        dra.create(claims.pod(name, template_name="one"))
    wait_until(
        lambda: {(pod, memory) for pod, _, memory, _ in held(watched)} == {("a", 80 * GIB), ("b", 80 * GIB)},
        "both hold",
    )
    assert {card for _, card, _, _ in held(watched)} == {"GPU-n1-0", "GPU-n1-1"}
    dra.create(claims.pod("c", template_name="one"))
    waiting = Pod.objects.filter(cluster=watched, name="c", pending=True, pending_reason="Unschedulable")
    wait_until(waiting.exists, "the third waits")
    assert "cannot allocate all claims" in waiting.get().pending_message
    _end(dra, "a")
    wait_until(lambda: {pod for pod, *_ in held(watched)} == {"b", "c"}, "what ended is free, and the third has it")
    dra.delete({"kind": "Pod", "metadata": {"name": "b", "namespace": claims.NAMESPACE}})
    wait_until(lambda: {pod for pod, *_ in held(watched)} == {"c"}, "what was deleted is free")


def test_an_extended_resource_that_claims_serve_is_held_once(dra: Admin, watched: Cluster) -> None:
    dra.create(claims.pod("plain", limits={"nvidia.com/gpu": "2"}))
    wait_for(watched, {on(0, "plain"), on(1, "plain")})
    totals = NodeTotals.objects.get(cluster=watched)
    assert (totals.stacks, totals.cards_total, totals.cards_free, totals.unplaced_count) == (["dra"], 2, 0, 0)


def test_a_new_generation_of_a_pool_replaces_the_old_one(dra: Admin, watched: Cluster) -> None:
    wait_until(lambda: Card.objects.filter(cluster=watched).count() == 2, "both cards are there")
    dra.create(claims.resource_slice("n1", [claims.card(0, "n1"), claims.card(2, "n1")], generation=2, count=2))
    present = Card.objects.filter(cluster=watched, removed_at=None)
    found = Finding.objects.filter(cluster=watched, code="dra-pool-incomplete", ended_at=None)
    wait_until(found.exists, "a slice of the new generation is missing")
    assert NodeTotals.objects.get(cluster=watched).cards_total is None
    dra.create(claims.resource_slice("n1", [claims.card(3, "n1")], generation=2, count=2, part=1))
    wait_until(lambda: set(present.values_list("index", flat=True)) == {0, 2, 3}, "the cards are those of the new one")
    wait_until(lambda: not found.exists(), "and nothing is missing")


def test_a_taint_is_told_and_admin_access_holds_nothing(dra: Admin, watched: Cluster) -> None:
    taints = [{"key": "example.com/unhealthy", "effect": "NoSchedule"}]
    devices = [claims.card(0, "n1", taints=taints), claims.card(1, "n1")]
    dra.create(claims.resource_slice("n1", devices, generation=2))
    found = Finding.objects.filter(cluster=watched, code="device-tainted", card_key="GPU-n1-0", ended_at=None)
    wait_until(found.exists, "the taint is told")
    assert Card.objects.get(uuid="GPU-n1-0").health == "unhealthy"
    allowed = {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}
    dra.patch({"kind": "Namespace", "metadata": {"name": claims.NAMESPACE}}, allowed)
    dra.create(claims.claim("watching", adminAccess=True, allocationMode="All"))
    dra.create(claims.pod("monitor", claim_name="watching"))
    dra.create(claims.claim("own"))
    dra.create(claims.pod("user", claim_name="own"))
    wait_for(watched, {on(1, "user")})
