"""Who reads the exporters of a cluster: one collector at a time, and when it is its turn."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from inventory.models import UsageSource
from leases import lease
from leases.row import free

#: Longer than one question may take (`prometheus.ANSWER_S`); the lease is renewed after each answer.
LEASE_S = 60.0


def due() -> QuerySet[UsageSource]:
    """Sources whose turn it is and that nobody reads."""
    return UsageSource.objects.filter(free()).filter(Q(due_at=None) | Q(due_at__lte=Now()))


def acquire(cluster_id: int) -> lease.Lease | None:
    """The lease of a cluster's source when it is its turn; None otherwise."""
    rows = UsageSource.objects.filter(Q(due_at=None) | Q(due_at__lte=Now()), cluster_id=cluster_id)
    return lease.acquire(rows, cluster_id, "usage", LEASE_S)
