"""One watcher per (cluster, kind): a lease in the database, with a fencing token.

Times are the database's clock, so that workers whose clocks differ agree. A write of the mirror touches the lease row with holder and
token in its WHERE clause, in its own transaction: who lost the lease cannot write.
"""

from __future__ import annotations

import os
import socket
import uuid
from datetime import timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db.models import F, Q
from django.db.models.functions import Now

from inventory.models import Watch
from inventory.models.cluster import WatchState


class LeaseLost(Exception):
    """Another watcher holds the lease now."""


class Lease(msgspec.Struct, frozen=True):
    """What a holder knows of its lease."""

    cluster_id: int
    kind: str
    holder: str
    token: int

    def _row(self) -> Any:
        return Watch.objects.filter(cluster_id=self.cluster_id, kind=self.kind, holder=self.holder, token=self.token)

    def update(self, **fields: Any) -> None:
        """Write progress and renew. Inside a transaction it is also the guard of that transaction. Raises LeaseLost."""
        if self._row().update(expires_at=_until(), **fields) != 1:
            raise LeaseLost(f"{self.kind} of cluster {self.cluster_id}")

    def release(self) -> None:
        """Give the lease back, so that another takes over at once. A refusal stays to be read."""
        self._row().update(holder="", expires_at=None)
        waiting = Watch.objects.filter(cluster_id=self.cluster_id, kind=self.kind, holder="")
        waiting.exclude(state=WatchState.REFUSED).update(state=WatchState.WAITING, reason="", state_since=Now())


def _until() -> Any:
    return Now() + timedelta(seconds=settings.LEASE_S)


def free() -> Q:
    """Rows whose lease nobody holds."""
    return Q(expires_at=None) | Q(expires_at__lt=Now())


def acquire(cluster_id: int, kind: str) -> Lease | None:
    """Take the lease when it is free; None when another holds it or the cluster is gone."""
    holder = f"{socket.gethostname()[:60]}/{os.getpid()}/{uuid.uuid4().hex[:8]}"
    rows = Watch.objects.filter(free(), cluster_id=cluster_id, kind=kind)
    if rows.update(holder=holder, token=F("token") + 1, expires_at=_until()) != 1:
        return None
    row = Watch.objects.filter(cluster_id=cluster_id, kind=kind, holder=holder).only("token").first()
    return Lease(cluster_id, kind, holder, row.token) if row else None
