"""What is kept of each cluster for its launcher: the lease of its reconciler, and when it was last reached."""

from __future__ import annotations

from django.db import models

from inventory.models import Cluster


class Launcher(models.Model):
    """One row per cluster. The row is also the lock under which slots are counted.

    reached_at: the last time that the Jobs of the cluster were listed. error: why they were not, since `failing_since`.
    refused: the last no of its rules to the launcher, {"at": RFC 3339, "code", "text"}; {} for none.
    runtime_classes: names, as the cluster listed them; [] when it has none or does not show them.
    """

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="launcher")
    holder = models.CharField(max_length=128, blank=True)
    token = models.BigIntegerField(default=0)
    expires_at = models.DateTimeField(null=True)
    reached_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    #: A cluster that was not reached is tried again from then on.
    next_try_at = models.DateTimeField(null=True)
    refused = models.JSONField(default=dict)
    swept_at = models.DateTimeField(null=True)
    runtime_classes = models.JSONField(default=list)
    #: Counts the claims; an update of it takes the row's lock.
    claims = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"launcher of {self.cluster_id}"


class Installation(models.Model):
    """One row: the name by which this installation knows its own Jobs in a cluster that several share."""

    name = models.CharField(max_length=32)

    def __str__(self) -> str:
        return self.name
