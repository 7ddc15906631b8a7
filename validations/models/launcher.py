"""What is kept of each cluster for its launcher: the lease of its reconciler, and when it was last reached."""

from __future__ import annotations

from django.db import models

from inventory.models import Cluster
from runtime.leases.row import LeaseRow
from runtime.scoped import OfCluster


class Launcher(LeaseRow, OfCluster):
    """One row per cluster, with the lease of its launcher. The row is also the lock under which slots are counted.

    reached_at: the last time that the Jobs of the cluster were listed. error: why they were not, since `failing_since`.
    refused: the last no of its rules to the launcher, {"at": RFC 3339, "code", "text"}; {} for none.
    gives_way: whether the PriorityClass of policies is there and never pre-empts.
    runtime_classes: names, as the cluster listed them; [] when it has none or does not show them.
    """

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="launcher")
    reached_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    #: How it was made, see `wording.said`.
    wording = models.JSONField(null=True)
    #: A cluster that was not reached is tried again from then on.
    next_try_at = models.DateTimeField(null=True)
    #: Passes one after the other that could not look.
    tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    refused = models.JSONField(default=dict)
    swept_at = models.DateTimeField(null=True)
    runtime_classes = models.JSONField(default=list)
    gives_way = models.BooleanField(default=False, db_default=False)
    #: Counts the claims; an update of it takes the row's lock.
    claims = models.BigIntegerField(default=0)
    #: Jobs that no row knows and that cannot be deleted: name → [tries, when it is tried again (RFC 3339), why].
    strays = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))

    #: The lock object in the cluster (`validations.lifecycle.lock`): its epoch as we wrote it last, or are about to.
    lock_epoch = models.BigIntegerField(default=0, db_default=0)
    #: "" not looked at, "ours", "not-allowed" (the role knows no Leases), "other" or "ahead" (this database is a copy).
    lock_state = models.CharField(max_length=16, blank=True, default="", db_default="")
    lock_since = models.DateTimeField(null=True)
    #: Who holds it, where it is not ours.
    lock_holder = models.CharField(max_length=128, blank=True, default="", db_default="")
    #: A person has said that the other is gone for good.
    take_over = models.BooleanField(default=False, db_default=False)
    #: Makers whose Jobs are ours too: those from whom this launcher took over.
    makers = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))

    def __str__(self) -> str:
        return f"launcher of {self.cluster_id}"


class Installation(models.Model):
    """One row: the name by which this installation knows its own Jobs in a cluster that several share."""

    name = models.CharField(max_length=32)

    def __str__(self) -> str:
        return self.name
