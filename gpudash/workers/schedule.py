"""Celery's schedule by a clock that is never set, with one message per entry under way, a lease and a heartbeat.

Celery compares times of day: a clock that is set back by an hour stops its schedule for an hour. Intervals are measured by the
monotonic clock here, and each entry is due once at the start, so nothing has to be remembered between two starts. Of several
schedules one holds the lease and sends; another goes on when it ends, or when its lease has run out.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from celery.beat import ScheduleEntry, Scheduler
from celery.schedules import schedstate
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection

from gpudash.workers.alive import touch
from runtime.heartbeats import EVERY_S, beat
from runtime.leases.lease import Lease, LeaseLost, acquire
from runtime.messages import headers_for, queue_of, sending
from runtime.models import Role, ScheduleLease

logger = logging.getLogger(__name__)

#: How often a schedule that waits looks whether the lease is free.
LOOK_S = 2.0
#: How long the end waits for the lease to be given back.
RELEASE_S = 3.0


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
    _lease: Lease | None = None
    _told: bool | None = None

    def setup_schedule(self) -> None:
        self.merge_inplace(self.app.conf.beat_schedule)

    def _when(self, entry: Any, next_time_to_run: float, *args: Any) -> float:
        return time.monotonic() + next_time_to_run

    def reserve(self, entry: Any) -> Any:
        following: Any = super().reserve(entry)
        following.due_at = time.monotonic() + following.every_s
        return following

    def tick(self, *args: Any, **options: Any) -> float:
        touch()
        if not self._is_ours():
            return LOOK_S
        if time.monotonic() - self._beaten >= EVERY_S:
            self._beaten = time.monotonic()
            _beat()
        pause: float = super().tick(*args, **options)
        return min(pause, EVERY_S)

    def _is_ours(self) -> bool:
        """Whether this schedule holds the lease, now. Without the database nobody knows, and nothing is sent."""
        try:
            if self._lease is not None:
                self._lease.tick()
            else:
                self._lease = _take()
                self._say(self._lease is not None)
            return self._lease is not None
        except LeaseLost:
            logger.warning("lost the lease of the schedule")
            self._lease = None
        except DatabaseError:
            logger.exception("cannot read the lease of the schedule")
        finally:
            close_old_connections()
        return False

    def _say(self, sends: bool) -> None:
        if sends is not self._told:
            logger.info("this schedule is active" if sends else "another schedule is active; this one is on standby")
        self._told = sends

    def close(self) -> None:
        """Give the lease back, so that another schedule goes on at once."""
        lease, self._lease = self._lease, None
        if lease is not None:
            # A signal may have come in the middle of a query: this thread's connection may be in use.
            giving = threading.Thread(target=_release, args=(lease,), name="schedule lease", daemon=True)
            giving.start()
            giving.join(RELEASE_S)
        super().close()

    def apply_async(self, entry: Any, producer: Any = None, advance: bool = True, **options: Any) -> Any:
        """Send an entry's task, unless its last message has not been taken yet."""
        queue = queue_of(entry.task)
        try:
            headers = headers_for(entry.name, queue)
            if headers is None:
                return None
            with sending(headers):
                return self.send_task(entry.task, queue=queue, headers=headers, producer=producer)
        except DatabaseError:
            logger.exception("%s not sent", entry.name)
        except Exception:  # each broker has errors of its own
            logger.exception("%s not sent: the broker rejected it", entry.name)
        finally:
            close_old_connections()
        return None


def _take() -> Lease | None:
    rows = ScheduleLease.objects.filter(name="schedule")
    if not rows.exists():
        ScheduleLease.objects.get_or_create(name="schedule")
    return acquire(rows, 0, "schedule", settings.LEASE_S)


def _release(lease: Lease) -> None:
    try:
        lease.release()
    except DatabaseError:
        logger.warning("cannot release the lease of the schedule; it expires")
    finally:
        connection.close()


def _beat() -> None:
    close_old_connections()
    try:
        beat(Role.SCHEDULE)
    except DatabaseError:
        logger.exception("cannot write the heartbeat of the schedule")
