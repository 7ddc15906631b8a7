"""The hand-over to NVSentinel, with a permissive CRD in the place of its own: created, kept, deleted; no right on nodes is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from inventory.models import Cluster, Node
from quarantine import manage, sentinel
from quarantine.models import Case, How
from tests.cluster_quarantine.conftest import look, make_case
from tests.cluster_quarantine.people import Person
from tests.controlplane.admin import MERGE, Admin, Refused, path_of
from tests.controlplane.objects import Json
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]


@pytest.fixture
def served(admin: Admin) -> Iterator[None]:
    names = {"kind": "MaintenanceRequest", "plural": sentinel.RESOURCE, "singular": "maintenancerequest"}
    open_schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": sentinel.VERSION, "served": True, "storage": True, "schema": {"openAPIV3Schema": open_schema}}
    spec = {"group": sentinel.GROUP, "scope": "Cluster", "names": names, "versions": [version]}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{sentinel.RESOURCE}.{sentinel.GROUP}"},
        "spec": spec,
    }
    admin.create(crd)
    wait_until(lambda: there(admin), "it is served", 60)
    yield
    admin.delete(crd)
    wait_until(lambda: not there(admin, path_of(crd)), "it is gone", 60)


def there(admin: Admin, path: str = sentinel.PATH) -> bool:
    try:
        admin.call("GET", path)
    except Refused:
        return False
    return True


def request_of(admin: Admin, case: Case) -> Json | None:
    try:
        return admin.call("GET", f"{sentinel.PATH}/{sentinel.request_name(case.pk)}")
    except Refused as refused:
        return None if refused.status == 404 else {"refused": str(refused)}


@pytest.fixture
def case(real: Cluster, node: Callable[..., Person]) -> Case:
    node()
    return make_case(real, how=How.NVSENTINEL)


def test_a_node_is_handed_over_and_taken_back(served: None, case: Case, admin: Admin) -> None:
    before = admin.call("GET", "/api/v1/nodes/gpu-1")["metadata"]["resourceVersion"]
    assert look(case) == "out"
    made = request_of(admin, case)
    assert made is not None
    assert made["spec"] == {"nodeName": "gpu-1", "reason": case.reason}
    assert look(case) == "out"
    manage.give_back(case, note="replaced")

    assert (look(case), look(case), request_of(admin, case)) == ("returning", "returned", None)
    assert admin.call("GET", "/api/v1/nodes/gpu-1")["metadata"]["resourceVersion"] == before


def test_it_returns_when_nvsentinel_has_let_go(served: None, case: Case, admin: Admin) -> None:
    look(case)
    path = f"{sentinel.PATH}/{sentinel.request_name(case.pk)}"
    admin.call("PATCH", path, {"metadata": {"finalizers": ["nvsentinel.nvidia.com/tell"]}}, MERGE)
    manage.give_back(case, note="replaced")

    assert (look(case), look(case)) == ("returning", "returning")
    assert "NVSentinel" in case.waits
    admin.call("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
    assert look(case) == "returned"


def test_a_request_that_a_person_deleted_returns_it(served: None, case: Case, admin: Admin) -> None:
    look(case)
    admin.call("DELETE", f"{sentinel.PATH}/{sentinel.request_name(case.pk)}", {})

    assert (look(case), case.return_reason) == ("returning", "removed-by-hand")
    assert look(case) == "returned"


def test_a_node_that_is_gone_takes_its_request_along(served: None, case: Case, admin: Admin) -> None:
    look(case)
    Node.objects.all().delete()
    look(case)

    assert (look(case), case.return_reason, request_of(admin, case)) == ("returned", "node-removed", None)


def test_a_cluster_without_nvsentinel_says_so(case: Case) -> None:
    assert look(case) == "accepted"
    assert sentinel.GROUP in case.waits
