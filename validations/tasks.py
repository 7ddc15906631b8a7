"""Celery tasks of the validations. All are short, idempotent and take ids; none waits for a run."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone

from inventory.kube.client import ApiError, BadKubeconfig
from inventory.messages import OnceTask
from inventory.models import Cluster
from validations import campaigns, reaching
from validations.lifecycle import clients
from validations.lifecycle import reconcile as passes
from validations.lifecycle.claim import claim
from validations.lifecycle.creation import create_job
from validations.lifecycle.lease import LEASE_S, LeaseLost, acquire, launcher_row
from validations.models import ACTIVE, Campaign, CampaignState, Launcher, LogChunk, Run, State
from validations.results import NotEnded, reparse

logger = logging.getLogger(__name__)

#: The schedule of gpudash/celery.py; messages older than one interval are not worth doing.
EVERY_S = 2
#: A log that was to be read again, and whose message was lost.
FORGOTTEN = timedelta(seconds=30)


@shared_task
def launch(run_id: str) -> None:
    """Launch one queued run at once; what fails here is done by the next pass."""
    run = Run.objects.select_related("cluster").filter(pk=run_id, state=State.QUEUED, cancel_requested_at=None).first()
    if run is None:
        return
    try:
        api = clients.api_of(run.cluster)
        if claim(run):
            create_job(run, api)
    except (ApiError, BadKubeconfig) as error:
        logger.warning("run %s: not launched yet: %s", run_id, error)
    finally:
        close_old_connections()


@shared_task(base=OnceTask)
def dispatch_reconcilers() -> int:
    """Send a pass for each cluster that has something to do; returns how many."""
    now, sent = timezone.now(), 0
    for cluster_id in Cluster.objects.values_list("pk", flat=True):
        if passes.has_work(launcher_row(cluster_id), now):
            reconcile.apply_async((cluster_id,), expires=EVERY_S * 5)
            sent += 1
    for run_id in Run.objects.filter(reparse_requested_at__lt=now - FORGOTTEN).values_list("pk", flat=True)[:100]:
        reparse_run.apply_async((run_id,), expires=EVERY_S * 5)
    if Campaign.objects.filter(state=CampaignState.RUNNING).exists() or reaching.with_strays():
        advance_campaigns.apply_async(expires=EVERY_S * 5)
    return sent


@shared_task
def reconcile(cluster_id: int) -> None:
    """One pass over the runs of a cluster, by whoever has the lease."""
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    lease = acquire(cluster_id) if cluster is not None else None
    if cluster is None or lease is None:
        _later(cluster_id)
        return
    try:
        try:
            passes.reconcile(lease, clients.api_of(cluster))
        except BadKubeconfig as error:
            passes.reconcile(lease, None, str(error))
        if Launcher.objects.filter(cluster_id=cluster_id, failing_since__isnull=False).exists():
            clients.forget(cluster_id)
    except LeaseLost:
        logger.warning("cluster %s: another reconciler has the lease", cluster.name)
    finally:
        lease.release()
        close_old_connections()


def _later(cluster_id: int) -> None:
    """Another process has the lease, maybe a dead one: a cancel comes again when it has run out, also where no schedule runs."""
    if Run.objects.filter(cluster_id=cluster_id, state__in=ACTIVE, cancel_requested_at__isnull=False).exists():
        reconcile.apply_async((cluster_id,), countdown=LEASE_S, expires=LEASE_S * 4)


@worker_ready.connect
def look_at_once(**_: object) -> None:
    """A worker that starts does what was asked for while there was none, without waiting for the schedule."""
    dispatch_reconcilers.apply_async(expires=EVERY_S * 5)


@shared_task
def reparse_run(run_id: str) -> None:
    """Read the stored log of a run again, as somebody has asked."""
    run = Run.objects.filter(pk=run_id, reparse_requested_at__isnull=False).first()
    try:
        if run is not None:
            reparse(run, run.reparse_requested_by)
    except NotEnded as error:
        logger.warning("run %s: not read again: %s", run_id, error)
    finally:
        Run.objects.filter(pk=run_id).update(reparse_requested_at=None)
        close_old_connections()


@shared_task
def advance_campaigns() -> None:
    """Start the next runs of all campaigns under way."""
    for campaign_id in Campaign.objects.filter(state=CampaignState.RUNNING).values_list("pk", flat=True):
        campaigns.advance(campaign_id)
    for campaign_id in reaching.with_strays():
        campaigns.settle_ended(campaign_id)
    close_old_connections()


@shared_task
def advance_campaign(campaign_id: str) -> None:
    """The same for one campaign, right after it was made or resumed."""
    campaigns.advance(campaign_id)
    close_old_connections()


@shared_task(base=OnceTask)
def prune_logs() -> int:
    """Delete the logs of runs that ended before HISTORY_DAYS; runs, verdicts and measurements stay. Returns the number of runs."""
    before = timezone.now() - timedelta(days=settings.HISTORY_DAYS)
    old = list(Run.objects.filter(ended_at__lt=before, log_pruned_at=None).values_list("pk", flat=True)[:5000])
    for start in range(0, len(old), 500):
        part = old[start : start + 500]
        LogChunk.objects.filter(run_id__in=part).delete()
        Run.objects.filter(pk__in=part).update(log_pruned_at=timezone.now())
    return len(old)
