"""Failed pods: a few everywhere, and most of those that had one card of the fleet, so that it is suspect."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

from fleetsim.usage import noise
from inventory.failures.look import DAYS, look
from inventory.models import Allocation, Cluster, FailureLook, PodFailure
from runtime.clock import database_now

#: Of ended pods elsewhere one in so many failed.
_ONE_OF = 50


def write(cluster: Cluster) -> int:
    """How many pods failed. After the allocations that ended."""
    since = database_now() - timedelta(days=DAYS - 1)
    rows = list(Allocation.objects.filter(cluster=cluster, ended_at__gte=since).order_by("id"))
    teams: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for row in rows:
        if row.card_id is not None:
            teams[row.card_id].add((row.namespace, row.owner_name))
    worst = max(sorted(teams), key=lambda one: (len({name for name, _ in teams[one]}), len(teams[one])), default=None)
    failed = {
        row.pod_uid: row for row in rows if row.card_id == worst or noise.seed_of(row.pod_uid, "failed") % _ONE_OF == 0
    }
    PodFailure.objects.bulk_create(_failure(row, on_worst=row.card_id == worst) for row in failed.values())
    # The schedule has looked at the start, when there was nothing yet, and would look again in an hour.
    FailureLook.objects.filter(cluster=cluster).delete()
    look()
    return len(failed)


def _failure(row: Allocation, *, on_worst: bool) -> PodFailure:
    return PodFailure(
        cluster_id=row.cluster_id,
        node_name=row.node_name,
        pod_uid=row.pod_uid,
        namespace=row.namespace,
        pod=row.pod,
        owner_kind=row.owner_kind,
        owner_name=row.owner_name,
        container=row.container,
        exit_code=134 if on_worst else 1,
        reason="Error",
        at=row.ended_at or row.started_at,
    )
