"""The pass over a cluster is asked for after the commit. A message that is lost costs seconds: the schedule finds the row."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from validations.enqueue import outbox


def wake(cluster_id: int) -> None:
    """Never raises, never waits."""
    transaction.on_commit(partial(outbox.put, "quarantine.tasks.reconcile", cluster_id), robust=True)
