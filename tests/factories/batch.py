"""Objects of a cluster that are written together, by the product's own code: mirrored, then reconciled."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from django.db import transaction
from django.utils import timezone

from inventory.mirror.kinds import KINDS
from inventory.mirror.store import Store
from inventory.models import Card, Cluster, Finding, NodeTotals
from inventory.models.cluster import Kind
from inventory.reconcile.chunk import read
from inventory.reconcile.difference import write
from inventory.stack_context import stack_context
from tests.factories.objects import Thing, encoded

#: Nodes that are reconciled in one go.
CHUNK = 400


@dataclass
class Batch:
    """What a cluster sends. findings: beside those that the stacks find, of others.

    seen: (node, UUID) of cards that some pod had before, by whose device the UUID became known.
    """

    cluster: Cluster
    now: datetime = field(default_factory=timezone.now)
    nodes: list[Thing] = field(default_factory=list)
    pods: list[Thing] = field(default_factory=list)
    daemonsets: list[Thing] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    seen: list[tuple[str, str]] = field(default_factory=list)

    def write(self) -> None:
        mirror(self.cluster, Kind.DAEMONSETS, self.daemonsets)
        mirror(self.cluster, Kind.NODES, self.nodes)
        mirror(self.cluster, Kind.PODS, self.pods)
        Card.objects.bulk_create([self._seen(node, uuid) for node, uuid in self.seen], batch_size=2000)
        names = [node["metadata"]["name"] for node in self.nodes]
        reconcile(self.cluster, names)
        self._were_there_before(names)
        Finding.objects.bulk_create(self.findings, batch_size=2000)

    def _seen(self, node: str, uuid: str) -> Card:
        return Card(
            cluster=self.cluster,
            node_name=node,
            key=uuid,
            uuid=uuid,
            digest=0,
            first_seen_at=self.now,
            changed_at=self.now,
        )

    def _were_there_before(self, names: list[str]) -> None:
        """The cards are as old as their nodes, and nothing has changed for some minutes."""
        changed, seen = self.now - timedelta(minutes=5), self.now - timedelta(days=30)
        for start in range(0, len(names), CHUNK):
            of_these = {"cluster": self.cluster, "node_name__in": names[start : start + CHUNK]}
            Card.objects.filter(**of_these).update(first_seen_at=seen, changed_at=changed)
            NodeTotals.objects.filter(**of_these).update(changed_at=changed)


def mirror(cluster: Cluster, kind: Kind, things: Iterable[Thing]) -> None:
    """Write objects as a watcher does that sees them."""
    objects = list(things)
    if not objects:
        return
    mirrored = KINDS[kind.value]
    store = Store(cluster.pk, mirrored, tells_reconciler=False)
    store.load()
    decoded = [msgspec.json.decode(encoded(thing), type=mirrored.struct) for thing in objects]
    with transaction.atomic():
        store.apply([("MODIFIED", thing, None) for thing in decoded])


def reconcile(cluster: Cluster, names: list[str]) -> None:
    """Have the reports of some nodes made and written, as the reconciler does."""
    for start in range(0, len(names), CHUNK):
        with transaction.atomic():
            write(read(cluster.pk, names[start : start + CHUNK], stack_context()))


#: Cases of a node with all that is on it, as an API server sends them.
CASES = Path(__file__).parent.parent / "stacks" / "golden"
_FILES = (
    (Kind.PODS, "pods"),
    (Kind.DAEMONSETS, "daemonsets"),
    (Kind.RESOURCESLICES, "slices"),
    (Kind.RESOURCECLAIMS, "claims"),
    (Kind.DEVICETAINTRULES, "taint_rules"),
    (Kind.DEVICES, "device"),
)


def make_case(cluster: Cluster, case: str, *, ready: bool = False) -> str:
    """Mirror and reconcile a golden case; its node's name. ready: the node says that it is, whatever is recorded."""
    folder = CASES / case
    node: Thing = json.loads((folder / "node.json").read_bytes())
    if ready:
        node["status"] = (node.get("status") or {}) | {"conditions": [{"type": "Ready", "status": "True"}]}
    mirror(cluster, Kind.NODES, [_identified(node)])
    for kind, name in _FILES:
        file = folder / f"{name}.json"
        found = json.loads(file.read_bytes()) if file.exists() else []
        mirror(cluster, kind, [_identified(one) for one in (found if isinstance(found, list) else [found])])
    name = str(node["metadata"]["name"])
    reconcile(cluster, [name])
    return name


def _identified(thing: Thing) -> Thing:
    metadata = thing["metadata"]
    return thing | {"metadata": {"uid": metadata["name"], "creationTimestamp": "2025-03-01T00:00:00Z"} | metadata}
