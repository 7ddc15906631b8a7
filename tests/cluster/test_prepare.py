"""`cluster prepare` against a real API server: what it renders is accepted there, and once it is applied nothing differs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from inventory.models import Cluster
from tests.cluster.credentials import grant, role
from tests.cluster.fleet import Fleet
from tests.controlplane import controlplane, plugins
from tests.controlplane.admin import Admin, write_kubeconfig
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]
APPLIED = ("gpushare", "directx-alibaba", "directx-tensorworks")
_CORE = {
    "Namespace": "namespaces",
    "ServiceAccount": "serviceaccounts",
    "Service": "services",
    "ConfigMap": "configmaps",
}


def nodes() -> list[Json]:
    """A control plane node, one with an NVIDIA card, and Windows nodes for both DirectX plugins; most are tainted."""
    build = "node.kubernetes.io/windows-build"
    alibaba = {
        build: "10.0.17763",
        "topology.kubernetes.io/region": "cn-hangzhou",
        "windows.alibabacloud.com/directx-supported": "true",
    }
    first = plugins.node("cp-1", {}, **{"node-role.kubernetes.io/control-plane": ""})
    first["spec"] = {"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]}
    card = plugins.node("gpu-1", {}, **{"nvidia.com/gpu.present": "true"})
    card["spec"] = {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]}
    windows = plugins.node("win-1", {}, "windows", **{build: "10.0.20348", "kubernetes.io/arch": "amd64"})
    windows["spec"] = {"taints": [{"key": "os", "value": "windows", "effect": "NoSchedule"}]}
    return [first, card, windows, plugins.node("win-2", {}, "windows", **alibaba)]


def prepared(*words: str) -> str:
    out = StringIO()
    call_command("cluster", "prepare", "test", "--stack", *words, stdout=out)
    return out.getvalue()


def objects_of(folder: Path) -> Iterator[Json]:
    """In the order in which the commands apply them."""
    paths = sorted(folder.glob("*.yaml"), key=lambda path: (path.name != "namespace.yaml", path.name))
    for path in paths:
        for document in yaml.safe_load_all(path.read_text()):
            if document.get("metadata", {}).get("name"):
                yield document


def collection(thing: Json) -> str:
    kind, namespace = thing["kind"], thing["metadata"].get("namespace")
    plural = _CORE.get(kind, f"{kind.lower()}s")
    base = "/api/v1" if thing["apiVersion"] == "v1" else f"/apis/{thing['apiVersion']}"
    return f"{base}/namespaces/{namespace}/{plural}" if namespace else f"{base}/{plural}"


def kubectl(plane: ControlPlane, folder: Path, *words: str) -> None:
    environment = {
        **os.environ,
        "PATH": f"{controlplane.cache()}:{os.environ['PATH']}",
        "KUBECONFIG": str(plane.kubeconfig),
    }
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("stack", APPLIED)
def test_what_is_rendered_is_accepted_and_differs_in_nothing_once_it_is_applied(
    stack: str, fleet: Fleet, admin: Admin, plane: ControlPlane, cluster: Cluster, tmp_path: Path
) -> None:
    for node in nodes():
        admin.create(node)
    before = prepared(stack, "--diff", "--output", str(tmp_path))
    assert "  missing: DaemonSet " in before
    assert "no differences" not in before
    made: list[Any] = list(objects_of(tmp_path))
    assert {"DaemonSet"} <= {thing["kind"] for thing in made}
    for thing in made:
        if thing["kind"] == "Namespace":  # what is in it needs it for a dry run
            admin.call("POST", f"{collection(thing)}?dryRun=All", thing)
            admin.ensure_namespace(thing["metadata"]["name"])
            continue
        answer = admin.call("POST", f"{collection(thing)}?dryRun=All&fieldValidation=Strict", thing)
        assert answer["metadata"]["uid"]
    try:
        kubectl(plane, tmp_path, "sh", "commands.sh")
        after = prepared(stack, "--diff")
        assert "  no differences\n" in after
        assert "missing" not in after
        assert "differs" not in after
        assert prepared(stack, "--output", str(tmp_path))  # rendered again, it writes over its own files
    finally:
        kubectl(plane, tmp_path, "kubectl", "delete", "--ignore-not-found", *_but_the_namespace(tmp_path))


def _but_the_namespace(folder: Path) -> list[str]:
    """No controller runs here that would end it."""
    names = [path.name for path in sorted(folder.glob("*.yaml")) if path.name != "namespace.yaml"]
    return [word for name in names if _whole(folder / name) for word in ("-f", name)]


def _whole(path: Path) -> bool:
    return all(document.get("metadata") for document in yaml.safe_load_all(path.read_text()))


def test_what_was_changed_in_the_cluster_differs_by_its_field(
    fleet: Fleet, admin: Admin, plane: ControlPlane, cluster: Cluster, tmp_path: Path
) -> None:
    for node in nodes():
        admin.create(node)
    prepared("gpushare", "--output", str(tmp_path))
    try:
        kubectl(plane, tmp_path, "sh", "commands.sh")
        path = "/apis/apps/v1/namespaces/kube-system/deployments/gpushare-schd-extender"
        change = {"spec": {"template": {"spec": {"nodeSelector": {"node-role.kubernetes.io/control-plane": "other"}}}}}
        admin.call("PATCH", path, change, "application/merge-patch+json")
        (said,) = (line for line in prepared("gpushare", "--diff").splitlines() if line.startswith("  differs: "))
        assert said == (
            "  differs: Deployment kube-system/gpushare-schd-extender: spec.template.spec.nodeSelector: found "
            '{"node-role.kubernetes.io/control-plane": "other"}, needed {"node-role.kubernetes.io/control-plane": ""}'
        )
    finally:
        kubectl(plane, tmp_path, "kubectl", "delete", "--ignore-not-found", *_but_the_namespace(tmp_path))


def test_what_the_credentials_may_not_read_is_said_once(
    fleet: Fleet, admin: Admin, plane: ControlPlane, cluster: Cluster, tmp_path: Path
) -> None:
    for node in nodes():
        admin.create(node)
    token = plane.add_token("prepares", [])
    plane.restart("apiserver")
    grant(admin, role("prepares", nodes=["get", "list"], daemonsets=["get", "list"]), "prepares")
    kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", plane.kubeconfig, {"token": token})
    cluster.kubeconfig = str(kubeconfig)
    cluster.save()
    said = prepared("gpushare", "--diff")
    assert said.count("may not read") == 1
    assert "kubectl get deployments gpushare-schd-extender -n kube-system -o yaml" in said
    assert "missing: Deployment" not in said
    assert "missing: DaemonSet kube-system/gpushare-device-plugin-ds" in said
