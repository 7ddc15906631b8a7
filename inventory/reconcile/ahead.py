"""Reads the next chunk of nodes while the last one is written: before the cards are in sync, all nodes of a cluster are dirty.

The thread has a database connection for as long as it reads. Who waits for it must have none in hand: where threads share a pool,
each could else hold the connection that another waits for.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from django.db import connection

from runtime.connections import give_back

T = TypeVar("T")


def helps() -> bool:
    """Not with SQLite: it reads and writes in this process, one after the other, and each connection has caches of its own."""
    return connection.vendor != "sqlite"


class ReadAhead(Generic[T]):
    """At most one read under way. Not for several threads."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._read: Future[T] | None = None

    def start(self, read: Callable[[], T]) -> None:
        """Begin to read, in a thread."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="read-ahead")
        self._read = self._executor.submit(_with_connection, read)

    def take(self) -> T | None:
        """What was read, once it is; None when no read was begun. Raises what the read raised."""
        if self._read is None:
            return None
        give_back()
        read, self._read = self._read, None
        return read.result()

    def close(self) -> None:
        """End the thread; a read that is under way is waited for and forgotten."""
        if self._executor is not None:
            give_back()
            self._executor.shutdown()
        self._executor = self._read = None


def _with_connection(read: Callable[[], T]) -> T:
    try:
        return read()
    finally:
        connection.close()
