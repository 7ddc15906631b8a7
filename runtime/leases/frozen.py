"""A holder that froze in the middle of a transaction (its process or host is paused) keeps the row of its lease locked.

PostgreSQL ends neither: `idle_in_transaction_session_timeout` does not count inside a COPY that waits for its client, and a paused
host answers TCP for a while. Who takes over ends that session.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from django.db import connection
from django.db.models import QuerySet

logger = logging.getLogger(__name__)

#: Beyond the end of the lease, before its session is looked at.
GRACE_S = 2.0
#: A session that is waited for is seen to wait for its client this often, this far apart: one that works is seen at work.
LOOKS, APART_S = 4, 0.3

# The transaction that has locked the row stands in xmax. It is frozen, not slow, when the server waits for its client.
_WHO = """
SELECT l.pid FROM {table} w
JOIN pg_locks l ON l.locktype = 'transactionid' AND l.transactionid = w.xmax AND l.granted
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE w.id = %s AND w.expires_at < clock_timestamp() - %s * interval '1 second'
  AND a.wait_event = 'ClientRead' AND a.state_change < clock_timestamp() - %s * interval '1 second' AND l.pid <> pg_backend_pid()
"""


def end_frozen(rows: QuerySet[Any], seconds: float) -> bool:
    """End the session that keeps this lease's row locked beyond its end. Whether there was one, and it is gone.

    rows: the one row. seconds: how long its lease lasts.
    """
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        return False
    pk = rows.values_list("pk", flat=True).first()
    pid = _frozen(rows, pk, seconds)
    for _ in range(LOOKS - 1):
        if pid is None:
            return False
        time.sleep(APART_S)
        pid = pid if _frozen(rows, pk, seconds) == pid else None
    return pid is not None and _end(pid, f"{rows.model._meta.db_table} {pk}")


def _frozen(rows: QuerySet[Any], pk: int | None, seconds: float) -> int | None:
    table = connection.ops.quote_name(rows.model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(_WHO.format(table=table), [pk, GRACE_S, seconds])
        found = cursor.fetchone()
    return int(found[0]) if found else None


def _end(pid: int, row: str) -> bool:
    logger.warning("ended the database session of a frozen process with a lease (%s, pid %d)", row, pid)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        for _ in range(LOOKS):
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", [pid])
            if cursor.fetchone() == (0,):
                return True
            time.sleep(APART_S)
    return False
