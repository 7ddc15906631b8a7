"""Who reads the exporters of a cluster: one collector at a time, and when it is its turn."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from inventory.models import UsageSource
from inventory.models.usage import LEASE_S
from runtime.leases import lease
from runtime.leases.row import free


def due() -> QuerySet[UsageSource]:
    """Sources whose turn it is and that nobody reads."""
    return UsageSource.objects.filter(free()).filter(Q(due_at=None) | Q(due_at__lte=Now()))


def acquire(cluster_id: int) -> lease.Lease | None:
    """The lease of a cluster's source when it is its turn; None otherwise."""
    rows = UsageSource.objects.filter(Q(due_at=None) | Q(due_at__lte=Now()), cluster_id=cluster_id)
    return lease.acquire(rows, cluster_id, "usage", LEASE_S)
