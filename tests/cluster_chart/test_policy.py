"""The chart's policy on the real API server: it keeps what deploy/validation-policy.yaml keeps, and admits what values add."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.cluster_chart.apply import Applier
from tests.controlplane.admin import Admin, Refused
from tests.controlplane.objects import Json
from tests.helm import release
from tests.processes import ROOT
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]

RUNS = "gpudash-validations"
SHIPPED = "nvcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04"
OURS = "registry.example.com/gpu/burn:v2"


def policies(*words: str) -> list[Json]:
    """Those of validations; without them there are none but those of the account that marks nodes."""
    return [one for one in admission(*words) if "quarantine" not in one["metadata"]["name"]]


def admission(*words: str) -> list[Json]:
    return [one for one in release("full", *words) if one["kind"].startswith("ValidatingAdmissionPolicy")]


def pod(**changed: Any) -> Json:
    """A pod as a Job of a suite makes it, but for what is changed. image: of its container."""
    container = {"name": "one", "image": changed.pop("image", SHIPPED)}
    spec = {"automountServiceAccountToken": False, "containers": [container]} | changed
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "tried", "namespace": RUNS}, "spec": spec}


def why_not(applier: Applier, tried: Json) -> str:
    try:
        applier.try_pod(tried)
    except Refused as error:
        return str(error)
    return ""


@pytest.fixture
def policy(applier: Applier, admin: Admin) -> Iterator[None]:
    made = policies()
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": RUNS}}
    applier.apply(account, dry=False)  # no controller makes it here
    for one in made:
        applier.apply(one, dry=False)
    wait_until(lambda: "policy" in why_not(applier, pod(image="evil")), "the policy is kept", 30.0)
    yield
    for one in made:
        admin.call("DELETE", applier.address(one))
    wait_until(lambda: not why_not(applier, pod(image="evil")), "the policy is gone", 30.0)


#: What the values of ci/full-values.yaml add, and beside each what they do not.
ADDED = {
    "an image": ({"image": OURS}, {"image": "registry.example.com/gpu/burn:latest"}),
    "a pull secret": (
        {"imagePullSecrets": [{"name": "gpu-registry"}]},
        {"imagePullSecrets": [{"name": "gpu-registry-2"}]},
    ),
    "a taint": (
        {"tolerations": [{"key": "example.com/gpu", "operator": "Exists"}]},
        {"tolerations": [{"key": "example.com/cpu", "operator": "Exists"}]},
    ),
}


def test_it_admits_what_values_add_and_nothing_more(applier: Applier, policy: None) -> None:
    assert why_not(applier, pod()) == ""
    assert why_not(applier, pod(tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}])) == ""
    admitted = {name for name, (added, _) in ADDED.items() if not why_not(applier, pod(**added))}
    assert admitted == set(ADDED)
    refused = {
        name for name, (_, other) in ADDED.items() if "policy gpudash-validations" in why_not(applier, pod(**other))
    }
    assert refused == set(ADDED)


def test_without_additions_it_is_the_one_that_is_shipped() -> None:
    none = [f"launcher.policy.{name}=null" for name in ("images", "pullSecrets", "taints", "priorityClasses")]
    made = policies(*(word for one in none for word in ("--set", one)))
    shipped = list(yaml.safe_load_all((ROOT / "deploy" / "validation-policy.yaml").read_text(encoding="utf-8")))
    assert _plain(made) == _plain(shipped)


def _plain(things: list[Json]) -> list[Json]:
    """Line ends change nothing in a CEL expression, nor does the order of objects: Helm writes them by kind."""
    for one in things:
        for variable in one["spec"].get("variables", ()):
            variable["expression"] = " ".join(variable["expression"].split())
    return sorted(things, key=lambda one: (one["kind"], one["metadata"]["name"]))


def test_it_is_for_the_namespace_of_the_validations() -> None:
    made = policies("--set", "launcher.namespace=gpu-tests")
    bindings = [one for one in made if one["kind"] == "ValidatingAdmissionPolicyBinding"]
    names = {one["metadata"]["name"] for one in made if one["kind"] == "ValidatingAdmissionPolicy"}
    assert len(names) == 3
    assert {one["spec"]["policyName"] for one in bindings} == names
    for binding in bindings:
        chosen = binding["spec"]["matchResources"]["namespaceSelector"]["matchLabels"]
        assert chosen == {"kubernetes.io/metadata.name": "gpu-tests"}


def test_the_policy_of_the_account_that_marks_nodes_is_the_one_that_is_shipped_for_its_account() -> None:
    made = [one for one in admission() if "quarantine" in one["metadata"]["name"]]
    shipped = list(yaml.safe_load_all((ROOT / "deploy" / "quarantine-policy.yaml").read_text(encoding="utf-8")))
    assert _plain(made) == _plain(shipped)
    moved = [one for one in release("full", "--namespace", "gpus") if one["kind"] == "ValidatingAdmissionPolicy"]
    conditions = {
        condition["expression"]
        for one in moved
        if "quarantine" in one["metadata"]["name"]
        for condition in one["spec"]["matchConditions"]
    }
    assert conditions == {"request.userInfo.username == 'system:serviceaccount:gpus:gpudash-quarantine'"}
    assert not [one for one in admission("--set", "quarantine.policy=false") if "quarantine" in one["metadata"]["name"]]


def test_it_is_not_there_unless_it_is_asked_for() -> None:
    assert not [one for one in release("minimal") if one["kind"].startswith("ValidatingAdmissionPolicy")]
    assert policies("--set", "launcher.enabled=false") == []
