"""Each account of the chart, with a token of its own: what it needs works, and anything more is refused.

The roles are applied for real. What gpudash itself says that it needs (`inventory.clusters.wanted`) is asked of the API server, what
each account may do is compared with `rights.json`, as a whole, and some of both is tried. GOLDEN=rewrite writes it anew.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from inventory import clusters
from inventory.wanted import Wanted
from kube.client import Client
from tests.cluster_chart.apply import Applier
from tests.controlplane.admin import Admin, Refused, write_kubeconfig
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json
from tests.helm import NAMESPACE, release
from tests.roles import shipped
from tools.manifests import ROLES

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]

RIGHTS = Path(__file__).parent / "rights.json"
ACCOUNTS = ("web", "watcher", "launcher", "quarantine", "tasks", "schedule", "migrate")
RUNS = "gpudash-validations"
NAMESPACES = (NAMESPACE, RUNS, "gpu-operator", "kube-system", "default")
#: Roles, accounts, and the class that the launcher reads.
GRANTED = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ServiceAccount", "PriorityClass")
_REVIEWS = "/apis/authorization.k8s.io/v1"


def rules_of(things: list[Json]) -> list[Json]:
    return [thing["rules"] for thing in things if thing["kind"] in ("Role", "ClusterRole")]


def test_the_roles_are_those_that_are_shipped() -> None:
    """deploy/*.yaml and the chart say the same, rule by rule, in the same kind of role and bound to the same accounts."""
    made = {(one["kind"], one["metadata"]["name"]): one for one in release("full") if one["kind"].endswith("Role")}
    files = [f"{name}.yaml" for name in ROLES]
    wanted = {(one["kind"], one["metadata"]["name"]): one for file in files for one in shipped(file)}
    assert {name: one["rules"] for name, one in made.items()} == {name: one["rules"] for name, one in wanted.items()}
    for name, one in wanted.items():
        if "namespace" in one["metadata"]:
            assert made[name]["metadata"]["namespace"] == one["metadata"]["namespace"]
    assert bindings("full") == {
        "gpudash-watcher": "gpudash-watcher",
        "gpudash-watcher-ascend": "gpudash-watcher",
        "gpudash-watcher-gpushare": "gpudash-watcher",
        "gpudash-exporters": "gpudash-watcher",
        "gpudash-launcher": "gpudash-launcher",
        "gpudash-launcher-classes": "gpudash-launcher",
        "gpudash-quarantine": "gpudash-quarantine",
    }


def bindings(values: str) -> dict[str, str]:
    """Role → the one account that has it."""
    found = {}
    for one in release(values):
        if one["kind"] in ("RoleBinding", "ClusterRoleBinding"):
            (subject,) = one["subjects"]
            assert (subject["kind"], subject["namespace"]) == ("ServiceAccount", NAMESPACE)
            found[one["roleRef"]["name"]] = subject["name"]
    return found


@pytest.fixture(scope="module")
def users(applier: Applier, plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Admin]:
    """Account → one who calls with its token, as the kubelet would get it for a pod. All roles of the chart are there."""
    for one in release("full", "--set", "usage.exporterNamespaces={gpu-operator}"):
        if one["kind"] in GRANTED:
            applier.apply(one, dry=False)
    folder = tmp_path_factory.mktemp("users")
    return {account: user(applier.admin, plane, folder, account) for account in ACCOUNTS}


def token_of(admin: Admin, account: str) -> str:
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/gpudash-{account}/token"
    answer = admin.call("POST", path, {"spec": {"expirationSeconds": 3600}})
    return str(answer["status"]["token"])


def user(admin: Admin, plane: ControlPlane, folder: Path, account: str) -> Admin:
    credentials = {"token": token_of(admin, account)}
    return Admin(write_kubeconfig(folder / account, plane.kubeconfig, credentials))


def may(user: Admin, wanted: Wanted) -> bool:
    resource, _, subresource = wanted.resource.partition("/")
    attributes = {"verb": wanted.verb, "group": wanted.group, "resource": resource, "subresource": subresource}
    attributes |= {"namespace": wanted.namespace, "name": wanted.name}
    review = {"spec": {"resourceAttributes": attributes}}
    return bool(user.call("POST", f"{_REVIEWS}/selfsubjectaccessreviews", review)["status"]["allowed"])


def test_each_may_do_what_gpudash_needs(users: dict[str, Admin]) -> None:
    needed = clusters.wanted()
    lacking = [one for one in needed if not may(users[one.account], one)]
    assert lacking == []
    assert len(needed) > 15
    launching = [one for one in needed if one.account == "launcher" and one.verb in ("create", "delete", "update")]
    assert not [one for one in launching if may(users["watcher"], one)], "a watcher cannot launch"


def test_each_may_do_no_more_than_is_written_down(users: dict[str, Admin]) -> None:
    found = {account: {name: rules(one, name) for name in NAMESPACES} for account, one in users.items()}
    everybody = found.pop("web")
    assert found.pop("tasks") == found.pop("schedule") == found.pop("migrate") == everybody
    told = {
        account: {name: [rule for rule in mine[name] if rule not in everybody[name]] for name in NAMESPACES}
        for account, mine in found.items()
    }
    if os.environ.get("GOLDEN") == "rewrite":
        RIGHTS.write_text(json.dumps({"everybody": everybody["default"], **told}, indent=1, sort_keys=True) + "\n")
    golden = json.loads(RIGHTS.read_text())
    assert {"everybody": everybody["default"], **told} == golden
    assert all(rules == everybody["default"] for rules in everybody.values())


def rules(user: Admin, namespace: str) -> list[str]:
    """What it may do there, a line for each rule."""
    answer = user.call("POST", f"{_REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": namespace}})
    return sorted({line(rule) for rule in answer["status"]["resourceRules"]})


def line(rule: dict[str, Any]) -> str:
    verbs, groups = ",".join(sorted(rule["verbs"])), ",".join(sorted(rule["apiGroups"]))
    names = ",".join(sorted(rule.get("resourceNames", ())))
    return f"{verbs} {'|'.join(sorted(rule['resources']))} of '{groups}'" + (f" named {names}" if names else "")


JOBS = f"/apis/batch/v1/namespaces/{RUNS}/jobs"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{RUNS}/leases"
SERVICES = "/api/v1/namespaces/kube-system/services"
WORKS = {
    "watcher": (
        ("GET", "/api/v1/nodes"),
        ("GET", "/api/v1/pods"),
        ("GET", "/apis/apps/v1/daemonsets"),
        ("GET", "/apis/apps/v1/deployments"),
        ("GET", f"{SERVICES}?fieldSelector=metadata.name%3Dgpushare-schd-extender"),
        ("GET", "/apis/resource.k8s.io/v1/resourceslices"),
        ("GET", "/apis/resource.k8s.io/v1/resourceclaims"),
        ("GET", "/api/v1/namespaces/kube-system"),
        ("GET", "/api/v1/namespaces/kube-system/configmaps"),
    ),
    "launcher": (
        ("GET", JOBS),
        ("GET", f"/api/v1/namespaces/{RUNS}/pods"),
        ("GET", f"/api/v1/namespaces/{RUNS}/events"),
        ("GET", "/apis/node.k8s.io/v1/runtimeclasses"),
        ("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/gpudash-policy"),
    ),
}
IS_REFUSED = {
    "web": (("GET", "/api/v1/nodes"), ("GET", JOBS), ("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets")),
    "watcher": (
        ("GET", "/api/v1/secrets"),
        ("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets/gpudash-watcher"),
        ("GET", "/api/v1/configmaps"),
        ("GET", f"/api/v1/namespaces/{NAMESPACE}/configmaps"),
        ("GET", SERVICES),
        ("PATCH", "/apis/apps/v1/namespaces/kube-system/deployments/any"),
        ("GET", "/api/v1/namespaces/default"),
        ("GET", JOBS),
        ("POST", JOBS),
        ("DELETE", "/api/v1/nodes/any"),
        ("PATCH", "/api/v1/nodes/any"),
        ("DELETE", "/api/v1/namespaces/default/pods/any"),
        ("GET", "/api/v1/namespaces/default/pods/any/log"),
        ("GET", "/api/v1/namespaces/default/pods/any/proxy/"),
        ("POST", "/api/v1/namespaces/default/pods/any/exec"),
        ("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/gpudash-launcher/token"),
    ),
    "launcher": (
        ("GET", "/api/v1/nodes"),
        ("GET", "/api/v1/pods"),
        ("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets"),
        ("GET", f"/api/v1/namespaces/{RUNS}/secrets"),
        ("POST", "/apis/batch/v1/namespaces/default/jobs"),
        ("POST", f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"),
        ("PUT", f"{JOBS}/any"),
        ("DELETE", JOBS),
        ("POST", f"/api/v1/namespaces/{RUNS}/pods"),
        ("POST", f"/api/v1/namespaces/{RUNS}/pods/any/exec"),
        ("DELETE", f"{LEASES}/any"),
        ("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/gpudash-watcher/token"),
        ("POST", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{RUNS}/rolebindings"),
    ),
}


def test_what_each_needs_works(users: dict[str, Admin]) -> None:
    for account, calls in WORKS.items():
        for method, path in calls:
            assert users[account].call(method, path)["kind"]
    launcher = users["launcher"]
    name = "tried"
    container = {"name": "main", "image": "registry.example.com/suite:1"}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    launcher.call("POST", JOBS, {"metadata": {"name": name}, "spec": {"template": template}})
    assert launcher.call("GET", f"{JOBS}/{name}")["metadata"]["name"] == name
    launcher.call("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})
    made = launcher.call("POST", LEASES, {"metadata": {"name": "gpudash-launcher-tried"}, "spec": {}})
    launcher.call("PUT", f"{LEASES}/gpudash-launcher-tried", made | {"spec": {"holderIdentity": "me"}})


@pytest.mark.parametrize("account", IS_REFUSED)
def test_anything_more_is_refused(users: dict[str, Admin], account: str) -> None:
    for method, path in IS_REFUSED[account]:
        with pytest.raises(Refused) as refused:
            users[account].call(method, path, None if method == "GET" else {"metadata": {"name": "any"}})
        assert refused.value.status == 403, f"{method} {path}: {refused.value}"


def test_gpudash_reads_the_cluster_by_the_files_of_its_pod(
    users: dict[str, Admin], applier: Applier, plane: ControlPlane, tmp_path: Path
) -> None:
    """The kubeconfig of the ConfigMap beside the CA and the token, as the volume has them; and a token that the kubelet renews."""
    (mapped,) = [
        one for one in release("minimal") if (one["kind"], one["metadata"]["name"]) == ("ConfigMap", "gpudash-clusters")
    ]
    text = mapped["data"]["kubeconfig"].replace("https://kubernetes.default.svc", users["web"].server)
    (tmp_path / "kubeconfig").write_text(text)
    shutil.copy(plane.dir / "certs" / "apiserver.crt", tmp_path / "ca.crt")
    (tmp_path / "token").write_text(token_of(applier.admin, "watcher"))
    client = Client(str(tmp_path / "kubeconfig"))
    assert json.loads(client.get("/api/v1/nodes", timeout_s=10))["kind"] == "NodeList"
    (tmp_path / "token").write_text(token_of(applier.admin, "web"))
    client._token_read_at = float("-inf")
    with pytest.raises(Exception, match="403"):
        client.get("/api/v1/nodes", timeout_s=10)
    client.close()
