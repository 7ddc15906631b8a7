"""Celery tasks of the notifications. They ask the database and the receivers, never a cluster."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

from celery import shared_task

from notifications import deliver as delivering
from notifications.models import UNDER_WAY, Delivery, Rule
from notifications.silences import end_with_findings
from notifications.tell import tell
from runtime.clock import database_now
from runtime.connections import give_back
from runtime.messages import OnceTask, send_once
from validations.lifecycle.outage import LOST

logger = logging.getLogger(__name__)

#: Threads of a worker that wait for receivers at once.
AT_ONCE = threading.BoundedSemaphore(8)
#: How long deliveries are kept.
KEPT = timedelta(days=90)


@shared_task(base=OnceTask)
def advance() -> int:
    """One step of all rules; returns how many deliveries were written. A mistake with one rule stops no other."""
    at, written = database_now(), 0
    end_with_findings(at)
    for rule in Rule.objects.filter(paused=False, channel__paused=False, channel__gone=False).select_related("channel"):
        try:
            written += len(tell(rule, at))
        except LOST:
            raise
        except Exception:
            logger.exception("rule %s: what it is about cannot be told", rule.name)
    for channel_id in delivering.with_work(at):
        send_once(deliver.name, (channel_id,))
    return written


@shared_task(base=OnceTask)
def deliver(channel_id: str) -> int:
    """Send what waits for a channel. Where too many wait for receivers already, the next step sends it."""
    if not AT_ONCE.acquire(blocking=False):
        return 0
    try:
        return delivering.deliver(channel_id)
    finally:
        AT_ONCE.release()
        give_back()


@shared_task(base=OnceTask)
def prune() -> int:
    """Remove deliveries that ended long ago; returns how many."""
    over = Delivery.objects.exclude(state__in=UNDER_WAY)
    number, _ = over.filter(created_at__lt=database_now() - KEPT).delete()
    return number
