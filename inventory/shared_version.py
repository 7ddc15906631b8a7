"""What changes whenever the mirror or its accounts do: see `inventory.shared`."""

from __future__ import annotations

from collections.abc import Hashable

from inventory.condition import condition_of, watches
from inventory.models import Cluster, Finding, Watch
from inventory.reconcile.outage import CODES


def version() -> Hashable:
    """Three queries, whatever the size: clusters, watches, and the findings that no watch writes.

    Watchers and reconcilers write their watch in the transaction of each change. That a lease was renewed is no change; what
    the clock makes of it is.
    """
    clusters = Cluster.objects.values_list("pk", "name", "server", "uid", "permissions_checked_at", "recreated_at")
    outages = Finding.objects.filter(node_name="", code__in=CODES, ended_at=None).order_by("pk")
    return (
        tuple(clusters),
        tuple(_of_watch(watch) for watch in watches().order_by("pk")),
        tuple(outages.values_list("pk", "text")),
    )


def _of_watch(watch: Watch) -> Hashable:
    now = condition_of(watch)
    return (
        (watch.pk, now.state, now.since, now.reason, watch.token),
        (watch.synced_at, watch.last_event_at, watch.objects_seen, watch.objects_kept, watch.relists),
        (watch.relist_reason, watch.resource_version),
    )
