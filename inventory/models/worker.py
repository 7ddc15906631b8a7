"""Who takes watchers, and which messages are under way."""

from __future__ import annotations

from django.db import models


class Worker(models.Model):
    """A process that holds watchers, by the database's clock. Rows of processes that ended are deleted after a while.

    name: host/pid/random. threads: how many watchers it can hold. holds: how many it does.
    """

    name = models.CharField(max_length=128, unique=True)
    threads = models.PositiveIntegerField()
    holds = models.PositiveIntegerField()
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.holds} of {self.threads}"


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
