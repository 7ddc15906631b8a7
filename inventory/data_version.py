"""What changes whenever the mirror or its accounts do: see `runtime.cached`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from django.db.models import Q
from django.db.models.functions import Now

from inventory.condition import condition_of, watches
from inventory.discrepancies.look import OF_CLUSTERS
from inventory.idle.allocations import KEPT
from inventory.mirror.outage import CODES
from inventory.models import Cluster, Finding, IdleLook, UsageSource, Watch
from inventory.processes import OVERDUE
from inventory.queries.measured import KNOWN_FOR


def version() -> Hashable:
    """Five queries, whatever the size: clusters, watches, the findings that no watch writes, what was measured, and what is idle.

    Watchers and reconcilers write their watch in the transaction of each change, collectors their source. That a lease was renewed
    is no change; what the clock makes of it is: what was measured or looked at too long ago is not told any more.
    """
    clusters = Cluster.objects.values_list(
        "pk", "name", "server", "uid", "permissions_checked_at", "launcher_checked_at", "recreated_at"
    )
    outages = Finding.objects.filter(node_name="", code__in=(*CODES, *OF_CLUSTERS), ended_at=None).order_by("pk")
    return (
        tuple(clusters),
        tuple(_of_watch(watch) for watch in watches().order_by("pk")),
        tuple(outages.values_list("pk", "text")),
        tuple(_sources()),
        tuple(_looks()),
    )


def _sources() -> Iterable[Hashable]:
    known, overdue = Q(round_at__gte=Now() - KNOWN_FOR), Q(due_at__lt=Now() - OVERDUE) & ~Q(expires_at__gt=Now())
    rows = UsageSource.objects.annotate(known=known, overdue=overdue).order_by("pk")
    return rows.values_list("pk", "address", "state", "reason", "round_at", "due_at", "known", "overdue")


def _looks() -> Iterable[Hashable]:
    rows = IdleLook.objects.annotate(known=Q(looked_at__gte=Now() - KEPT)).order_by("pk")
    return rows.values_list("pk", "looked_at", "known")


def _of_watch(watch: Watch) -> Hashable:
    now = condition_of(watch)
    return (
        (watch.pk, now.state, now.since, now.reason, watch.token),
        (watch.synced_at, watch.last_event_at, watch.objects_seen, watch.objects_stored, watch.relists),
        (watch.relist_reason, watch.resource_version),
    )
