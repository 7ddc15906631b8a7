"""A watcher that froze in the middle of a transaction (its process or host is paused) keeps the row of its lease locked.

PostgreSQL ends neither: `idle_in_transaction_session_timeout` does not count inside a COPY that waits for its client, and a paused
host answers TCP for a while. Who takes over ends that session.
"""

from __future__ import annotations

import logging
import time

from django.conf import settings
from django.db import connection

logger = logging.getLogger(__name__)

#: Beyond the end of the lease, before its session is looked at.
GRACE_S = 2.0
#: A session that is waited for is seen to wait for its client this often, this far apart: one that works is seen at work.
LOOKS, APART_S = 4, 0.3

# The transaction that has locked the row stands in xmax. It is frozen, not slow, when the server waits for its client.
_WHO = """
SELECT l.pid FROM inventory_watch w
JOIN pg_locks l ON l.locktype = 'transactionid' AND l.transactionid = w.xmax AND l.granted
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE w.cluster_id = %s AND w.kind = %s AND w.expires_at < clock_timestamp() - %s * interval '1 second'
  AND a.wait_event = 'ClientRead' AND a.state_change < clock_timestamp() - %s * interval '1 second' AND l.pid <> pg_backend_pid()
"""


def end_frozen(cluster_id: int, kind: str) -> bool:
    """End the session that keeps this lease's row locked beyond its end. Whether there was one, and it is gone."""
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        return False
    pid = _frozen(cluster_id, kind)
    for _ in range(LOOKS - 1):
        if pid is None:
            return False
        time.sleep(APART_S)
        pid = pid if _frozen(cluster_id, kind) == pid else None
    return pid is not None and _end(pid, cluster_id, kind)


def _frozen(cluster_id: int, kind: str) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(_WHO, [cluster_id, kind, GRACE_S, settings.LEASE_S])
        found = cursor.fetchone()
    return int(found[0]) if found else None


def _end(pid: int, cluster_id: int, kind: str) -> bool:
    logger.warning("%s of cluster %d: the session of a frozen watcher (pid %d) is ended", kind, cluster_id, pid)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        for _ in range(LOOKS):
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", [pid])
            if cursor.fetchone() == (0,):
                return True
            time.sleep(APART_S)
    return False
