"""One watcher per (cluster, kind): a lease in the database, with a fencing token.

Times are the database's clock, so that workers whose clocks differ agree. A write of the mirror touches the lease row with holder,
token and epoch in its WHERE clause, in its own transaction: who lost the lease cannot write, nor who knows of a later row than
the one that is there, because a backup was put back.

Where a keeper runs (`keeper`), it renews the leases of its whole process; else each watcher renews its own.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from inventory.capacity import free
from inventory.mirror.anew import PUT_BACK, anew
from inventory.mirror.frozen import end_frozen
from inventory.mirror.incarnation import file_was_replaced, incarnation
from inventory.models import Watch
from inventory.models.cluster import WatchState

#: This process, as holders of leases name it.
PROCESS = f"{socket.gethostname()[:60]}/{os.getpid()}"


class LeaseLost(Exception):
    """Another watcher holds the lease now, or the row is not the one that was last written."""


class Lease(msgspec.Struct):
    """What a holder knows of its lease.

    epoch: of the last write, also of one whose transaction is still open or was undone. committed: of the last one that is
    certain. A row that says less than that was put back from a backup.
    """

    cluster_id: int
    kind: str
    holder: str
    token: int
    epoch: int = 0
    committed: int = 0
    incarnation: str = ""
    pk: int = 0
    #: Whether a keeper renews it. It stops when the watcher has not been heard for a while (`ticked_at`).
    kept: bool = False
    #: Set by the keeper: the row says that it is another's now, or was put back.
    lost: bool = False
    ticked_at: float = 0.0
    renewed_at: float = 0.0

    @property
    def _row(self) -> Any:
        return Watch.objects.filter(cluster_id=self.cluster_id, kind=self.kind)

    def update(self, **fields: Any) -> None:
        """Write progress and renew. Inside a transaction it is also the guard of that transaction. Raises LeaseLost."""
        known = (self.committed, self.epoch)
        mine = self._row.filter(holder=self.holder, token=self.token, epoch__range=known)
        replaced = file_was_replaced(self.incarnation)
        if replaced or mine.update(expires_at=until(), epoch=self.epoch + 1, **fields) != 1:
            raise LeaseLost(f"{self.kind} of cluster {self.cluster_id}")
        self.epoch += 1
        self.ticked_at = self.renewed_at = time.monotonic()
        transaction.on_commit(partial(setattr, self, "committed", self.epoch))

    def tick(self) -> None:
        """The watcher works: renew the lease, or leave that to the keeper. Every second or so. Raises LeaseLost."""
        self.ticked_at = time.monotonic()
        if self.lost:
            raise LeaseLost(f"{self.kind} of cluster {self.cluster_id}")
        if not self.kept and self.ticked_at - self.renewed_at > settings.LEASE_S / 3:
            self.update()

    def release(self) -> None:
        """Give the lease back, so that another takes over at once. A refusal stays to be read.

        A row that was put back from a backup says so, and is listed anew by whoever comes next.
        """
        if file_was_replaced(self.incarnation):
            connection.close()
        self._row.filter(holder=self.holder, token=self.token).update(holder="", expires_at=Now())
        self._row.filter(holder="").exclude(state=WatchState.REFUSED).update(
            state=WatchState.WAITING, reason="", state_since=Now()
        )
        self._row.filter(epoch__lt=self.committed).update(**anew(PUT_BACK) | {"epoch": self.committed + 1})


def until() -> Any:
    return Now() + timedelta(seconds=settings.LEASE_S)


def acquire(cluster_id: int, kind: str) -> Lease | None:
    """Take the lease when it is free; None when another holds it or the cluster is gone.

    It never waits for the row: a holder that froze in the middle of a transaction keeps it locked, and loses its session.
    """
    lease = _acquire(cluster_id, kind)
    if lease is None and end_frozen(cluster_id, kind):
        lease = _acquire(cluster_id, kind)
    return lease


def _acquire(cluster_id: int, kind: str) -> Lease | None:
    holder = f"{PROCESS}/{uuid.uuid4().hex[:8]}"
    rows = Watch.objects.filter(free(), cluster_id=cluster_id, kind=kind)
    with transaction.atomic():
        found = rows.select_for_update(skip_locked=True).values_list("pk", flat=True).first()
        taken = {"holder": holder, "token": F("token") + 1, "epoch": F("epoch") + 1, "expires_at": until()}
        if found is None or rows.filter(pk=found).update(**taken, sent_at=None, sent=0) != 1:
            return None
    row = Watch.objects.filter(cluster_id=cluster_id, kind=kind, holder=holder).first()
    return _taken(row) if row else None


def _taken(row: Watch) -> Lease:
    """The lease of a row that is ours. One that was written into another making of the table came out of a backup."""
    here = incarnation()
    lease = Lease(row.cluster_id, row.kind, row.holder, row.token, row.epoch, row.epoch, here, row.pk)
    lease.ticked_at = lease.renewed_at = time.monotonic()
    if row.incarnation != here:
        put_back = {"resource_version": "", "relist_reason": PUT_BACK} if row.incarnation else {}
        lease.update(incarnation=here, **put_back)
    return lease
