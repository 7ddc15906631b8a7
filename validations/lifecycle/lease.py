"""One reconciler per cluster at a time: a lease on the launcher's row, with a fencing token, by the database's clock.

It saves work; it is not what keeps runs from being doubled: every write is a compare-and-set on the run itself.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from datetime import timedelta
from typing import Any

import msgspec
from django.db.models import F, Q
from django.db.models.functions import Now

from validations.models import Launcher

#: A pass renews its lease on its way, also while it waits for the cluster. Two that overlap all the same do no harm.
LEASE_S = 15
KEEP_S = 3.0


class LeaseLost(Exception):
    """Another reconciler has taken over."""


class Lease(msgspec.Struct):
    """What a holder knows of its lease. renewed: monotonic."""

    cluster_id: int
    holder: str
    token: int
    renewed: float = msgspec.field(default_factory=time.monotonic)

    def keep(self) -> None:
        """Renew where the last time is some seconds ago. Raises LeaseLost."""
        if time.monotonic() - self.renewed > KEEP_S:
            self.update()

    def update(self, **fields: Any) -> None:
        """Write to the launcher's row and renew. Raises LeaseLost."""
        rows = Launcher.objects.filter(cluster_id=self.cluster_id, holder=self.holder, token=self.token)
        if rows.update(expires_at=_until(), **fields) != 1:
            raise LeaseLost(f"launcher of cluster {self.cluster_id}")
        self.renewed = time.monotonic()

    def release(self) -> None:
        rows = Launcher.objects.filter(cluster_id=self.cluster_id, holder=self.holder, token=self.token)
        rows.update(holder="", expires_at=None)


def _until() -> Any:
    return Now() + timedelta(seconds=LEASE_S)


def free() -> Q:
    """Rows whose lease nobody holds."""
    return Q(expires_at=None) | Q(expires_at__lt=Now())


def acquire(cluster_id: int) -> Lease | None:
    """Take the lease when it is free; None when another holds it."""
    launcher_row(cluster_id)
    holder = f"{socket.gethostname()[:60]}/{os.getpid()}/{uuid.uuid4().hex[:8]}"
    rows = Launcher.objects.filter(free(), cluster_id=cluster_id)
    if rows.update(holder=holder, token=F("token") + 1, expires_at=_until()) != 1:
        return None
    row = Launcher.objects.filter(cluster_id=cluster_id, holder=holder).only("token").first()
    return Lease(cluster_id, holder, row.token) if row else None


def launcher_row(cluster_id: int) -> Launcher:
    """The launcher's row of a cluster, made when it is missing."""
    return Launcher.objects.get_or_create(cluster_id=cluster_id)[0]
