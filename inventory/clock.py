"""The database's clock: the one that all processes share, whatever the clocks of their hosts say."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db import connection
from django.utils import timezone


def database_now() -> datetime:
    """Now, by the database. SQLite runs in this process, so its clock is this host's."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone() or (timezone.now(),)
    found: datetime = moment
    return found.astimezone(UTC)
