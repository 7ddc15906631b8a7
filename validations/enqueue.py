"""Rows first, messages after the commit. A message that is lost costs seconds: the schedule finds the row."""

from __future__ import annotations

import logging

from celery import current_app
from django.db import transaction

logger = logging.getLogger(__name__)


def soon(task: str, identifier: object) -> None:
    """Send `validations.tasks.<task>` with one argument once the transaction is committed; never raises."""
    transaction.on_commit(lambda: _send(task, identifier), robust=True)


def _send(task: str, identifier: object) -> None:
    try:
        current_app.send_task(f"validations.tasks.{task}", (identifier,), retry=False, expires=60)
    except Exception as error:  # noqa: BLE001 (each broker has errors of its own)
        logger.warning("%s %s: not sent (%s); the schedule will find it", task, identifier, error)
