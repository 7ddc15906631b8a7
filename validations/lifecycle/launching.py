"""One pass per cluster at a time: the lease on the launcher's row.

It saves work; it is not what keeps runs from being doubled: every write is a compare-and-set on the run itself.
"""

from __future__ import annotations

from runtime.leases import lease as leases
from runtime.leases.lease import Lease
from validations.models import Launcher

KIND = "launcher"
#: A pass renews its lease on its way, also while it waits for the cluster. Two that overlap all the same do no harm.
LEASE_S = 15.0


def acquire(cluster_id: int) -> Lease | None:
    """Take the lease when it is free; None when another holds it."""
    launcher_row(cluster_id)
    return leases.acquire(Launcher.objects.filter(cluster_id=cluster_id), cluster_id, KIND, LEASE_S)


def launcher_row(cluster_id: int) -> Launcher:
    """The launcher's row of a cluster, made when it is missing."""
    return Launcher.objects.get_or_create(cluster_id=cluster_id)[0]
