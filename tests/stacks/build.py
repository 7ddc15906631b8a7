"""Small Kubernetes objects for tests, decoded from JSON like everything else."""

from __future__ import annotations

from typing import Any

import msgspec

from kube import listed
from kube.objects import Node, Pod
from stacks.engine.base import Context

CONTEXT = Context(now=1_700_000_000.0)


def pod(**fields: Any) -> Pod:
    """A pod from its JSON."""
    return msgspec.convert(fields, Pod)


def as_listed(pod: Pod) -> listed.Pod:
    """The same pod as a list gives it to the mirror."""
    return msgspec.json.decode(msgspec.json.encode(pod), type=listed.Pod)


def container(name: str = "main", sidecar: bool = False, **quantities: str) -> dict[str, Any]:
    """A container that asks for resources; keyword names stand for `example.com/<name>`."""
    limits = {f"example.com/{resource}": value for resource, value in quantities.items()}
    return {"name": name, "resources": {"limits": limits}} | ({"restartPolicy": "Always"} if sidecar else {})


def node(capacity: dict[str, str], **metadata: Any) -> Node:
    """A node that can give out all it has."""
    status = {"capacity": capacity, "allocatable": capacity}
    return msgspec.convert({"metadata": {"name": "node-1", **metadata}, "status": status}, Node)
