"""Celery tasks of the quarantine. `reconcile` asks a cluster, with the credentials that mark nodes: it goes to the queue `launch`."""

from __future__ import annotations

import logging

from celery import shared_task

from inventory.models import Cluster
from kube.client import BadKubeconfig
from quarantine import clients, passes
from quarantine.automatic import accept_due
from quarantine.failures import confirmed
from quarantine.models import Marker
from quarantine.observed import observe
from quarantine.passed import return_passed
from quarantine.recommend import recommend, withdraw
from runtime.clock import database_now
from runtime.connections import give_back
from runtime.leases import lease as leases
from runtime.leases.lease import Lease, LeaseLost
from runtime.log_context import about
from runtime.messages import OnceTask, send_once

logger = logging.getLogger(__name__)

#: Renewed before each call, which takes 5 s at most.
LEASE_S = 20.0


@shared_task(base=OnceTask)
def advance() -> int:
    """What follows from the rows, then a pass for each cluster with work. Returns how many were sent."""
    step()
    sent = sum(send_once(reconcile.name, (cluster_id,)) for cluster_id in passes.with_work())
    give_back()
    return sent


def step() -> None:
    """Withdraw, recommend, accept what policies may, return what has passed. Asks no cluster."""
    at, failures = database_now(), confirmed()
    withdraw(at)
    recommend(failures, at)
    accept_due(at)
    return_passed(failures, at)
    observe(at)


@shared_task(base=OnceTask)
def reconcile(cluster_id: int) -> None:
    """One pass over the cases of a cluster, by whoever has the lease."""
    cluster = Cluster.objects.filter(pk=cluster_id).exclude(quarantine_kubeconfig="").first()
    lease = acquire(cluster_id) if cluster is not None else None
    if cluster is None or lease is None:
        return  # who has the lease does it, or the schedule sends another when it has run out
    try:
        with about(cluster.name):
            _pass(lease, cluster)
    except LeaseLost:
        logger.warning("cluster %s: another process has the lease of its cases", cluster.name)
    finally:
        lease.release()
        give_back()


def _pass(lease: Lease, cluster: Cluster) -> None:
    try:
        passes.reconcile(lease, clients.api_of(cluster))
    except BadKubeconfig as error:
        passes.reconcile(lease, None, str(error))
    if Marker.objects.filter(cluster=cluster, failing_since__isnull=False).exists():
        clients.forget(cluster.pk)


def acquire(cluster_id: int) -> Lease | None:
    """None when another holds it."""
    Marker.objects.get_or_create(cluster_id=cluster_id)
    return leases.acquire(Marker.objects.filter(cluster_id=cluster_id), cluster_id, "marker", LEASE_S)
