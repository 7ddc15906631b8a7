"""The kinds of objects that the embedded API server serves, and the discovery documents about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

READ = ("get", "list", "watch")


@dataclass(frozen=True)
class Resource:
    """One kind: where it lives in the URL and what may be done with it."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...] = READ

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
RESOURCESLICES = Resource("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", False)
RESOURCECLAIMS = Resource("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", True)

ALL = (NODES, PODS, EVENTS, NAMESPACES, CONFIGMAPS, DAEMONSETS, JOBS, RESOURCESLICES, RESOURCECLAIMS)
BY_PATH = {(resource.group, resource.version, resource.plural): resource for resource in ALL}
GROUPS = {"apps": "v1", "authorization.k8s.io": "v1", "batch": "v1", "resource.k8s.io": "v1"}

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


def group_list() -> dict[str, Any]:
    """GET /apis."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(name) for name in GROUPS]}


def _group(name: str) -> dict[str, Any]:
    version = {"groupVersion": f"{name}/{GROUPS[name]}", "version": GROUPS[name]}
    return {"name": name, "versions": [version], "preferredVersion": version}


def group(name: str) -> dict[str, Any] | None:
    """GET /apis/{group}; None for a group that is not served."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name)} if name in GROUPS else None


def resource_list(name: str, version: str) -> dict[str, Any] | None:
    """GET /api/v1 and /apis/{group}/{version}; None for a version that is not served."""
    if GROUPS.get(name, "v1" if not name else "") != version:
        return None
    rows = [_row(resource) for resource in ALL if resource.group == name]
    if name == "":
        rows.append({"name": "pods/log", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": ["get"]})
        proxy = {"singularName": "", "namespaced": True, "kind": "PodProxyOptions", "verbs": ["get"]}
        rows.append({"name": "pods/proxy", **proxy})
    if name == "authorization.k8s.io":
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
