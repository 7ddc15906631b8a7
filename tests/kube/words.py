"""Short ways to say pods, pages and watch lines as an API server writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kube.client import Client
from tests.kube.scripted import Answer

PODS = "/api/v1/pods"


def pod(name: str, version: int = 1, **metadata: Any) -> dict[str, Any]:
    """A pod with a uid of its own."""
    return {
        "metadata": {"name": name, "namespace": "team-a", "uid": f"uid-{name}", "resourceVersion": str(version)}
        | metadata,
        "spec": {"containers": [{"name": "main"}]},
    }


def page_body(*items: Any, version: int | str = 10, more: str = "", kind: str = "PodList") -> bytes:
    metadata = {"resourceVersion": str(version)} | ({"continue": more} if more else {})
    return json.dumps({"kind": kind, "apiVersion": "v1", "metadata": metadata, "items": list(items)}).encode()


def page(*items: Any, version: int | str = 10, more: str = "", kind: str = "PodList") -> Answer:
    return Answer(page_body(*items, version=version, more=more, kind=kind))


def line(kind: str, thing: Any) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"


def bookmark(version: int) -> bytes:
    return line("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": str(version)}})


def error_line(code: int, reason: str) -> bytes:
    return line("ERROR", {"kind": "Status", "code": code, "reason": reason, "message": "too old resource version"})


def config(server: str, user: dict[str, Any] | None = None, **cluster: Any) -> dict[str, Any]:
    """A kubeconfig as a mapping. cluster: fields with _ for -."""
    fields = {name.replace("_", "-"): value for name, value in cluster.items()}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server} | fields}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


def write_config(folder: Path, content: Any) -> str:
    """A kubeconfig file (JSON is YAML too)."""
    file = folder / "kubeconfig"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(file)


def client(folder: Path, server: str, user: dict[str, Any] | None = None, **cluster: Any) -> Client:
    return Client(write_config(folder, config(server, user, **cluster)))
