"""A real API server takes every manifest of the chart and of the Kustomize base, in a namespace that is `restricted`."""

from __future__ import annotations

import copy
import subprocess

import pytest
import yaml

from tests.cluster_chart.apply import WORKLOADS, Applier, pod_of
from tests.controlplane import controlplane
from tests.controlplane.admin import Refused
from tests.controlplane.objects import Json
from tests.helm import CHART, VALUES, helm, release
from tests.processes import ROOT
from tools import manifests as manifests_made

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]

#: What must be among them, with everything on.
KINDS = {
    "Deployment": 6,
    "Job": 1,
    "Service": 2,
    "Ingress": 1,
    "HorizontalPodAutoscaler": 1,
    "PodDisruptionBudget": 6,
    "NetworkPolicy": 9,
    "ResourceQuota": 1,
    "LimitRange": 1,
    "ValidatingAdmissionPolicy": 5,
    "ValidatingAdmissionPolicyBinding": 5,
    "ServiceMonitor": 1,
    "PrometheusRule": 1,
}


def of_kustomize() -> list[Json]:
    kubectl = controlplane.cache() / "kubectl"
    done = subprocess.run(
        [kubectl, "kustomize", ROOT / "deploy" / "kustomize" / "base"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


MAKERS = {
    "minimal": lambda: release("minimal"),
    "full": lambda: release("full"),
    "no launcher": lambda: release("minimal", "--set", "launcher.enabled=false", "--set", "migrations.hook=false"),
    "kustomize": of_kustomize,
}


@pytest.fixture(scope="module", params=MAKERS)
def manifests(request: pytest.FixtureRequest) -> list[Json]:
    return MAKERS[request.param]()


def test_the_api_server_takes_each_manifest(applier: Applier, manifests: list[Json]) -> None:
    names = [(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in manifests]
    assert len(names) == len(set(names)), "two have the same name"
    for one in manifests:
        applier.apply(one)


def test_each_pod_is_admitted_where_pods_are_restricted(applier: Applier, manifests: list[Json]) -> None:
    pods = [pod_of(one) for one in manifests if one["kind"] in WORKLOADS]
    assert len(pods) == 7
    for pod in pods:
        applier.try_pod(pod)
        (container,) = pod["spec"]["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert pod["spec"]["automountServiceAccountToken"] is False
        weaker = copy.deepcopy(pod)
        del weaker["spec"]["containers"][0]["securityContext"]["capabilities"]
        with pytest.raises(Refused, match="restricted"):
            applier.try_pod(weaker)


def test_with_everything_on_all_of_it_is_there() -> None:
    kinds = [one["kind"] for one in release("full")]
    assert {kind: kinds.count(kind) for kind in KINDS} == KINDS


def test_the_base_is_up_to_date() -> None:
    wanted = manifests_made.base()
    assert {path: path.read_text() for path in wanted if path.exists()} == wanted, "run: make manifests"
    assert set(manifests_made.BASE.iterdir()) == set(wanted)


def test_the_base_is_the_chart_without_what_is_helms() -> None:
    for one in of_kustomize():
        assert "helm" not in str(one).lower(), one["metadata"]["name"]


def test_a_field_that_does_not_exist_would_be_refused(applier: Applier) -> None:
    (web,) = [one for one in release("minimal") if one["kind"] == "Service"]
    with pytest.raises(Refused, match="sesionAffinity"):
        applier.apply(web | {"spec": web["spec"] | {"sesionAffinity": "None"}})


@pytest.mark.parametrize("values", VALUES)
def test_helm_lints_it(values: str) -> None:
    assert "1 chart(s) linted, 0 chart(s) failed" in helm("lint", "--strict", CHART, "--values", VALUES[values])
