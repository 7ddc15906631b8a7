"""What is rendered for a version of Kubernetes is what that version takes, as far as that shows offline."""

from __future__ import annotations

import json

import pytest
import yaml

from stacks.engine.preparing import prepare
from stacks.engine.setup import HOST, OBJECTS
from tests.stacks.setup.clusters import (
    CONTROL_PLANE,
    MASTER,
    card,
    cluster,
    control_plane,
    file,
    made,
    windows,
)

#: apiVersion of a kind → minor versions of Kubernetes that serve it.
SERVED = {
    ("apps/v1", "DaemonSet"): range(9, 100),
    ("apps/v1", "Deployment"): range(9, 100),
    ("v1", "Service"): range(100),
    ("v1", "ServiceAccount"): range(100),
    ("v1", "Namespace"): range(100),
    ("v1", "ConfigMap"): range(100),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): range(8, 100),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): range(8, 100),
}
#: Of kubescheduler.config.k8s.io, which kube-scheduler reads.
SCHEDULER = {"v1beta2": range(22, 28), "v1beta3": range(23, 29), "v1": range(25, 100)}
APPLIED = [
    *(("gpushare", minor) for minor in range(11, 37)),
    *(("directx-alibaba", minor) for minor in range(20, 37)),
    *(("directx-tensorworks", minor) for minor in range(22, 37)),
]


def nodes(minor: int) -> list[object]:
    role = MASTER if minor < 24 else CONTROL_PLANE
    return [control_plane(role=role), card("gpu-1"), windows("win-1"), windows("win-2", "10.0.17763")]


@pytest.mark.parametrize(("stack", "minor"), APPLIED)
def test_a_version_serves_what_is_rendered_for_it(stack: str, minor: int) -> None:
    prepared = prepare(stack, cluster(f"v1.{minor}.5", nodes(minor)))  # type: ignore[arg-type]
    for thing in made(prepared):
        assert minor in SERVED[thing["apiVersion"], thing["kind"]]
        if thing["kind"] in ("DaemonSet", "Deployment"):
            template = thing["spec"]["template"]
            assert thing["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
            mounts = {one["name"] for each in template["spec"]["containers"] for one in each.get("volumeMounts", ())}
            assert mounts == {one["name"] for one in template["spec"].get("volumes", ())}


@pytest.mark.parametrize("minor", range(11, 37))
def test_kube_scheduler_gets_a_file_that_it_reads(minor: int) -> None:
    prepared = prepare("gpushare", cluster(f"v1.{minor}.5", nodes(minor)))  # type: ignore[arg-type]
    manifest = file(prepared, "kube-scheduler-manifest.yaml")
    if minor < 23:
        policy = json.loads(file(prepared, "gpushare-scheduler-policy.json"))
        assert (policy["apiVersion"], policy["kind"]) == ("v1", "Policy")
        assert "--policy-config-file=/etc/kubernetes/gpushare-scheduler-policy.json" in manifest
    else:
        config = yaml.safe_load(file(prepared, "gpushare-scheduler-config.yaml"))
        group, _, version = config["apiVersion"].partition("/")
        assert (group, config["kind"]) == ("kubescheduler.config.k8s.io", "KubeSchedulerConfiguration")
        assert minor in SCHEDULER[version]
        assert "--config=/etc/kubernetes/gpushare-scheduler-config.yaml" in manifest
        assert "policy" not in manifest


@pytest.mark.parametrize(("minor", "role"), [(11, MASTER), (23, MASTER), (24, CONTROL_PLANE), (36, CONTROL_PLANE)])
def test_the_extender_runs_where_kubeadm_puts_the_control_plane(minor: int, role: str) -> None:
    prepared = prepare("gpushare", cluster(f"v1.{minor}.5", nodes(minor)))  # type: ignore[arg-type]
    (extender,) = (thing for thing in made(prepared) if thing["kind"] == "Deployment")
    spec = extender["spec"]["template"]["spec"]
    assert spec["nodeSelector"] == {role: ""}
    assert role in {one["key"] for one in spec["tolerations"]}
    assert ("priorityClassName" in spec) == (minor >= 16)


def test_old_clusters_still_have_a_master_label_on_newer_versions() -> None:
    """It is not the one that kubeadm writes there, so the extender would not run: said."""
    prepared = prepare("gpushare", cluster("v1.30.4", [control_plane(role=MASTER), card("gpu-1")]))
    assert any("No node has the label node-role.kubernetes.io/control-plane" in one for one in prepared.warnings)


@pytest.mark.parametrize(
    ("version", "flag"),
    [
        ("v1.2.7", ""),
        ("v1.3.0", "--experimental-nvidia-gpus=1"),
        ("v1.5.8", "--experimental-nvidia-gpus=1"),
        ("v1.6.0", "--feature-gates=Accelerators=true"),
        ("v1.10.13", "--feature-gates=Accelerators=true"),
        ("v1.11.0", ""),
        ("v1.36.3", ""),
    ],
)
def test_a_kubelet_of_the_alpha_resource_gets_its_flag(version: str, flag: str) -> None:
    found = prepare("alpha", cluster(version, [card("gpu-1", version=version)]))
    texts = [one.text for one in found.files if one.kind == HOST]
    assert [flag in text for text in texts] == ([True] if flag else [])
    assert bool(found.warnings) == (not flag or any("Docker" in text for text in found.warnings))


@pytest.mark.parametrize(
    ("stack", "version", "says"),
    [
        ("gpushare", "v1.10.0", "gpushare needs Kubernetes 1.11 or newer."),
        ("hami", "v1.22.0", "HAMi needs Kubernetes 1.23 or newer."),
        ("nvidia", "v1.32.0", "NVIDIA supports its GPU Operator on Kubernetes 1.33 and newer."),
        ("directx-alibaba", "v1.20.3", "The DirectX plugin of Alibaba Cloud needs Kubernetes 1.20.4 or newer."),
        ("directx-tensorworks", "v1.21.0", "TensorWorks' DirectX plugins need Kubernetes 1.22 or newer."),
        ("alpha", "v1.2.0", "The alpha GPU resource needs Kubernetes 1.3 or newer."),
    ],
)
def test_below_its_floor_a_stack_says_so(stack: str, version: str, says: str) -> None:
    assert any(text.startswith(says) for text in prepare(stack, cluster(version, [])).warnings)


def test_on_ones_own_floor_nothing_is_said_of_the_version() -> None:
    floors = {"gpushare": "v1.11.0", "hami": "v1.23.0", "nvidia": "v1.33.0", "directx-tensorworks": "v1.22.0"}
    for stack, version in floors.items():
        assert not any("This cluster has" in text for text in prepare(stack, cluster(version, [])).warnings)


@pytest.mark.parametrize(
    ("operator", "cdi", "runtime"),
    [
        ("v24.9.2", None, "containerd"),
        ("v25.3.4", None, None),
        ("v25.10.1", {"enabled": True}, None),
        ("v26.3.3", {"enabled": True, "nriPluginEnabled": False}, None),
    ],
)
def test_values_are_those_of_the_operator_that_is_there(operator: str, cdi: object, runtime: object) -> None:
    labels = {"app.kubernetes.io/version": operator}
    there = {"kind": "Deployment", "metadata": {"name": "gpu-operator", "namespace": "gpu-operator", "labels": labels}}
    prepared = prepare("nvidia", cluster("v1.33.0", [card("gpu-1")], there))
    values = yaml.safe_load(file(prepared, "values.yaml"))
    assert values.get("cdi") == cdi
    assert values.get("operator", {}).get("defaultRuntime") == runtime
    assert f"--version {operator}" in file(prepared, "commands.sh")


def test_every_rendered_object_is_in_a_file_of_objects() -> None:
    prepared = prepare("directx-tensorworks", cluster("v1.30.4", [windows("win-1")]))
    assert {one.name for one in prepared.files if one.kind == OBJECTS} == {
        "namespace.yaml",
        "directx-device-plugins.yaml",
        "multitenancy-optional.yaml",
    }
