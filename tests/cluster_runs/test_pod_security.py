"""The namespace that is shipped, on the real API server: what the suites' pods need is admitted, what they do not need is refused.

Pod Security, limits and quota are the API server's own. A network policy is kept by the network plugin, which is not here.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from inventory.models import Cluster
from tests.cluster_runs.conftest import NAMESPACE, add_node
from tests.cluster_runs.kubelet import Kubelet, Script
from tests.cluster_runs.test_groups import WELL, asked, recorded
from tests.cluster_runs.test_runs import drive, jobs
from tests.controlplane import controlplane
from tests.controlplane.admin import MERGE, Admin, Refused
from tests.controlplane.controlplane import ControlPlane
from tests.processes import ROOT
from tests.services import wait_until
from tests.validations.recorded import codes, later, wish
from tests.validations.suites.targets import RUN, TARGETS
from validations.requests import request_run
from validations.suites import registry
from validations.suites.engine.base import Suite

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600, func_only=True)]

LEVELS = ("privileged", "baseline", "restricted")
FITTING = [(suite, name) for suite in registry().values() for name, target in TARGETS.items() if not suite.fit(target)]


@pytest.fixture(scope="module")
def admin(plane: ControlPlane) -> Admin:
    """With the shipped namespace, and one of each level beside it."""
    kubectl = [str(controlplane.cache() / "kubectl"), "--kubeconfig", str(plane.kubeconfig)]
    file = ROOT / "deploy" / "validation-namespace.yaml"
    subprocess.run([*kubectl, "apply", "-f", str(file)], check=True, capture_output=True, timeout=60)
    made = Admin(plane.kubeconfig)
    for level in LEVELS:
        labels = {"pod-security.kubernetes.io/enforce": level}
        made.call("POST", "/api/v1/namespaces", {"metadata": {"name": f"only-{level}", "labels": labels}})
    runtime = {"metadata": {"name": "nvidia"}, "handler": "nvidia"}
    made.call("POST", "/apis/node.k8s.io/v1/runtimeclasses", runtime)
    return made


@pytest.fixture(scope="module")
def tainted(admin: Admin) -> None:
    """Nodes with taints, and priority classes: one that is urgent, one that is the cluster's default."""
    for name, taint in {
        "control-plane": {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
        "reserved": {"key": "sku", "value": "finance", "effect": "NoSchedule"},
        "open": {"key": "sku", "value": "gpu", "effect": "NoSchedule"},
        "preferred": {"key": "busy", "effect": "PreferNoSchedule"},
    }.items():
        admin.call("POST", "/api/v1/nodes", {"metadata": {"name": name}})
        # The API server adds the taint of a node that is not ready; no controller takes it away here.
        admin.call("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": [taint]}}, MERGE)
    for name, default in {"urgent": False, "usual": True}.items():
        made = {"metadata": {"name": name}, "value": 1000, "globalDefault": default}
        admin.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", made)


#: A pod that each of the policies refuses.
REFUSED = ({"image": "evil"}, {"nodeName": "control-plane"}, {"priorityClassName": "urgent"})


@pytest.fixture
def policy(admin: Admin, plane: ControlPlane, tainted: None) -> Iterator[None]:
    """The optional policies of the shipped namespace, once the API server keeps each of them."""
    kubectl = [str(controlplane.cache() / "kubectl"), "--kubeconfig", str(plane.kubeconfig)]
    file = str(ROOT / "deploy" / "validation-policy.yaml")
    subprocess.run([*kubectl, "apply", "-f", file], check=True, capture_output=True, timeout=60)
    for refused in REFUSED:
        wait_until(lambda pod=refused: why_not(admin, NAMESPACE, changed(**pod)), f"{refused} is refused", 30.0)
    yield
    subprocess.run([*kubectl, "delete", "-f", file], check=True, capture_output=True, timeout=60)
    for refused in REFUSED:
        wait_until(lambda pod=refused: not why_not(admin, NAMESPACE, changed(**pod)), f"{refused} is admitted", 30.0)


@pytest.fixture
def only_restricted(admin: Admin) -> Iterator[None]:
    """The shipped namespace, as docs/validations.md has it where all suites keep the higher level."""
    set_level(admin, "restricted")
    yield
    set_level(admin, "baseline")


def set_level(admin: Admin, level: str) -> None:
    change = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": level}}}
    admin.call("PATCH", f"/api/v1/namespaces/{NAMESPACE}", change, MERGE)


def why_not(admin: Admin, namespace: str, pod: dict[str, Any]) -> str:
    """Why the API server does not take this pod; "" when it does. Nothing is stored."""
    path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All&fieldValidation=Strict"
    try:
        admin.call("POST", path, {"metadata": {"generateName": "p-"}} | pod)
    except Refused as error:
        return str(error).replace('\\"', '"')
    return ""


def pod_of(suite: Suite, name: str, **options: object) -> dict[str, Any]:
    template = suite.manifest(TARGETS[name], options, RUN)["spec"]["template"]
    return {"metadata": template["metadata"] | {"generateName": "p-"}, "spec": template["spec"]}


def _id(value: object) -> str:
    return value.id if isinstance(value, Suite) else str(value)


@pytest.mark.parametrize(("suite", "name"), FITTING, ids=_id)
def test_a_suites_pod_is_admitted_up_to_the_level_that_it_declares_and_no_further(
    admin: Admin, suite: Suite, name: str
) -> None:
    declared = LEVELS.index(suite.pod_security_on(TARGETS[name]))
    said = {level: why_not(admin, f"only-{level}", pod_of(suite, name)) for level in LEVELS}
    for place, level in enumerate(LEVELS):
        if place <= declared:
            assert said[level] == ""
        else:
            assert f'violates PodSecurity "{level}' in said[level]
    shipped = why_not(admin, NAMESPACE, pod_of(suite, name))
    assert shipped == "" if declared else 'violates PodSecurity "baseline' in shipped


def test_every_level_is_some_suites() -> None:
    found = {suite.pod_security_on(TARGETS[name]) for suite, name in FITTING}
    assert found == set(LEVELS)


def changed(**spec: Any) -> dict[str, Any]:
    pod: dict[str, Any] = json.loads(json.dumps(pod_of(registry()["cuda-vectoradd"], "nvidia-whole")))
    container = pod["spec"]["containers"][0]
    for name, value in spec.items():
        if name in ("image", "env", "envFrom", "securityContext", "resources", "ports"):
            container[name] = value
        else:
            pod["spec"][name] = value
    return pod


@pytest.mark.parametrize(
    ("pod", "words"),
    [
        ({"securityContext": {"privileged": True}}, "privileged"),
        ({"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}, "SYS_ADMIN"),
        ({"volumes": [{"name": "tmp", "hostPath": {"path": "/"}}]}, "hostPath"),
        ({"hostNetwork": True}, "hostNetwork"),
        ({"hostPID": True}, "hostPID"),
        ({"ports": [{"containerPort": 80, "hostPort": 80}]}, "hostPort"),
        (
            {"resources": {"limits": {"cpu": "1", "memory": "200Gi", "ephemeral-storage": "1Gi"}}},
            "maximum memory usage",
        ),
        ({"resources": {"limits": {"cpu": "65", "memory": "1Gi", "ephemeral-storage": "1Gi"}}}, "maximum cpu usage"),
        (
            {"resources": {"limits": {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Ti"}}},
            "maximum ephemeral-storage usage",
        ),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_what_no_suite_needs_is_refused_in_the_shipped_namespace(admin: Admin, pod: dict[str, Any], words: str) -> None:
    assert words in why_not(admin, NAMESPACE, changed(**pod))


def test_a_pod_without_limits_gets_some(admin: Admin) -> None:
    path = f"/api/v1/namespaces/{NAMESPACE}/pods?dryRun=All"
    made = admin.call("POST", path, {"metadata": {"generateName": "p-"}} | changed(resources={}))
    given = made["spec"]["containers"][0]["resources"]
    assert given["limits"] == {"cpu": "2", "memory": "1Gi", "ephemeral-storage": "1Gi"}


def test_nothing_goes_in_or_out(admin: Admin) -> None:
    found = admin.list(f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/networkpolicies")
    of_groups = [one for one in found if one["metadata"]["name"] == "groups"]  # deploy/validation-groups.yaml
    assert all(one["spec"]["podSelector"].get("matchExpressions") for one in of_groups)
    [spec] = [one["spec"] for one in found if one not in of_groups]
    assert spec["podSelector"] == {}
    assert set(spec["policyTypes"]) == {"Ingress", "Egress"}
    assert not spec.get("ingress")
    assert not spec.get("egress")


def test_a_run_goes_through_in_the_shipped_namespace(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "secured")
    run, _ = request_run(wish(node="secured"))
    drive(real, run)
    assert run.verdict == "passed", run.reasons
    assert jobs(kubelet) == []


def test_a_run_that_is_not_admitted_says_so_and_ends(real: Cluster, kubelet: Kubelet, only_restricted: None) -> None:
    add_node(real, kubelet, "strict")
    run, _ = request_run(wish(node="strict", suite="dcgm-diag"))
    drive(real, run, lambda: "violates PodSecurity" in run.pending_message)
    later(run, 601)
    drive(real, run)
    assert codes(run) == ["unschedulable"]
    assert "violates PodSecurity" in run.reasons[0]["text"]


def test_with_the_policy_the_suites_run_as_they_do_without(admin: Admin, policy: None) -> None:
    said = {
        f"{suite.id} on {name}": why
        for suite, name in FITTING
        if suite.pod_security_on(TARGETS[name]) != "privileged"
        and (why := why_not(admin, NAMESPACE, pod_of(suite, name)))
    }
    assert said == {}


#: What somebody with the launcher's token might try, and the words of the policy that refuses it. Without it all of this is admitted.
TRIED: dict[str, tuple[dict[str, Any], str]] = {
    "an image": ({"image": "registry.example.com/evil:1"}, "registry.example.com/evil:1 is not one of the validations"),
    "an image of a name alike": ({"image": "evil.io/nvcr.io/nvidia/cuda:1"}, "is not one of the validations"),
    "an image behind a digest": (
        {"image": f"nvcr.io/nvidia/other:1@sha256:{'a' * 64}"},
        "is not one of the validations",
    ),
    "a Secret as a volume": ({"volumes": [{"name": "tmp", "secret": {"secretName": "registry"}}]}, "mounts no Secret"),
    "a Secret in the environment": ({"envFrom": [{"secretRef": {"name": "registry"}}]}, "takes no Secret"),
    "a key of a Secret": (
        {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "registry", "key": "a"}}}]},
        "takes no Secret",
    ),
    "a pull secret": ({"imagePullSecrets": [{"name": "theirs"}]}, "the pull secret is not one"),
    "every taint": ({"tolerations": [{"operator": "Exists"}]}, "does not tolerate this taint"),
    "the control plane": (
        {"tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]},
        "does not tolerate this taint",
    ),
    "a token": ({"automountServiceAccountToken": True}, "no token of a service account"),
    "another account": ({"serviceAccountName": "builder"}, "no token of a service account"),
    "a node that is not for pods": (
        {"nodeName": "control-plane"},
        "has the taint node-role.kubernetes.io/control-plane",
    ),
    "a node with a taint of another value": (
        {"nodeName": "reserved", "tolerations": [{"key": "sku", "value": "gpu"}]},
        "the node reserved has the taint sku",
    ),
    "a priority": ({"priorityClassName": "urgent"}, "the priority class urgent is not one of the validations"),
    "the highest priority": (
        {"priorityClassName": "system-node-critical"},
        "the priority class system-node-critical is not one of the validations",
    ),
}


def test_without_the_policy_the_namespace_alone_admits_what_is_tried(admin: Admin, tainted: None) -> None:
    assert {name for name, (pod, _) in TRIED.items() if why_not(admin, NAMESPACE, changed(**pod))} == set()


def test_with_the_policy_a_stolen_token_runs_nothing_else(admin: Admin, tainted: None, policy: None) -> None:
    wrong = {
        name: said
        for name, (pod, words) in TRIED.items()
        if words not in (said := why_not(admin, NAMESPACE, changed(**pod)))
    }
    assert wrong == {}


def test_a_pod_may_name_a_node_whose_taints_it_tolerates(admin: Admin, tainted: None, policy: None) -> None:
    tolerated = [{"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]
    assert why_not(admin, NAMESPACE, changed(nodeName="open", tolerations=tolerated)) == ""
    assert why_not(admin, NAMESPACE, changed(nodeName="open", tolerations=[{"key": "sku", "operator": "Exists"}])) == ""
    assert why_not(admin, NAMESPACE, changed(nodeName="preferred")) == ""


def test_the_default_priority_class_of_a_cluster_refuses_no_validation(
    admin: Admin, tainted: None, policy: None
) -> None:
    path = f"/api/v1/namespaces/{NAMESPACE}/pods?dryRun=All"
    made = admin.call("POST", path, {"metadata": {"generateName": "p-"}} | changed())
    assert made["spec"]["priorityClassName"] == "usual"


def test_a_run_goes_through_under_the_policy(real: Cluster, kubelet: Kubelet, policy: None) -> None:
    add_node(real, kubelet, "kept")
    run, _ = request_run(wish(node="kept"))
    drive(real, run)
    assert run.verdict == "passed", run.reasons


def test_a_group_goes_through_under_the_policy(
    admin: Admin, plane: ControlPlane, real: Cluster, kubelet: Kubelet, policy: None
) -> None:
    kubectl = [str(controlplane.cache() / "kubectl"), "--kubeconfig", str(plane.kubeconfig)]
    file = str(ROOT / "deploy" / "validation-groups.yaml")
    subprocess.run([*kubectl, "apply", "-f", file], check=True, capture_output=True, timeout=60)
    run = asked(real, kubelet, "ruled", Script(recorded("two-nodes"), others=WELL))
    drive(real, run)
    assert run.verdict == "passed", run.reasons
    [service] = admin.list(f"/api/v1/namespaces/{NAMESPACE}/services")
    spec = pod_spec_of(run.manifest)
    assert (spec["subdomain"], service["spec"]["clusterIP"]) == (service["metadata"]["name"], "None")
    labels = run.manifest["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()


def test_the_policy_takes_no_other_variable_from_elsewhere(admin: Admin, policy: None) -> None:
    for name, source in {
        "JOB_COMPLETION_INDEX": {"secretKeyRef": {"name": "a", "key": "b"}},
        "OTHER": {"fieldRef": {"fieldPath": "metadata.name"}},
    }.items():
        pod = changed(env=[{"name": name, "valueFrom": source}])
        assert "into its environment" in why_not(admin, NAMESPACE, pod)


def pod_spec_of(manifest: dict[str, Any]) -> dict[str, Any]:
    return dict(manifest["spec"]["template"]["spec"])
