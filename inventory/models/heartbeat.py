"""When each background process was last known to work."""

from __future__ import annotations

from django.db import models

from leases.row import LeaseRow


class Role(models.TextChoices):
    """What a heartbeat proves. SCHEDULE: beat ticks. TASKS: the broker carries a message to a worker of the queue `default`,
    which reaches the database. WATCH: a worker of the queue `watch` took up or renewed a watch (its leases say so, too).
    USAGE: the same as TASKS for the queue `usage`; a round that goes on says so by its lease. LAUNCH: the same as TASKS for the
    queue `launch`.
    """

    SCHEDULE = "schedule", "schedule (beat)"
    TASKS = "tasks", "tasks worker (queue default)"
    WATCH = "watch", "watch worker (queue watch)"
    USAGE = "usage", "usage worker (queue usage)"
    LAUNCH = "launch", "launch worker (queue launch)"


class Heartbeat(models.Model):
    """One row per role, by the database's clock."""

    role = models.CharField(max_length=16, choices=Role.choices, unique=True)
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.role} {self.beat_at:%Y-%m-%d %H:%M:%S}"


class ScheduleLease(LeaseRow):
    """The one row whose holder sends what is due: of several schedules one works, and the others wait for its end."""

    name = models.CharField(max_length=16, unique=True, default="schedule")

    def __str__(self) -> str:
        return f"{self.name} {self.holder}"
