"""What grows, cut to its time: ended allocations and findings, cards long gone, sessions that ran out.

Rows go in batches, each a transaction of its own, oldest first by an index, so that no lock and no snapshot lives for longer than a
second or two; what is left when the time of a run is over is for the next. "Now" is the database's clock.
"""

from __future__ import annotations

import logging
import time
from datetime import timedelta

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Model, QuerySet
from django.db.models.functions import Now, TruncDate

from inventory.models import (
    Allocation,
    Card,
    ChargeDay,
    ComponentChange,
    Finding,
    HistoryDay,
    NamespaceDay,
    NodeChange,
    OwnerDay,
    PodFailure,
)
from runtime.models import Message

logger = logging.getLogger(__name__)

#: Rows of one transaction: about half a second of work on a slow disk.
BATCH = 5000
#: Seconds of one run. It shares its worker with tasks that are sent every two seconds.
RUN_S = 5.0
#: Sums of days for a chargeback: small, and asked for when their year is over.
CHARGES_KEPT = timedelta(days=1100)
#: Those by owner are many, where each job is one: this month of last year is there.
OWNERS_KEPT = timedelta(days=400)


def old_rows() -> list[tuple[QuerySet[Model], str]]:
    """(rows whose time is over, the field that orders them). Cards last: they go when no allocation names them."""
    before = Now() - timedelta(days=settings.HISTORY_DAYS)
    return [
        (Allocation.objects.filter(ended_at__lt=before), "ended_at"),
        (Finding.objects.filter(ended_at__lt=before), "ended_at"),
        (ComponentChange.objects.filter(at__lt=before), "at"),
        (NodeChange.objects.filter(at__lt=before), "at"),
        (PodFailure.objects.filter(at__lt=before), "at"),
        (HistoryDay.objects.filter(day__lt=TruncDate(before)), "day"),
        (Card.objects.filter(removed_at__lt=before, allocations=None), "removed_at"),
        (OwnerDay.objects.filter(day__lt=TruncDate(Now() - OWNERS_KEPT)), "day"),
        (NamespaceDay.objects.filter(day__lt=TruncDate(Now() - CHARGES_KEPT)), "day"),
        (ChargeDay.objects.filter(day__lt=TruncDate(Now() - CHARGES_KEPT)), "day"),
        (Message.objects.filter(sent_at__lt=Now() - timedelta(days=1), taken=True), "sent_at"),
        (Session.objects.filter(expire_date__lt=Now()), "expire_date"),
    ]


def prune(seconds: float = RUN_S, batch: int = BATCH) -> tuple[int, bool]:
    """(rows deleted, whether there is more). Ends after about `seconds`, between two batches."""
    until, gone = time.monotonic() + seconds, 0
    for rows, order in old_rows():
        while count := _delete(rows.order_by(order), batch):
            gone += count
            if time.monotonic() > until:
                return gone, True
    return gone, False


def _delete(rows: QuerySet[Model], batch: int) -> int:
    """One batch, chosen and deleted in one transaction. Two who prune at once delete what the other has not."""
    keys = list(rows.values_list("pk", flat=True)[:batch])
    return rows.model._default_manager.filter(pk__in=keys).delete()[0] if keys else 0
