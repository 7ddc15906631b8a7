"""A node as `quarantine.changes` compares it: from the API server's answer, or from the mirror."""

from __future__ import annotations

from typing import Any

import msgspec

from inventory.marks import ANNOTATION, OURS, cordon
from inventory.marks.known import UPGRADE
from inventory.marks.read import upgrade_under_way
from inventory.models import Node
from kube import objects
from kube.decoders import decoder
from quarantine.changes import NodeNow
from wording.said import sentence

_object = decoder(objects.Node)


class _Spec(msgspec.Struct):
    unschedulable: bool | None = None
    #: As they came: a patch writes the whole list, with fields that are not known here.
    taints: list[dict[str, Any]] | None = None


class _Node(msgspec.Struct):
    metadata: objects.NodeMetadata
    spec: _Spec = msgspec.field(default_factory=_Spec)


_read = decoder(_Node)


def read(body: bytes) -> NodeNow:
    """Raises msgspec.DecodeError for what is no node."""
    raw, node = _read.decode(body), _object.decode(body)
    annotations = raw.metadata.annotations or {}
    return NodeNow(
        name=raw.metadata.name,
        uid=raw.metadata.uid,
        version=raw.metadata.resourceVersion,
        unschedulable=bool(raw.spec.unschedulable),
        taints=tuple(raw.spec.taints or ()),
        why=annotations.get(ANNOTATION),
        foreign_cordon=bool(raw.spec.unschedulable) and cordon.foreign(node),
        upgrade=upgrade_under_way(node),
    )


def mirrored(cluster_id: int, name: str) -> NodeNow | None:
    """By what the mirror knows: of our annotation only which cases it names. None for a node that is not there."""
    row = Node.objects.filter(cluster_id=cluster_id, name=name).first()
    if row is None:
        return None
    node = _object.decode(row.facts)
    taints = [
        {"key": one.key, "value": one.value, "effect": one.effect}
        for one in (node.spec.taints if node.spec else None) or ()
    ]
    found = row.found_marks
    cases = [one.case for one in found if one.tool == OURS and one.case]
    return NodeNow(
        name=row.name,
        uid=row.uid,
        unschedulable=row.unschedulable,
        taints=tuple({name: value for name, value in one.items() if value} for one in taints),
        why=msgspec.json.encode({"cases": [{"id": one} for one in cases]}).decode() if cases else None,
        foreign_cordon=any(one.kind == "cordon" and one.tool != OURS for one in found),
        upgrade=upgrade_under_way(node),
    )


def in_cluster(cluster_id: int, name: str) -> bool:
    """By what the mirror knows."""
    return Node.objects.filter(cluster_id=cluster_id, name=name).exists()


def waits_for(now: NodeNow) -> str:
    """Why nothing may be changed on the node now; "" where it may."""
    if not now.upgrade:
        return ""
    return sentence("A driver upgrade is in progress ({label}={state}).", label=UPGRADE, state=now.upgrade[:63])
