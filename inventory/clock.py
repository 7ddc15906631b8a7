"""The database's clock: what all hosts agree on. Whatever is stored and compared with a stored moment comes from here.

Within one process time is measured with `time.monotonic`; the host's own clock may be wrong, or step back.
"""

from __future__ import annotations

from datetime import UTC, datetime

from django.db import connection

_NOW = {
    "postgresql": "SELECT clock_timestamp()",
    "sqlite": "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')",
}


def database_now() -> datetime:
    """Now, in UTC; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_NOW[connection.vendor])
        (moment,) = cursor.fetchone()
    if isinstance(moment, str):
        return datetime.fromisoformat(moment).replace(tzinfo=UTC)
    found: datetime = moment
    return found.astimezone(UTC)
