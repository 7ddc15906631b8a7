"""Celery's schedule by a clock that is never set, with one message per entry under way, and a heartbeat.

Celery compares times of day: a clock that is set back by an hour stops its schedule for an hour. Intervals are measured by the
monotonic clock here, and each entry is due once at the start, so nothing has to be remembered between two starts.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from celery.beat import ScheduleEntry, Scheduler
from celery.schedules import schedstate
from django.db import DatabaseError, close_old_connections

from inventory.heartbeats import EVERY_S, beat
from inventory.messages import headers_for, sending
from inventory.models import Role

logger = logging.getLogger(__name__)


class Entry(ScheduleEntry):
    """due_at: by the monotonic clock; None: at once."""

    def __init__(self, *args: Any, due_at: float | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.due_at = due_at

    @property
    def every_s(self) -> float:
        schedule: Any = self.schedule
        return float(schedule.run_every.total_seconds())

    def is_due(self) -> Any:
        left = 0.0 if self.due_at is None else self.due_at - time.monotonic()
        return schedstate(True, self.every_s) if left <= 0 else schedstate(False, left)


class Schedule(Scheduler):
    """A tick comes at least every few seconds. A database that is away does not stop the schedule, but nothing is sent without it."""

    Entry = Entry
    _beaten = float("-inf")

    def setup_schedule(self) -> None:
        self.merge_inplace(self.app.conf.beat_schedule)

    def _when(self, entry: Any, next_time_to_run: float, *args: Any) -> float:
        return time.monotonic() + next_time_to_run

    def reserve(self, entry: Any) -> Any:
        following: Any = super().reserve(entry)
        following.due_at = time.monotonic() + following.every_s
        return following

    def tick(self, *args: Any, **options: Any) -> float:
        if time.monotonic() - self._beaten >= EVERY_S:
            self._beaten = time.monotonic()
            _beat()
        pause: float = super().tick(*args, **options)
        return min(pause, EVERY_S)

    def apply_async(self, entry: Any, producer: Any = None, advance: bool = True, **options: Any) -> Any:
        """Send an entry's task, unless its last message has not been taken yet."""
        queue = entry.options.get("queue", "default")
        try:
            headers = headers_for(entry.name, queue)
            if headers is None:
                return None
            with sending(headers):
                return self.send_task(entry.task, queue=queue, headers=headers, producer=producer)
        except DatabaseError:
            logger.exception("%s is not sent", entry.name)
        except Exception:  # each broker has errors of its own
            logger.exception("%s is not sent: the broker does not take it", entry.name)
        finally:
            close_old_connections()
        return None


def _beat() -> None:
    close_old_connections()
    try:
        beat(Role.SCHEDULE)
    except DatabaseError:
        logger.exception("the schedule's heartbeat is not written")
