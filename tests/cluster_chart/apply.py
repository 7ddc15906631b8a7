"""Server-side apply of any manifest, for real or as a dry run, with every unknown or repeated field refused."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.controlplane.admin import Admin
from tests.controlplane.objects import Json

APPLY = "application/apply-patch+yaml"
WORKLOADS = ("Deployment", "Job")


class Applier:
    def __init__(self, admin: Admin) -> None:
        self.admin = admin
        self._resources = cache(self._asked)

    def apply(self, thing: Json, dry: bool = True) -> Json:
        """The object as the API server would store it. Raises Refused."""
        path = f"{self.address(thing)}?fieldManager=test&fieldValidation=Strict&force=true"
        return self.admin.call("PATCH", path + ("&dryRun=All" if dry else ""), thing, APPLY)

    def try_pod(self, pod: Json) -> Json:
        """What the admission of pods says to it, as a dry run. Raises Refused."""
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods?dryRun=All&fieldValidation=Strict"
        return self.admin.call("POST", path, pod)

    def address(self, thing: Json) -> str:
        return f"{self._path(thing)}/{thing['metadata']['name']}"

    def _path(self, thing: Json) -> str:
        version = thing["apiVersion"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        resource = self._resources(base)[thing["kind"]]
        namespace = thing["metadata"].get("namespace")
        assert bool(namespace) is resource["namespaced"], f"{thing['kind']} {thing['metadata']['name']}: {namespace}"
        return f"{base}/namespaces/{namespace}/{resource['name']}" if namespace else f"{base}/{resource['name']}"

    def _asked(self, base: str) -> dict[str, Any]:
        listed = self.admin.call("GET", base)["resources"]
        return {one["kind"]: one for one in listed if "/" not in one["name"]}


def pod_of(workload: Json) -> Json:
    """The pod that a controller would make of it, as a manifest."""
    template = workload["spec"]["template"]
    metadata = {**template["metadata"], "name": "tried", "namespace": workload["metadata"]["namespace"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
