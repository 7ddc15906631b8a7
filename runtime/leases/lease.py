"""A lease that this process holds: it is taken, renewed, written under and given back.

Times are the database's clock, so that workers whose clocks differ agree. Each write touches the row with holder, token and epoch in
its WHERE clause, in its own transaction: who lost the lease cannot write, nor who knows of a later row than the one that is there,
because a backup was put back.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from datetime import timedelta
from functools import partial
from typing import Any, TypeAlias

import msgspec
from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from runtime.leases.frozen import end_frozen
from runtime.leases.incarnation import file_was_replaced, incarnation
from runtime.leases.row import LeaseRow, free

#: Columns of a row and their values.
Columns: TypeAlias = dict[str, Any]
#: This process, as holders of leases name it.
PROCESS = f"{socket.gethostname()[:60]}/{os.getpid()}"


class LeaseLost(Exception):
    """Another process holds the lease now, or the row is not the one that was last written."""


class Lease(msgspec.Struct):
    """What a holder knows of its lease on a row of `model`.

    kind: what it is of, in its cluster ("pods", "launcher"). seconds: how long it lasts without being renewed.
    epoch: of the last write, also of one whose transaction is still open or was undone. committed: of the last one that is
    certain. A row that says less than that was put back from a backup. Moments are monotonic.
    """

    model: type[LeaseRow]
    pk: int
    cluster_id: int
    kind: str
    seconds: float
    holder: str
    token: int
    epoch: int = 0
    committed: int = 0
    incarnation: str = ""
    #: Whether a keeper renews it. It stops when the holder has not been heard for a while (`ticked_at`).
    kept: bool = False
    #: Set by the keeper: the row says that it is another's now, or was put back.
    lost: bool = False
    ticked_at: float = 0.0
    renewed_at: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} of cluster {self.cluster_id}"

    @property
    def _row(self) -> QuerySet[LeaseRow]:
        return self.model._default_manager.filter(pk=self.pk)

    def update(self, **fields: Any) -> None:
        """Write to the row and renew. Inside a transaction it is also the guard of that transaction. Raises LeaseLost."""
        known = (self.committed, self.epoch)
        mine = self._row.filter(holder=self.holder, token=self.token, epoch__range=known)
        replaced = file_was_replaced(self.model, self.incarnation)
        if replaced or mine.update(expires_at=until(self.seconds), epoch=self.epoch + 1, **fields) != 1:
            raise LeaseLost(str(self))
        self.epoch += 1
        self.ticked_at = self.renewed_at = time.monotonic()
        transaction.on_commit(partial(setattr, self, "committed", self.epoch))

    def tick(self) -> None:
        """The holder works: renew the lease where it is time, or leave that to the keeper. Every few seconds. Raises LeaseLost."""
        self.ticked_at = time.monotonic()
        if self.lost:
            raise LeaseLost(str(self))
        if not self.kept and self.ticked_at - self.renewed_at > self.seconds / 3:
            self.update()

    def release(self) -> bool:
        """Give the lease back, so that another takes it at once. Whether the row was put back from a backup under it."""
        if file_was_replaced(self.model, self.incarnation):
            connection.close()
        self._row.filter(holder=self.holder, token=self.token).update(holder="", expires_at=Now())
        return self._row.filter(epoch__lt=self.committed).exists()


def until(seconds: float) -> Any:
    return Now() + timedelta(seconds=seconds)


def acquire(
    rows: QuerySet[Any],
    cluster_id: int,
    kind: str,
    seconds: float,
    taken: Columns | None = None,
    restored: Columns | None = None,
) -> Lease | None:
    """Take the lease of one row when it is free; None when another holds it or there is no row.

    taken: columns that are written with it. restored: those that are, where the row came out of a backup.
    It never waits for the row: a holder that froze in the middle of a transaction keeps it locked, and loses its session.
    """
    row = _take(rows, seconds, taken or {})
    if row is None and end_frozen(rows, seconds):
        row = _take(rows, seconds, taken or {})
    if row is None:
        return None
    here, now = incarnation(rows.model), time.monotonic()
    lease = Lease(rows.model, row.pk, cluster_id, kind, seconds, row.holder, row.token, row.epoch, row.epoch, here)
    lease.ticked_at = lease.renewed_at = now
    if row.incarnation != here:
        lease.update(incarnation=here, **(restored or {} if row.incarnation else {}))
    return lease


def _take(rows: QuerySet[Any], seconds: float, taken: Columns) -> LeaseRow | None:
    """The row, as it is with us as its holder."""
    holder = f"{PROCESS}/{uuid.uuid4().hex[:8]}"
    ours = {"holder": holder, "token": F("token") + 1, "epoch": F("epoch") + 1, "expires_at": until(seconds)}
    with transaction.atomic():
        available = rows.filter(free())
        pk = available.select_for_update(skip_locked=True).values_list("pk", flat=True).first()
        if pk is None or available.filter(pk=pk).update(**ours, **taken) != 1:
            return None
    found: LeaseRow | None = rows.filter(pk=pk, holder=holder).first()
    return found
