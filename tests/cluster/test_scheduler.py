"""With the real scheduler: what it says of a pod that waits is on the pod's row, and what it binds becomes an allocation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from accounts.roles import Role
from inventory.models import Allocation, Card, Cluster, Pod
from inventory.placement.finder.finder import find
from inventory.placement.finder.request import Request
from tests.cast import make_user, signed_in
from tests.cluster.agreement import in_step
from tests.cluster.fleet import Fleet
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import KINDS, pod
from tests.pages.reading import get
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]


@pytest.fixture
def scheduler(plane: ControlPlane, fleet: Fleet) -> Iterator[None]:
    plane.start("scheduler")
    yield
    plane.stop("scheduler")


@pytest.mark.usefixtures("scheduler")
def test_a_pod_that_fits_nowhere_waits_with_the_schedulers_reason(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    fleet.node("count", 0)
    admin.create(pod("too-large", KINDS["count"], 9))
    waiting = Pod.objects.filter(cluster=watched, name="too-large", pending=True, pending_reason="Unschedulable")
    wait_until(waiting.exists, "the row says that it waits, and why")
    assert "Insufficient nvidia.com/gpu" in waiting.get().pending_message
    assert not Allocation.objects.filter(cluster=watched).exists()


@pytest.mark.usefixtures("scheduler")
def test_a_pod_that_the_scheduler_binds_becomes_an_allocation(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    fleet.node("count", 0)
    admin.create(pod("fits", KINDS["count"], 2))
    wait_until(Allocation.objects.filter(cluster=watched, pod="fits").exists, "the allocation is there")
    in_step(admin, watched)
    row = Pod.objects.get(cluster=watched, name="fits")
    assert (row.node_name, row.pending) == ("count-0", False)


@pytest.mark.usefixtures("scheduler")
def test_what_the_scheduler_says_of_selector_taint_and_resource_is_a_table(
    fleet: Fleet, admin: Admin, watched: Cluster
) -> None:
    """One node that the selector does not admit, one with a taint, one that is too small."""
    _other, tainted, small = (fleet.node("count", number) for number in range(3))
    taint = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
    admin.patch(tainted, {"metadata": {"labels": {"size": "right"}}, "spec": {"taints": [taint]}})
    admin.patch(small, {"metadata": {"labels": {"size": "right"}}})
    wanted = pod("picky", KINDS["count"], 9)
    wanted["spec"]["nodeSelector"] = {"size": "right"}
    admin.create(wanted)

    def told() -> bool:
        row = Pod.objects.filter(cluster=watched, name="picky").first()
        return row is not None and all(word in row.pending_message for word in ("affinity", "taint", "Insufficient"))

    wait_until(told, "the row has all three reasons")
    page = get(
        signed_in(make_user("vera", Role.VIEWER)), f"/pods/{watched.name}/{wanted['metadata']['namespace']}/picky"
    )
    reasons = {row[1]: row[0] for row in page.rows if row[0].endswith(" of 3")}
    assert set(reasons.values()) == {"1 of 3"}
    words = " ".join(reasons)
    assert "node selector or node affinity excludes these nodes" in words
    assert "Taint not tolerated" in words
    assert "Insufficient nvidia.com/gpu" in words
    assert "No explanation for this reason" not in page.text
    assert "No node has 9 × nvidia.com/gpu. Most: 8." in page.text
    assert "taint dedicated=ml:NoSchedule" in page.text


@pytest.mark.usefixtures("scheduler")
def test_the_finder_and_the_scheduler_say_the_same_of_every_node(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    """Whole cards: a pod for each node, which chooses it by its name, is bound where the finder says that there is room."""
    for number in range(4):
        fleet.node("count", number, cards=4)
    fleet.run("count", "some", "count-1", {0: 1, 1: 1})
    fleet.run("count", "most", "count-2", {0: 1, 1: 1, 2: 1})
    tainted = admin.call("GET", "/api/v1/nodes/count-3")
    admin.patch(tainted, {"spec": {"taints": [{"key": "only", "value": "others", "effect": "NoSchedule"}]}})
    wait_until(lambda: Card.objects.filter(cluster=watched).count() == 16, "all cards are counted")
    in_step(admin, watched)
    found = find(Request(cards=2, memory=20 * 2**30))
    names = {f"count-{number}": f"asks-{number}" for number in range(4)}
    for node, name in names.items():
        asking = pod(name, KINDS["count"], 2)
        asking["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
        admin.create(asking)
    decided = Pod.objects.filter(cluster=watched, name__in=names.values()).exclude(node_name="", pending_reason="")
    wait_until(lambda: decided.count() == 4, "the scheduler has looked at all")
    bound = set(decided.exclude(node_name="").values_list("node_name", flat=True))
    assert {one.node for one in found.taking} == bound == {"count-0", "count-1"}
    assert {one.node: one.code for one in found.refusing} == {"count-2": "too-few-free", "count-3": "taint"}
