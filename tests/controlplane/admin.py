"""An administrator and a kubelet at once: plain calls of the API of a running control plane.

Own HTTP, not the product's client: what is tested must not be read through itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import urllib3

from tests.controlplane.objects import Json

_PATHS = {
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/namespaces/{}/pods",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "Service": "/api/v1/namespaces/{}/services",
    "ClusterPolicy": "/apis/nvidia.com/v1/clusterpolicies",
    "NVIDIADriver": "/apis/nvidia.com/v1alpha1/nvidiadrivers",
    "GPUCluster": "/apis/nvidia.com/v1alpha1/gpuclusters",
    "DeviceConfig": "/apis/amd.com/v1alpha1/namespaces/{}/deviceconfigs",
    "GpuDevicePlugin": "/apis/deviceplugin.intel.com/v1/gpudeviceplugins",
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "Namespace": "/api/v1/namespaces",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "Device": "/apis/scheduling.koordinator.sh/v1alpha1/devices",
    "DeviceClass": "/apis/resource.k8s.io/v1/deviceclasses",
    "ResourceSlice": "/apis/resource.k8s.io/v1/resourceslices",
    "ResourceClaim": "/apis/resource.k8s.io/v1/namespaces/{}/resourceclaims",
    "ResourceClaimTemplate": "/apis/resource.k8s.io/v1/namespaces/{}/resourceclaimtemplates",
}
MERGE = "application/merge-patch+json"


class Refused(Exception):
    """The API said no. `status` is the HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class Admin:
    """Calls as the owner of a kubeconfig with a token. Thread-safe."""

    def __init__(self, kubeconfig: Path) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        self.server: str = cluster["server"]
        self._headers = {"Authorization": f"Bearer {config['users'][0]['user']['token']}"}
        self._pool = urllib3.PoolManager(ca_certs=cluster["certificate-authority"], maxsize=8, retries=urllib3.Retry(3))

    def call(self, method: str, path: str, body: object = None, content_type: str = "application/json") -> Json:
        """Raises Refused."""
        headers = {**self._headers, "Content-Type": content_type}
        data = None if body is None else json.dumps(body).encode()
        answer = self._pool.request(method, self.server + path, body=data, headers=headers, timeout=60.0)
        if answer.status >= 300:
            raise Refused(answer.status, answer.data[:500].decode(errors="replace"))
        return dict(json.loads(answer.data))

    def list(self, path: str) -> list[Json]:
        """All objects, in pages, as of one moment per page set."""
        items: list[Json] = []
        token = ""
        while True:
            page = self.call("GET", f"{path}?limit=1000" + (f"&continue={token}" if token else ""))
            items += page["items"]
            token = page["metadata"].get("continue", "")
            if not token:
                return items

    def create(self, thing: Json) -> Json:
        """Create an object, and write its status where it has one."""
        path = path_of(thing, named=False)
        made = self.call("POST", path, thing)
        if "status" in thing:
            made = self.patch({**made, "kind": thing["kind"]}, {"status": thing["status"]}, "/status")
        return {**made, "kind": thing["kind"]}

    def patch(self, thing: Json, change: Json, subresource: str = "") -> Json:
        """Merge `change` into the object, as a scheduler (annotations) or a kubelet ("/status") does."""
        return self.call("PATCH", path_of(thing) + subresource, change, MERGE) | {"kind": thing["kind"]}

    def delete(self, thing: Json, grace_s: int = 0) -> None:
        """grace_s 0: gone at once, as when the kubelet has ended it; more: it is terminating until then."""
        self.call("DELETE", path_of(thing), {"gracePeriodSeconds": grace_s} if thing["kind"] == "Pod" else {})

    def delete_all(self) -> None:
        """Every pod, node and DaemonSet, at once."""
        for namespace in {pod["metadata"]["namespace"] for pod in self.list("/api/v1/pods")}:
            self.call("DELETE", f"/api/v1/namespaces/{namespace}/pods", {"gracePeriodSeconds": 0})
        self.call("DELETE", "/api/v1/nodes", {})
        for namespace in {thing["metadata"]["namespace"] for thing in self.list("/apis/apps/v1/daemonsets")}:
            self.call("DELETE", f"/apis/apps/v1/namespaces/{namespace}/daemonsets", {})

    def delete_claims(self, namespace: str = "default") -> None:
        """All that dynamic resource allocation has; a claim goes when its pods are gone and its controller has seen it."""
        for kind in ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass"):
            self.call("DELETE", _PATHS[kind].format(namespace), {})

    def ensure_namespace(self, name: str) -> None:
        try:
            self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        except Refused as refused:
            if refused.status != 409:
                raise


def path_of(thing: Json, named: bool = True) -> str:
    """The object's path, or its collection's."""
    path = _PATHS[thing["kind"]].format(thing["metadata"].get("namespace", ""))
    return f"{path}/{thing['metadata']['name']}" if named else path


def write_kubeconfig(path: Path, admin: Path, user: dict[str, Any]) -> Path:
    """A kubeconfig for the same cluster as `admin`'s, with another user's credentials (as the `user` of a kubeconfig)."""
    config = json.loads(admin.read_text())
    config["users"] = [{"name": "watcher", "user": user}]
    config["contexts"] = [{"name": "test", "context": {"cluster": "test", "user": "watcher"}}]
    path.write_text(json.dumps(config))
    path.chmod(0o600)
    return path
