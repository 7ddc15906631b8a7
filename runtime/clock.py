"""The database's clock: what all hosts agree on. Whatever is stored and compared with a stored moment comes from here.

Within one process time is measured with `time.monotonic`; the host's own clock may be wrong, or step back.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.db.models import FloatField, Func

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


class UnixTime(Func):
    """A moment in seconds since 1970, as the database counts them: much faster than to read as many moments, where there are many."""

    arity = 1
    output_field = FloatField()

    def get_db_converters(self, connection: Any) -> list[Any]:
        """None: both databases give floats."""
        return []

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="EXTRACT(EPOCH FROM %(expressions)s)::float8", **context)

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # Written as 2026-11-23 14:00:00.123456, the fraction only where there is one. Whole microseconds, divided once: floats that
        # are added would be rounded twice, and strftime alone rounds the second up.
        whole = "strftime('%%%%s', substr(%(expressions)s, 1, 19))"
        rest = "substr(substr(%(expressions)s, 21) || '000000', 1, 6)"
        template = f"(({whole} * 1000000 + {rest}) / 1000000.0)"
        sql, parameters = self.as_sql(compiler, connection, template=template, **context)
        return sql, (*parameters, *parameters)
