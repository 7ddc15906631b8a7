"""What is done for accounts by the schedule."""

from __future__ import annotations

from importlib import import_module

from celery import shared_task
from django.conf import settings

from audit.reading import read_on
from audit.shipping import ship
from runtime.messages import OnceTask


@shared_task(base=OnceTask)
def purge_sessions() -> None:
    """Sessions that ended are of no use to anybody but who reads a stolen copy of the table."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()


@shared_task(base=OnceTask)
def ship_audit() -> None:
    """Log lines of entries whose process was killed after the commit."""
    ship()


@shared_task(base=OnceTask)
def read_audit() -> None:
    """The audit log is read through, some entries at a time."""
    read_on()
