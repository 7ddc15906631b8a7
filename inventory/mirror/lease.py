"""The lease of a watcher or a node reconciler: one per (cluster, kind).

Where a keeper runs (`keeper`), it renews the leases of its whole process; else each watcher renews its own.
"""

from __future__ import annotations

from django.conf import settings
from django.db.models.functions import Now

from inventory.mirror.anew import PUT_BACK, anew
from inventory.models import Watch
from inventory.models.cluster import DONE_WITHOUT, WatchState
from runtime.leases import lease as leases
from runtime.leases.lease import Lease
from wording.said import stored


def acquire(cluster_id: int, kind: str) -> Lease | None:
    """Take the lease when it is free; None when another holds it or the cluster is gone.

    A row that came out of a backup is listed anew.
    """
    row = Watch.objects.filter(cluster_id=cluster_id, kind=kind)
    taken = {"sent_at": None, "sent": 0}
    restored = {"resource_version": "", "relist_reason": PUT_BACK, "relist_wording": stored(PUT_BACK)}
    return leases.acquire(row, cluster_id, kind, settings.LEASE_S, taken, restored)


def release(lease: Lease) -> None:
    """Give the lease back, so that another takes over at once. A refusal stays to be read.

    A row that was put back from a backup says so, and is listed anew by whoever comes next.
    """
    was_put_back = lease.release()
    row = Watch.objects.filter(pk=lease.pk)
    row.filter(holder="").exclude(state__in=DONE_WITHOUT).update(state=WatchState.WAITING, reason="", state_since=Now())
    if was_put_back:
        row.filter(epoch__lt=lease.committed).update(**anew(PUT_BACK) | {"epoch": lease.committed + 1})
