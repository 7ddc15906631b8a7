"""The columns of a lease, in the row of what it protects."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

#: Longer than any lease may last: an end that lies further ahead was written by a clock that has been set back since.
LONGEST = timedelta(seconds=120)


class LeaseRow(models.Model):
    """A row that one process at a time may write: who holds it, and until when by the database's clock.

    What is protected is in columns of the same row, or is written in a transaction that also updates this row, with holder, token
    and epoch in the WHERE clause: who lost the lease cannot write.
    """

    holder = models.CharField(max_length=128, blank=True)
    #: Grows by one with each new holder (a fencing token).
    token = models.BigIntegerField(default=0)
    #: Grows with each write of the holder, who keeps it in memory too: a row with another one was put back from a backup.
    epoch = models.BigIntegerField(default=0, db_default=0)
    #: Which making of this table (or file) the row was last held in; another one after a restore.
    incarnation = models.CharField(max_length=64, blank=True, default="", db_default="")
    expires_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


def free() -> Q:
    """Rows whose lease nobody holds."""
    return Q(expires_at=None) | Q(expires_at__lte=Now()) | Q(expires_at__gt=Now() + LONGEST)
