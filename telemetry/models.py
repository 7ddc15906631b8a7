"""What each process of the installation last said of itself. Any web process answers for all of them."""

from __future__ import annotations

from django.db import models


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
