"""The pods that the finder writes, before a real API server: it accepts each of them, and the scheduler binds one to its node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from inventory.models import Allocation, Card, Cluster
from inventory.placement.finder.finder import find
from inventory.placement.finder.manifest import manifests
from inventory.placement.finder.request import read
from tests.cluster.agreement import in_step
from tests.cluster.fleet import Fleet
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.inventory.placement.finder import test_manifest
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]
_PATHS = {
    "Pod": "/api/v1/namespaces/default/pods",
    "ResourceClaimTemplate": "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates",
}


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize("path", sorted(test_manifest.GOLDEN.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_api_server_accepts_it(admin: Admin, path: Path) -> None:
    """Server-side dry run; a field that it does not know is an error."""
    for made in yaml.safe_load_all(path.read_text()):
        admin.call("POST", f"{_PATHS[made['kind']]}?dryRun=All&fieldValidation=Strict", made)


@pytest.fixture
def scheduler(plane: ControlPlane, fleet: Fleet) -> Iterator[None]:
    plane.start("scheduler")
    yield
    plane.stop("scheduler")


@pytest.mark.usefixtures("scheduler")
def test_the_scheduler_binds_it_to_the_node_that_the_finder_chose(fleet: Fleet, admin: Admin, watched: Cluster) -> None:
    for number in range(2):
        made = fleet.node("count", number, cards=4)
        admin.patch(made, {"spec": {"taints": [{"key": "only", "value": "ml", "effect": "NoSchedule"}]}})
    fleet.run("count", "some", "count-1", {0: 1})
    wait_until(lambda: Card.objects.filter(cluster=watched).count() == 8, "all cards are counted")
    in_step(admin, watched)
    asked = read({"cards": ["2"], "tolerate": ["only=ml"], "cpu": ["4"], "host_memory": ["16"]})
    found = find(asked)
    assert [one.node for one in found.taking] == [
        "count-0",
        "count-1",
    ]  # which card the pod on the other has is not known
    assert found.taking[0].figures.cpu_free == 96_000
    [text] = manifests(found.taking[:1], asked)
    admin.call("POST", f"{_PATHS['Pod']}?fieldValidation=Strict", yaml.safe_load(text))
    wait_until(Allocation.objects.filter(cluster=watched, pod="gpu-pod").exists, "it is bound")
    assert {one.node_name for one in Allocation.objects.filter(cluster=watched, pod="gpu-pod")} == {"count-0"}
    in_step(admin, watched)
    assert {one.node: one.figures.cpu_free for one in find(asked).taking} == {"count-0": 92_000, "count-1": 96_000}
