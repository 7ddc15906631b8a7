"""A pool of database connections for processes with many threads: PostgreSQL takes a process of its own for each connection."""

from __future__ import annotations

from django.conf import settings
from django.db import connections

#: Seconds that a thread waits for a connection before the database counts as away.
WAIT_S = 10.0


def use_pool() -> None:
    """From now on the threads of this process share GPUDASH_DATABASE_CONNECTIONS connections. Before the first query only.

    Each gives its connection back when it has nothing to write (`close_old_connections`). SQLite has nothing to share.
    """
    chosen = connections.settings["default"]
    if chosen["ENGINE"] != "django.db.backends.postgresql":
        return
    chosen["CONN_MAX_AGE"] = 0
    chosen["OPTIONS"]["pool"] = {
        "min_size": 1,
        "max_size": settings.DATABASE_CONNECTIONS,
        "timeout": WAIT_S,
        "max_idle": 120.0,
        "reconnect_timeout": 60.0,
    }


def connections_now() -> dict[str, int] | None:
    """Connections by state, and threads that wait for one; None where there is no pool, or nobody has used it yet."""
    pools = getattr(connections["default"], "_connection_pools", {})
    pool = pools.get("default")
    if pool is None:
        return None
    found = pool.get_stats()
    idle, size = found.get("pool_available", 0), found.get("pool_size", 0)
    return {"used": size - idle, "idle": idle, "waiting": found.get("requests_waiting", 0)}
