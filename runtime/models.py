"""What processes say of themselves, and the messages between them. Writers: each process its own rows."""

from __future__ import annotations

from django.db import models

from runtime.leases.row import LeaseRow


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


class Message(models.Model):
    """The last message of a thing to do, of which one at most is under way: key names the thing.

    number: grows with each message; one with a lower number is out of date. taken: a worker has begun with it.
    """

    key = models.CharField(max_length=200, unique=True)
    number = models.BigIntegerField(default=1)
    sent_at = models.DateTimeField()
    taken = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.key} {self.number}"


class ProcessReport(models.Model):
    """A process, by the database's clock. Rows of processes that ended are deleted after a while.

    name: host/pid/random. role: what it does, as its command says. version: of the code. figures: its metrics in Prometheus' text
    format. failures: the last tasks that failed, [{"task", "at" (Unix seconds of that host), "error"}].
    """

    name = models.CharField(max_length=128, unique=True)
    role = models.CharField(max_length=32)
    version = models.CharField(max_length=64)
    started_at = models.DateTimeField()
    written_at = models.DateTimeField()
    figures = models.TextField(blank=True)
    failures = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"{self.role} {self.name}"
