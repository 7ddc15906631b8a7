"""What the account of deploy/quarantine-role.yaml may do, and what deploy/quarantine-policy.yaml refuses it, with its own token."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inventory import checks, clusters
from inventory.marks import ANNOTATION, TAINT
from inventory.models import Cluster
from quarantine import sentinel
from quarantine.wanted import wanted
from tests.cluster_quarantine.people import TOOL, Person
from tests.controlplane.admin import MERGE, Admin, Refused

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]
OURS = {"key": TAINT, "value": "c1", "effect": "NoSchedule"}
OTHER = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}


@pytest.fixture
def holder(account: Path) -> Admin:
    return Admin(account)


def refused(call: Callable[[], Any]) -> str:
    """What the API server says; "" where it does it."""
    try:
        call()
    except Refused as error:
        return str(error) if error.status in (403, 422) else ""
    return ""


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"taints": [TOOL, OURS]}},
        {"metadata": {"annotations": {ANNOTATION: "{}"}}},
        {"spec": {"unschedulable": True}},
        {"metadata": {"annotations": {ANNOTATION: "{}"}}, "spec": {"taints": [TOOL, OURS], "unschedulable": True}},
    ],
    ids=("our taint", "our annotation", "cordon", "all"),
)
def test_it_may_set_and_remove_its_own_marks(node: Callable[..., Person], holder: Admin, change: Any) -> None:
    person = node(taints=[TOOL])
    holder.call("PATCH", person.path, change, MERGE)
    back = {"metadata": {"annotations": {ANNOTATION: None}}, "spec": {"taints": [TOOL], "unschedulable": None}}
    holder.call("PATCH", person.path, back, MERGE)
    assert (person.taint_keys(), person.cordoned) == ({TOOL["key"]}, False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"spec": {"taints": [TOOL, OTHER]}}, "no taint but"),
        ({"spec": {"taints": None}}, "no taint but"),
        ({"spec": {"taints": [TOOL | {"effect": "NoExecute"}]}}, "no taint but"),
        ({"spec": {"taints": [TOOL, OURS | {"effect": "NoExecute"}]}}, "evicts nothing"),
        ({"metadata": {"labels": {"a": "b"}}}, "no label"),
        ({"metadata": {"labels": {"kubernetes.io/hostname": None}}}, "no label"),
        ({"metadata": {"annotations": {"gpudash.io/policies": "off"}}}, "no annotation but"),
        ({"metadata": {"annotations": {"kept": None}}}, "no annotation but"),
        ({"metadata": {"annotations": {"kept": "changed"}}}, "no annotation but"),
        ({"metadata": {"finalizers": ["example.com/stay"]}}, "no label, finalizer"),
        (
            {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "y"}]}},
            "no label, finalizer",
        ),
        ({"spec": {"providerID": "example://1"}}, "no other field"),
        ({"spec": {"podCIDR": "10.9.0.0/24", "podCIDRs": ["10.9.0.0/24"]}}, "no other field"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_changes_nothing_else_of_a_node(node: Callable[..., Person], holder: Admin, change: Any, words: str) -> None:
    person = node(taints=[TOOL])
    person.change({"metadata": {"annotations": {"kept": "as it is"}}})

    assert words in refused(lambda: holder.call("PATCH", person.path, change, MERGE))
    person.change(change)  # an administrator may
    person.change({"metadata": {"finalizers": None}})


def test_it_deletes_creates_lists_and_evicts_nothing(node: Callable[..., Person], holder: Admin) -> None:
    person = node()
    pod = "/api/v1/namespaces/default/pods/x"
    for method, path, body in (
        ("DELETE", person.path, {}),
        ("POST", "/api/v1/nodes", {"metadata": {"name": "new"}}),
        ("PUT", person.path, person.read()),
        ("PATCH", f"{person.path}/status", {"status": {"phase": "Running"}}),
        ("GET", "/api/v1/nodes", None),
        ("GET", "/api/v1/pods", None),
        ("POST", f"{pod}/eviction", {"metadata": {"name": "x"}}),
        ("DELETE", pod, {}),
        ("GET", "/api/v1/namespaces/gpudash/secrets", None),
        ("POST", "/api/v1/namespaces/gpudash/serviceaccounts/gpudash-quarantine/token", {"spec": {}}),
    ):
        kind = MERGE if method == "PATCH" else "application/json"
        assert refused(lambda: holder.call(method, path, body, kind)), (method, path)  # noqa: B023


def test_the_policy_binds_no_other_account(node: Callable[..., Person]) -> None:
    node().change({"metadata": {"labels": {"a": "b"}}, "spec": {"taints": [OTHER]}})


def test_the_role_grants_what_gpudash_asks_for_and_the_check_says_so(real: Cluster) -> None:
    answers = checks.check_quarantine(real)

    asked = {(one.verb, one.resource) for one in wanted()}
    assert {(one.wanted.verb, one.wanted.resource) for one in answers} == asked
    assert [one for one in answers if not one.allowed] == []
    real.refresh_from_db()
    assert real.quarantine_checked_at is not None
    assert {one["resource"] for one in real.permissions} >= {"nodes", f"{sentinel.RESOURCE}.{sentinel.GROUP}"}


def test_a_cluster_without_these_credentials_is_asked_nothing(real: Cluster) -> None:
    real.quarantine_kubeconfig = ""
    assert checks.check_quarantine(real) == []
    assert not [one for one in clusters.wanted(real) if one.account == "quarantine"]
