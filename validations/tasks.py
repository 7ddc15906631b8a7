"""Celery tasks of the validations. All are short, idempotent and take ids; none waits for a run.

`launch` and `reconcile` talk to clusters, with the launcher's credentials, and go to the queue `launch`; the others ask the database.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from inventory.models import Cluster
from kube.client import ApiError, BadKubeconfig
from runtime.clock import database_now
from runtime.connections import give_back
from runtime.leases.lease import Lease, LeaseLost
from runtime.log_context import about
from runtime.messages import OnceTask, send_once
from validations import campaigns, imported, mended, reaching
from validations.lifecycle import clients, lock
from validations.lifecycle import reconcile as passes
from validations.lifecycle.claim import claim
from validations.lifecycle.create import create_job
from validations.lifecycle.launching import acquire, launcher_row
from validations.lifecycle.mine import Mine
from validations.lifecycle.outage import LOST
from validations.maker import maker
from validations.models import Campaign, CampaignState, ImportedResult, Launcher, LogChunk, Run, State
from validations.policies import advance as policies
from validations.reparse import NotEnded, reparse

logger = logging.getLogger(__name__)

#: A log that was to be read again, and whose message was lost.
FORGOTTEN = timedelta(seconds=30)


@shared_task
def launch(run_id: str) -> None:
    """Launch one queued run at once; what fails here is done by the next pass."""
    run = Run.objects.select_related("cluster").filter(pk=run_id, state=State.QUEUED, cancel_requested_at=None).first()
    if run is None:
        return
    try:
        _launch(run)
    except (ApiError, BadKubeconfig) as error:
        logger.warning("run %s: not launched yet: %s", run_id, error)
    finally:
        give_back()


def _launch(run: Run) -> None:
    """Where this process does not know whether we are the launcher of the cluster, a pass finds it out, and launches.

    A cluster that was not reached a moment ago is left to the passes.
    """
    now, launcher, me = database_now(), launcher_row(run.cluster_id), maker()
    if launcher.next_try_at is not None and launcher.next_try_at > now:
        return
    if not lock.held(launcher, me):
        reconcile(run.cluster_id)
        return
    api = clients.api_of(run.cluster)
    if run.due_at <= now and claim(run, now):
        create_job(run, api, Mine(frozenset((me, *launcher.makers))), now)


@shared_task(base=OnceTask)
def dispatch_reconcilers() -> int:
    """Send a pass for each cluster that has something to do; returns how many."""
    sent = 0
    for cluster_id in passes.with_work():
        sent += send_once(reconcile.name, (cluster_id,))
    forgotten = Run.objects.filter(reparse_requested_at__lt=Now() - FORGOTTEN)
    for run_id in forgotten.values_list("pk", flat=True)[:100]:
        send_once(reparse_run.name, (run_id,))
    mended.resume_mended()
    if Campaign.objects.filter(state=CampaignState.RUNNING).exists() or reaching.with_strays():
        send_once(advance_campaigns.name)
    return sent


@shared_task(base=OnceTask)
def reconcile(cluster_id: int) -> None:
    """One pass over the runs of a cluster, by whoever has the lease."""
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    lease = acquire(cluster_id) if cluster is not None else None
    if cluster is None or lease is None:
        return  # who has the lease does it, or the schedule sends another when it has run out
    try:
        with about(cluster.name):
            _pass(lease, cluster)
    except LeaseLost:
        logger.warning("cluster %s: another reconciler has the lease", cluster.name)
    finally:
        lease.release()
        give_back()


def _pass(lease: Lease, cluster: Cluster) -> None:
    try:
        passes.reconcile(lease, clients.api_of(cluster))
    except BadKubeconfig as error:
        passes.reconcile(lease, None, str(error))
    if Launcher.objects.filter(cluster=cluster, failing_since__isnull=False).exists():
        clients.forget(cluster.pk)


@worker_ready.connect
def look_at_once(**_: object) -> None:
    """A worker that starts does what was asked for while there was none, without waiting for the schedule."""
    dispatch_reconcilers.apply_async()


@shared_task(base=OnceTask)
def reparse_run(run_id: str) -> None:
    """Read the stored log of a run again, as somebody has asked."""
    run = Run.objects.filter(pk=run_id, reparse_requested_at__isnull=False).first()
    try:
        if run is not None:
            reparse(run, run.reparse_requested_by)
    except NotEnded as error:
        logger.warning("run %s: not read again: %s", run_id, error)
    except LOST:
        raise
    except Exception:
        logger.exception("run %s: its log cannot be read again; the old result stays", run_id)
    Run.objects.filter(pk=run_id).update(reparse_requested_at=None)
    give_back()


@shared_task(base=OnceTask)
def advance_campaigns() -> None:
    """Start the next runs of all campaigns under way, those first that had their turn the longest time ago."""
    running = Campaign.objects.filter(state=CampaignState.RUNNING).order_by("touched_at", "id")
    for campaign_id in running.values_list("pk", flat=True):
        campaigns.advance_safely(campaign_id)
    for campaign_id in reaching.with_strays():
        campaigns.settle_safely(campaign_id)
    give_back()


@shared_task
def advance_campaign(campaign_id: str) -> None:
    """The same for one campaign, right after it was made or resumed."""
    campaigns.advance_safely(campaign_id)
    give_back()


@shared_task(base=OnceTask)
def advance_policies() -> int:
    """Look at the cards of all policies, and start runs of those that are due. Returns how many were started."""
    started = policies.advance(database_now())
    give_back()
    return started


@shared_task(base=OnceTask)
def evaluate_policies(run_id: str) -> None:
    """Look at the cards of a run's node anew, right after the run has ended."""
    run = Run.objects.only("suite", "cluster_id", "node_name").filter(pk=run_id).first()
    if run is not None:
        policies.look_at_node(run.suite, (run.cluster_id, run.node_name), database_now())
    give_back()


@shared_task(base=OnceTask)
def prune_logs() -> int:
    """Delete the logs of runs that ended before HISTORY_DAYS; runs, verdicts and measurements stay. Returns the number of runs."""
    before = Now() - timedelta(days=settings.HISTORY_DAYS)
    old = list(Run.objects.filter(ended_at__lt=before, log_pruned_at=None).values_list("pk", flat=True)[:5000])
    return sum(_prune(old[start : start + 500]) for start in range(0, len(old), 500))


@shared_task(base=OnceTask)
def prune_imported() -> int:
    """Delete the results of other tools that came before HISTORY_DAYS, with their files. Returns how many."""
    old = list(imported.old_results().order_by("received_at").values_list("pk", flat=True)[:5000])
    for start in range(0, len(old), 100):
        with transaction.atomic():
            ImportedResult.objects.filter(pk__in=old[start : start + 100]).delete()
    return len(old)


def _prune(run_ids: list[str]) -> int:
    try:
        with transaction.atomic():
            LogChunk.objects.filter(run_id__in=run_ids).delete()
            return Run.objects.filter(pk__in=run_ids).update(log_pruned_at=Now())
    except LOST:
        raise
    except Exception:
        logger.exception("the logs of %s runs from %s on could not be deleted", len(run_ids), run_ids[0])
        return 0
