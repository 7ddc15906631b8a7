"""A queued run gets a slot: counted and claimed under one lock, so that the limits hold and one process wins."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Count, F, Q

from validations.lifecycle.launching import launcher_row
from validations.lifecycle.moves import move, note
from validations.lifecycle.room import no_room
from validations.models import STARTED, Launcher, Run, State
from validations.waiting import cluster_full, node_full, user_full


def claim(run: Run, now: datetime) -> bool:
    """queued → creating. False when another process has it, or when there is no slot; for want of room the row then says so."""
    if run.state != State.QUEUED:
        return False
    launcher_row(run.cluster_id)
    with transaction.atomic():
        # Whoever updates the launcher's row counts alone until the end of the transaction.
        Launcher.objects.filter(cluster_id=run.cluster_id).update(claims=F("claims") + 1)
        if run.requested_by_id is not None:
            list(get_user_model().objects.select_for_update().filter(pk=run.requested_by_id).values_list("pk"))
        if no_slot(run):
            return False
        if full := no_room(run):
            note(run, pending_reason="NoSlot", pending_message=full)
            return False
        return move(run, State.CREATING, now, pending_reason="", pending_message="")


def no_slot(run: Run) -> str:
    """Why the limits hold a run back, "" when they do not. One query."""
    mine = Q(cluster_id=run.cluster_id)
    counted = Run.objects.filter(state__in=STARTED).aggregate(
        cluster=Count("pk", filter=mine),
        node=Count("pk", filter=mine & Q(node_name=run.node_name)),
        user=Count("pk", filter=Q(requested_by__isnull=False, requested_by=run.requested_by_id)),
    )
    if counted["cluster"] >= settings.MAX_RUNS_PER_CLUSTER:
        return cluster_full()
    if counted["node"] >= settings.MAX_RUNS_PER_NODE:
        return node_full()
    return user_full() if counted["user"] >= settings.MAX_RUNS_PER_USER else ""
