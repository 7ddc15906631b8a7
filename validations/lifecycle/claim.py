"""A queued run gets a slot: counted and claimed under one lock, so that the limits hold and one process wins."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from validations.lifecycle.lease import launcher_row
from validations.lifecycle.moves import move, note
from validations.lifecycle.room import no_room
from validations.models import STARTED, Launcher, Run, State


def claim(run: Run) -> bool:
    """queued → creating. False when another process has it, or when there is no slot; the row then says which."""
    if run.state != State.QUEUED:
        return False
    launcher_row(run.cluster_id)
    with transaction.atomic():
        # Whoever updates the launcher's row counts alone until the end of the transaction.
        Launcher.objects.filter(cluster_id=run.cluster_id).update(claims=F("claims") + 1)
        if run.requested_by_id is not None:
            list(get_user_model().objects.select_for_update().filter(pk=run.requested_by_id).values_list("pk"))
        full = no_slot(run)
        if full:
            note(run, waiting_reason="NoSlot", waiting_message=full)
            return False
        return move(run, State.CREATING, timezone.now(), waiting_reason="", waiting_message="")


def no_slot(run: Run) -> str:
    """Why the limits hold a run back, "" when they do not."""
    started = Run.objects.filter(state__in=STARTED)
    in_cluster = started.filter(cluster_id=run.cluster_id)
    if in_cluster.count() >= settings.MAX_RUNS_PER_CLUSTER:
        return f"{settings.MAX_RUNS_PER_CLUSTER} runs are under way in this cluster (GPUDASH_MAX_RUNS_PER_CLUSTER)."
    if in_cluster.filter(node_name=run.node_name).count() >= settings.MAX_RUNS_PER_NODE:
        return f"{settings.MAX_RUNS_PER_NODE} runs are under way on this node (GPUDASH_MAX_RUNS_PER_NODE)."
    if (
        run.requested_by_id
        and started.filter(requested_by_id=run.requested_by_id).count() >= settings.MAX_RUNS_PER_USER
    ):
        return f"{settings.MAX_RUNS_PER_USER} runs of this user are under way (GPUDASH_MAX_RUNS_PER_USER)."
    return no_room(run)
