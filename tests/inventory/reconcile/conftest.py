"""A mirror that tests fill through the store, and the reconciler that reads it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from inventory.mirror.kinds import KINDS
from inventory.mirror.lease import acquire
from inventory.mirror.store import Store
from inventory.models import Cluster
from inventory.models.cluster import Kind
from inventory.reconcile import chunk, reconciler
from inventory.reconcile.reconciler import NodeReconciler
from tests.factories import make_cluster

#: Kind of an object, as the API has it → as it is watched.
KIND_OF = {
    "Node": Kind.NODES.value,
    "Pod": Kind.PODS.value,
    "DaemonSet": Kind.DAEMONSETS.value,
    "Deployment": Kind.DEPLOYMENTS.value,
    "Service": Kind.SERVICES.value,
    "ClusterPolicy": Kind.CLUSTERPOLICIES.value,
    "NVIDIADriver": Kind.NVIDIADRIVERS.value,
    "GPUCluster": Kind.GPUCLUSTERS.value,
    "DeviceConfig": Kind.DEVICECONFIGS.value,
    "GpuDevicePlugin": Kind.GPUDEVICEPLUGINS.value,
    "ResourceSlice": Kind.RESOURCESLICES.value,
}


class Fleet:
    """A cluster: `put` and `drop` objects as a watcher would, `node_totals()` until no node is dirty."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._stores: dict[str, Store[Any]] = {}
        lease = acquire(cluster.id, "cards")
        assert lease is not None
        self.reconciler = NodeReconciler(lease, threading.Event())

    def _store(self, kind: str) -> Store[Any]:
        if kind not in self._stores:
            self._stores[kind] = Store(self.cluster.id, KINDS[kind])
            self._stores[kind].load()
        return self._stores[kind]

    def put(self, kind: str, *things: Any) -> None:
        self._store(kind).apply([("MODIFIED", thing, None) for thing in things])

    def drop(self, kind: str, *things: Any) -> None:
        self._store(kind).apply([("DELETED", thing, None) for thing in things])

    def put_all(self, objects: Iterable[Mapping[str, Any]]) -> None:
        """Objects as the API has them, each through the store of its kind; those of kinds that are not mirrored are left out."""
        for kind, things in _decoded(objects).items():
            self.put(kind, *things)

    def drop_all(self, objects: Iterable[Mapping[str, Any]]) -> None:
        for kind, things in _decoded(objects).items():
            self.drop(kind, *things)

    def reconcile(self) -> int:
        """Returns how many rows were written."""
        before = self.reconciler.written
        while self.reconciler.step():
            pass
        return self.reconciler.written - before


def _decoded(objects: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """By the kind that is watched, as a watcher decodes them."""
    found: dict[str, list[Any]] = {}
    for one in objects:
        if kind := KIND_OF.get(one["kind"]):
            struct = KINDS[kind].struct
            found.setdefault(kind, []).append(msgspec.json.decode(msgspec.json.encode(one), type=struct))
    return found


@pytest.fixture
def fleet_of(db: None) -> Callable[[str], Fleet]:
    def make(name: str) -> Fleet:
        return Fleet(make_cluster(name, held=False))

    return make


@pytest.fixture
def fleet(fleet_of: Callable[[str], Fleet]) -> Fleet:
    return fleet_of("prod")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], datetime]:
    """Sets the moment at which the reconciler works. What the cluster has once is judged whenever it changed."""
    monkeypatch.setattr(reconciler, "SOFTWARE_S", -1.0)

    def set_clock(moment: str) -> datetime:
        now = datetime.fromisoformat(moment).astimezone(UTC)
        for module in (chunk, reconciler):
            monkeypatch.setattr(module, "database_now", lambda: now)
        return now

    return set_clock
