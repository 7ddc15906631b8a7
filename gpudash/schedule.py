"""Celery's schedule with a heartbeat: each tick leaves a word in the database, so that a beat that died or hangs is missed."""

from __future__ import annotations

import logging
import os
import time
from typing import Any

from celery.beat import PersistentScheduler, Scheduler
from django.db import DatabaseError, close_old_connections

from inventory.heartbeats import EVERY_S, beat
from inventory.models import Role

logger = logging.getLogger(__name__)


class _Beating(Scheduler):
    """A tick comes at least every few seconds. A database that is away does not stop the schedule."""

    _beaten = float("-inf")

    def tick(self, *args: Any, **options: Any) -> float:
        if time.monotonic() - self._beaten >= EVERY_S:
            self._beaten = time.monotonic()
            _beat()
        pause: float = super().tick(*args, **options)
        return min(pause, EVERY_S)


def _beat() -> None:
    close_old_connections()
    try:
        beat(Role.SCHEDULE)
    except DatabaseError as error:
        logger.warning("the schedule's heartbeat was not written: %s", error)


class EmbeddedSchedule(_Beating):
    """In memory, for one process."""


class Schedule(_Beating, PersistentScheduler):
    """What was run last is kept in a file, as Celery does it; the file is its owner's alone."""

    def setup_schedule(self) -> None:
        """`celery beat` is a process of its own that writes no other files, so the mask may stay."""
        os.umask(0o077)
        super().setup_schedule()
