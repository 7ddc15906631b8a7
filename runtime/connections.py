"""What a thread that only waits does with its database connection."""

from __future__ import annotations

from django.db import close_old_connections, connection


def give_back() -> None:
    """To the pool, where there is one; else it is closed when it is old or broken. Inside a transaction nothing happens."""
    if not connection.in_atomic_block:
        close_old_connections()
