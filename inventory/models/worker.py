"""Who takes watchers."""

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
