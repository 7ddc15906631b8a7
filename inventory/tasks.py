"""Celery tasks of the inventory. All are idempotent and take ids."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from celery import shared_task
from celery.signals import worker_shutting_down
from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.db.models.functions import Coalesce, Now

from inventory import checks, clusters, retention
from inventory.capacity import capacity
from inventory.charges import days as charges
from inventory.charges import now as namespaces
from inventory.collect import collector, past_answers
from inventory.collect import lease as collectors
from inventory.collect.collector import lose_silent
from inventory.discrepancies import look as discrepancies
from inventory.failures import look as failures
from inventory.history import recorder
from inventory.idle import allocations
from inventory.mirror.dispatch import ask_again, dispatch, give_way
from inventory.mirror.follow import Follower
from inventory.mirror.keeper import keeper
from inventory.mirror.lease import acquire, release
from inventory.mirror.outage import find_outages
from inventory.models import Cluster, UsageSource, Watch
from inventory.models.cluster import Kind, WatchState, resting
from inventory.reconcile.reconciler import NodeReconciler
from kube.client import ApiError, BadKubeconfig
from runtime.connections import give_back
from runtime.heartbeats import beat
from runtime.leases.lease import Lease, LeaseLost
from runtime.log_context import about, name_it
from runtime.messages import OnceTask, send_once
from runtime.models import Role
from wording.said import of_error, stored

logger = logging.getLogger(__name__)

#: Set when this process is to end: watchers then give their leases back at once.
stopping = threading.Event()


@worker_shutting_down.connect
def _stop(**_: object) -> None:
    stopping.set()


@shared_task(base=OnceTask)
def dispatch_watchers() -> int:
    """Send a watcher for each (cluster, kind) whose lease nobody holds. Every few seconds; returns how many were sent.

    It also says what is wrong with clusters that nobody watches: their reconcilers cannot.
    """
    find_outages()
    sent = dispatch(capacity())
    give_back()
    return sent


@shared_task(base=OnceTask)
def heartbeat() -> None:
    """Sent by the schedule: that it arrives and is written proves broker, worker and database."""
    beat(Role.TASKS)
    close_old_connections()


@shared_task
def watch(cluster_id: int, kind: str) -> None:
    """Hold the lease of one (cluster, kind) and keep its rows in sync, until the process ends or the lease is lost."""
    if stopping.is_set():
        return
    if not keeper.begin():
        ask_again(cluster_id, kind)
        return
    try:
        with about(cluster_id):
            _watch(cluster_id, kind)
    finally:
        keeper.end()


def _watch(cluster_id: int, kind: str) -> None:
    lease: Lease | None = None
    try:
        if Watch.objects.filter(resting(), cluster_id=cluster_id, kind=kind).exists() or give_way(cluster_id, kind):
            return
        lease = acquire(cluster_id, kind)
        if lease is not None:
            keeper.hold(lease)
            if not keeper.running:
                beat(Role.WATCH)
            _run(lease)
    except LeaseLost:
        if Watch.objects.filter(cluster_id=cluster_id, kind=kind).exists():
            logger.warning("%s of cluster %d: another watcher has the lease", kind, cluster_id)
        else:
            logger.info("%s of cluster %d: the cluster was removed", kind, cluster_id)
    except BadKubeconfig as error:
        if lease is not None:
            _refused(lease, of_error(error))
    except DatabaseError:
        # The rows in memory may differ from the table now: begin again from the table.
        logger.exception("%s of cluster %d: the database failed", kind, cluster_id)
    finally:
        if lease is not None:
            keeper.drop(lease)
            _release(lease)
        close_old_connections()


def _run(lease: Lease) -> None:
    woken = keeper.woken(lease.cluster_id)
    cluster = Cluster.objects.get(pk=lease.cluster_id)
    name_it(cluster.name)
    if lease.kind == Kind.CARDS:
        NodeReconciler(lease, stopping, woken).run()
        return
    client = clusters.client_of(cluster)
    try:
        Follower(lease, client, stopping, woken.set).run()
    finally:
        client.close()


def _refused(lease: Lease, reason: str) -> None:
    """Keep the lease for its time: the next try comes when it has run out, not in a tight loop."""
    try:
        lease.update(
            state=WatchState.REFUSED,
            reason=reason,
            reason_wording=stored(reason),
            trouble_since=Coalesce("trouble_since", Now()),
        )
    except (LeaseLost, DatabaseError):
        return
    give_back()
    stopping.wait(settings.LEASE_S)


def _release(lease: Lease) -> None:
    try:
        release(lease)
    except DatabaseError:
        logger.warning(
            "%s of cluster %d: the lease could not be given back; it ends by itself", lease.kind, lease.cluster_id
        )


@shared_task(base=OnceTask)
def prune_history() -> int:
    """Delete what is older than HISTORY_DAYS, for a few seconds; sent again while there is more. Returns the number of rows."""
    gone, more = retention.prune()
    if more:
        send_once(prune_history.name)
    return gone


@shared_task(base=OnceTask)
def check_clusters() -> None:
    """Have each cluster asked what the credentials may do, for the cluster page: one that does not answer delays no other.

    Each by a worker that holds them. Those that their watchers do not reach are left out: each would hold the worker for as long as
    it takes to connect.
    """
    away = Watch.objects.filter(state=WatchState.BACKING_OFF)
    not_tested = away.filter(kind=Kind.NODES, cluster__in=away.filter(kind=Kind.PODS).values("cluster")).values(
        "cluster"
    )
    for cluster_id in Cluster.objects.exclude(pk__in=not_tested).values_list("pk", flat=True):
        send_once(check_cluster.name, (cluster_id,))
        send_once(check_launcher.name, (cluster_id,))
    for cluster_id in Cluster.objects.exclude(quarantine_kubeconfig="").values_list("pk", flat=True):
        send_once(check_quarantine.name, (cluster_id,))


@shared_task(base=OnceTask)
def check_cluster(cluster_id: int) -> None:
    """The same for one cluster, with the watchers' credentials."""
    _check(cluster_id, checks.check_watcher)


@shared_task(base=OnceTask)
def check_launcher(cluster_id: int) -> None:
    """And with the launcher's."""
    _check(cluster_id, checks.check_launcher)


@shared_task(base=OnceTask)
def check_quarantine(cluster_id: int) -> None:
    """And with those that mark nodes."""
    _check(cluster_id, checks.check_quarantine)


def _check(cluster_id: int, ask: Callable[[Cluster], object]) -> None:
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    try:
        if cluster is not None:
            ask(cluster)
    except (ApiError, BadKubeconfig) as error:
        logger.warning("cluster %s: permissions not checked: %s", cluster, error)
    finally:
        give_back()


@shared_task(base=OnceTask)
def launch_heartbeat() -> None:
    """The same as `heartbeat` for the queue `launch`."""
    beat(Role.LAUNCH)
    give_back()


@shared_task(base=OnceTask)
def usage_heartbeat() -> None:
    """The same as `heartbeat` for the queue `usage`, sent while there is something to measure."""
    beat(Role.USAGE)
    give_back()


@shared_task(base=OnceTask)
def dispatch_collectors() -> int:
    """Send a round for each source whose turn it is; returns how many. Cards of a silent one are said to be not measured."""
    sent = 0
    if UsageSource.objects.exists():
        send_once(usage_heartbeat.name)
    for cluster_id in collectors.due().values_list("cluster_id", flat=True):
        sent += send_once(collect.name, (cluster_id,))
    lose_silent()
    give_back()
    return sent


@shared_task(base=OnceTask)
def find_idle() -> int:
    """Look over what is held without work, then over what else does not go together. Returns how many holds are idle."""
    found = allocations.look()
    discrepancies.look()
    give_back()
    return found


@shared_task(base=OnceTask)
def record_history() -> int:
    """Write down this minute of all clusters, and fold hours that are over. Returns how many rows."""
    written = recorder.record()
    give_back()
    return written


@shared_task(base=OnceTask)
def sum_namespaces() -> int:
    """Write who holds what now, and sum what was held on days, and who failed where. Returns how many rows of now changed."""
    changed = namespaces.look()
    charges.look()
    failures.look()
    give_back()
    return changed


@shared_task(base=OnceTask)
def ask_past(answer_id: int) -> bool:
    """Ask a Prometheus for the past that a chart wants. Returns whether it told."""
    told = past_answers.answer(answer_id)
    give_back()
    return told


@shared_task(base=OnceTask)
def collect(cluster_id: int) -> None:
    """One round of the exporters of a cluster, by whoever gets the lease."""
    lease = collectors.acquire(cluster_id)
    if lease is None:
        return
    try:
        with about(cluster_id):
            collector.collect(lease)
    except LeaseLost:
        logger.warning("exporters of cluster %d: another collector has the lease", cluster_id)
    finally:
        lease.release()
        give_back()
