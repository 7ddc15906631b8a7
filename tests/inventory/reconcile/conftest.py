"""A mirror that tests fill through the store, and the reconciler that reads it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from inventory.mirror.kinds import KINDS
from inventory.mirror.lease import acquire
from inventory.mirror.store import Store
from inventory.models import Cluster
from inventory.reconcile.reconciler import NodeReconciler
from tests.factories import make_cluster


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

    def reconcile(self) -> int:
        """Returns how many rows were written."""
        before = self.reconciler.written
        while self.reconciler.step():
            pass
        return self.reconciler.written - before


@pytest.fixture
def fleet_of(db: None) -> Callable[[str], Fleet]:
    def make(name: str) -> Fleet:
        return Fleet(make_cluster(name, held=False))

    return make


@pytest.fixture
def fleet(fleet_of: Callable[[str], Fleet]) -> Fleet:
    return fleet_of("prod")
