"""With the real scheduler: what it says of a pod that waits is on the pod's row, and what it binds becomes an allocation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inventory.models import Allocation, Cluster, Pod
from tests.cluster.agreement import in_step
from tests.cluster.fleet import Fleet
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import KINDS, pod
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
    waiting = Pod.objects.filter(cluster=watched, name="too-large", waiting=True, waiting_reason="Unschedulable")
    wait_until(waiting.exists, "the row says that it waits, and why")
    assert "Insufficient nvidia.com/gpu" in waiting.get().waiting_message
    assert not Allocation.objects.filter(cluster=watched).exists()


@pytest.mark.usefixtures("scheduler")
def test_a_pod_that_the_scheduler_binds_becomes_an_allocation(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    fleet.node("count", 0)
    admin.create(pod("fits", KINDS["count"], 2))
    wait_until(Allocation.objects.filter(cluster=watched, pod="fits").exists, "the allocation is there")
    in_step(admin, watched)
    row = Pod.objects.get(cluster=watched, name="fits")
    assert (row.node_name, row.waiting) == ("count-0", False)
