"""Components by a real API server: the golden cases as objects there, read by the watchers, and what the tables then have.

Custom resource definitions admit any field; no controller runs, so that pods and states are those of the case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from inventory.components import completed
from inventory.models import Cluster, Component, Watch
from stacks.engine.software.base import Statement
from tests.cluster.fleet import Fleet
from tests.controlplane.admin import Admin, Refused, path_of
from tests.controlplane.objects import Json
from tests.inventory.components.case import GOLDEN, names
from tests.processes import Processes
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]

#: kind → (plural, group, version, whether it is in a namespace).
RESOURCES = {
    "ClusterPolicy": ("clusterpolicies", "nvidia.com", "v1", False),
    "NVIDIADriver": ("nvidiadrivers", "nvidia.com", "v1alpha1", False),
}
#: In this order: owners are there before their pods.
ORDER = ("ClusterPolicy", "NVIDIADriver", "Node", "DaemonSet", "Deployment", "Service", "Pod")
IN_WORDS = frozenset(("why", "warn"))


def definition(kind: str) -> Json:
    plural, group, version, namespaced = RESOURCES[kind]
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = {"name": version, "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    return {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "scope": "Namespaced" if namespaced else "Cluster",
            "versions": [served],
        },
    }


@pytest.fixture
def definitions(admin: Admin, fleet: Fleet) -> Iterator[list[str]]:
    """Kinds whose definition is there; they go with the test."""
    made: list[str] = []
    yield made
    for kind in made:
        admin.delete(definition(kind))
    wait_until(lambda: not served(admin, made), "custom resources are gone", 30)
    for thing in ("deployments", "services"):
        root = "/apis/apps/v1" if thing == "deployments" else "/api/v1"
        for one in admin.list(f"{root}/{thing}"):
            if one["metadata"]["name"] != "kubernetes":
                admin.call(
                    "DELETE", f"{root}/namespaces/{one['metadata']['namespace']}/{thing}/{one['metadata']['name']}"
                )


def served(admin: Admin, kinds: list[str]) -> list[str]:
    found = []
    for kind in kinds:
        plural, group, version, _ = RESOURCES[kind]
        try:
            admin.list(f"/apis/{group}/{version}/{plural}")
        except Refused:
            continue
        found.append(kind)
    return found


def put(admin: Admin, objects: list[Json], definitions: list[str]) -> None:
    """All objects of a case; owners have the uids that the server gave them."""
    uids: dict[str, str] = {}
    for namespace in {one["metadata"].get("namespace") for one in objects} - {None}:
        admin.ensure_namespace(namespace)
    wanted = sorted({one["kind"] for one in objects} & RESOURCES.keys())
    for kind in wanted:
        admin.create(definition(kind))
        definitions.append(kind)
    wait_until(lambda: served(admin, wanted) == wanted, "custom resources are served", 30)
    for kind in ORDER:
        for one in (found for found in objects if found["kind"] == kind):
            metadata = dict(one["metadata"])
            mine = metadata.pop("uid")
            metadata["ownerReferences"] = [
                owner | {"uid": uids.get(owner["uid"], owner["uid"])} for owner in metadata.get("ownerReferences", [])
            ]
            made = admin.create(admitted({**one, "metadata": metadata}))
            uids[mine] = made["metadata"]["uid"]
            if kind == "Node":  # the API server taints new nodes until a controller has seen them ready
                taints = (one.get("spec") or {}).get("taints")
                admin.patch(made, {"spec": {"taints": taints}})


def admitted(thing: Json) -> Json:
    """Without what this API server refuses and nobody reads: HostProcess, and mounts of volumes that a pod of a case leaves out."""
    specs = [thing.get("spec", {}), thing.get("spec", {}).get("template", {}).get("spec", {})]
    for spec in specs:
        if "containers" in spec:
            spec.pop("securityContext", None)
            if "volumes" not in spec:
                for container in spec["containers"]:
                    container.pop("volumeMounts", None)
    return thing


@pytest.mark.parametrize("name", names())
def test_a_case_in_a_real_cluster_is_judged_as_stated(
    name: str, admin: Admin, cluster: Cluster, processes: Processes, definitions: list[str]
) -> None:
    case = yaml.safe_load((GOLDEN / f"{name}.yaml").read_text())
    put(admin, [one for one in case["objects"] if one["kind"] in ORDER], definitions)
    processes.call("sync", "--once")
    expect: dict[str, Any] = case["expect"]
    rows: dict[str, dict[str, Component]] = {}
    for row in Component.objects.filter(cluster=cluster):
        rows.setdefault(row.node_name, {})[row.name] = row
    known = {row.name for row in Component.objects.filter(cluster=cluster)}
    wrong: list[str] = []
    for node, stated in (*expect.get("nodes", {}).items(), ("", expect.get("cluster", {}))):
        there = rows.get(node, {})
        absent = completed({}, known) if node else {}
        for component, fields in stated.items():
            found: Component | Statement | None = there.get(component) or absent.get(component)
            wrong += [
                f"{node}/{component}.{key}: {getattr(found, key, None)!r}, stated {value!r}"
                for key, value in fields.items()
                if key not in IN_WORDS and str(getattr(found, key, None)) != str(value)
            ]
    assert wrong == []
    if cause := expect.get("first_cause"):
        node = cause.get("node") or next(iter(expect["nodes"]))
        assert [one.name for one in rows[node].values() if one.first_cause] == [cause["component"]]


def test_an_operator_that_is_installed_later_is_found(admin: Admin, watched: Cluster, definitions: list[str]) -> None:
    """Until then its custom resources cost nothing: nobody holds a lease of them."""
    policies = Watch.objects.filter(cluster=watched, kind="clusterpolicies")
    wait_until(lambda: policies.get().state == "not-served", "they rest", 60)
    assert policies.get().holder == ""
    case = yaml.safe_load((GOLDEN / "c02-driver-in-use-all-wait.yaml").read_text())
    put(admin, [one for one in case["objects"] if one["kind"] in ORDER], definitions)
    wait_until(lambda: policies.get().state == "watching", "they are watched", 150, every_s=0.5)
    cause = Component.objects.filter(cluster=watched, node_name="gpu-1", first_cause=True)
    wait_until(lambda: [one.name for one in cause.all()] == ["driver"], "the cause is found", 30)
    pod = next(one for one in admin.list("/api/v1/namespaces/gpu-operator/pods") if "driver" in one["metadata"]["name"])
    ready = [
        {
            "name": "nvidia-driver-ctr",
            "ready": True,
            "state": {"running": {}},
            "image": "x",
            "imageID": "",
            "restartCount": 0,
        }
    ]
    conditions = [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Initialized", "Ready")]
    init = [
        {**one, "ready": True, "state": {"terminated": {"exitCode": 0}}}
        for one in pod["status"]["initContainerStatuses"]
    ]
    change = {"phase": "Running", "conditions": conditions, "containerStatuses": ready, "initContainerStatuses": init}
    admin.call("PATCH", path_of(pod | {"kind": "Pod"}) + "/status", {"status": change}, "application/merge-patch+json")
    driver = Component.objects.filter(cluster=watched, node_name="gpu-1", name="driver")
    wait_until(lambda: driver.get().state == "ready", "the driver is ready", 30)
