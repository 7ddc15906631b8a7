"""The kinds of objects that the embedded API server serves, and the discovery documents about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

READ = ("get", "list", "watch")


@dataclass(frozen=True)
class Resource:
    """One kind: where it lives in the URL and what may be done with it. custom: it is served once there is an object of it."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...] = READ
    custom: bool = False

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


NODES = Resource("", "v1", "nodes", "Node", False, (*READ, "patch"))
PODS = Resource("", "v1", "pods", "Pod", True, (*READ, "patch", "delete"))
EVENTS = Resource("", "v1", "events", "Event", True)
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", False)
CONFIGMAPS = Resource("", "v1", "configmaps", "ConfigMap", True)
DAEMONSETS = Resource("apps", "v1", "daemonsets", "DaemonSet", True)
JOBS = Resource("batch", "v1", "jobs", "Job", True, (*READ, "create", "patch", "delete"))
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment", True)
SERVICES = Resource("", "v1", "services", "Service", True)
RESOURCESLICES = Resource("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", False)
RESOURCECLAIMS = Resource("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", True)
PRIORITYCLASSES = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False)
CLUSTERPOLICIES = Resource("nvidia.com", "v1", "clusterpolicies", "ClusterPolicy", False, custom=True)
NVIDIADRIVERS = Resource("nvidia.com", "v1alpha1", "nvidiadrivers", "NVIDIADriver", False, custom=True)
DEVICECONFIGS = Resource("amd.com", "v1alpha1", "deviceconfigs", "DeviceConfig", True, custom=True)

ALL = (
    *(NODES, PODS, EVENTS, NAMESPACES, CONFIGMAPS, SERVICES, DAEMONSETS, DEPLOYMENTS, JOBS, RESOURCESLICES),
    *(PRIORITYCLASSES, RESOURCECLAIMS, CLUSTERPOLICIES, NVIDIADRIVERS, DEVICECONFIGS),
)
BY_PATH = {(resource.group, resource.version, resource.plural): resource for resource in ALL}
#: Whether a kind is served.
Served = Callable[[Resource], bool]
_REVIEWS = "authorization.k8s.io"

VERSION = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.2-gpudash-demo",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "2026-06-10T00:00:00Z",
    "goVersion": "go1.26.1",
    "compiler": "gc",
    "platform": "linux/amd64",
}


def core_versions() -> dict[str, Any]:
    """GET /api."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list(served: Served) -> dict[str, Any]:
    """GET /apis."""
    names = sorted({_REVIEWS, *(resource.group for resource in ALL if resource.group and served(resource))})
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(name, served) for name in names]}


def _versions(name: str, served: Served) -> list[str]:
    """Of a group, the preferred one first."""
    if name == _REVIEWS:
        return ["v1"]
    return list(dict.fromkeys(one.version for one in ALL if one.group == name and served(one)))


def _group(name: str, served: Served) -> dict[str, Any]:
    versions = [{"groupVersion": f"{name}/{one}", "version": one} for one in _versions(name, served)]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def group(name: str, served: Served) -> dict[str, Any] | None:
    """GET /apis/{group}; None for a group that is not served."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, served)} if _versions(name, served) else None


def resource_list(name: str, version: str, served: Served) -> dict[str, Any] | None:
    """GET /api/v1 and /apis/{group}/{version}; None for a version that is not served."""
    if version not in _versions(name, served):
        return None
    rows = [_row(one) for one in ALL if (one.group, one.version) == (name, version) and served(one)]
    if name == "":
        rows.append({"name": "pods/log", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": ["get"]})
        proxy = {"singularName": "", "namespaced": True, "kind": "PodProxyOptions", "verbs": ["get"]}
        rows.append({"name": "pods/proxy", **proxy})
    if name == _REVIEWS:
        rows = [_review_row()]
    group_version = f"{name}/{version}" if name else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": rows}


def _row(resource: Resource) -> dict[str, Any]:
    return {
        "name": resource.plural,
        "singularName": resource.kind.lower(),
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }


def _review_row() -> dict[str, Any]:
    return {
        "name": "selfsubjectaccessreviews",
        "singularName": "",
        "namespaced": False,
        "kind": "SelfSubjectAccessReview",
        "verbs": ["create"],
    }
