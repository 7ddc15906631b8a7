"""Celery's consumer, which survives a broker that goes while a message is acknowledged and what others put into a queue, and says
that it lives.

Celery closes the broken connection when it has lost the broker. Where a thread was acknowledging a message at that moment, kombu's
channel is half closed, and closing it raises an AttributeError, which Celery takes for the end of the worker (seen with Celery 5.7
and kombu 5.6: once in some sixty restarts of Redis under load).
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from celery.worker import consumer
from kombu.transport import redis

from gpudash.workers.alive import touch
from gpudash.workers.broken_messages import Transport

logger = logging.getLogger(__name__)

#: How often it says that it lives.
ALIVE_S = 2.0


class Consumer(consumer.Consumer):
    """A connection that cannot be closed is given up; the next one is made as after any loss."""

    def __init__(self, *args: Any, **options: Any) -> None:
        # Celery's own heartbeats are for monitors of Celery. While packets to the broker are dropped, their sender waits in the loop.
        options["worker_options"] = {**(options.get("worker_options") or {}), "without_heartbeat": True}
        super().__init__(*args, **options)
        self._looking = _Looking()

    def connection_for_read(self, heartbeat: float | None = None) -> Any:
        """From Redis only messages of ours are taken."""
        connection = self.app.connection_for_read(heartbeat=heartbeat)
        if connection.get_transport_cls() is redis.Transport:
            connection.transport_cls = Transport  # type: ignore[assignment]
        return self.ensure_connected(connection)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        self._looking = _Looking()
        try:
            super().on_connection_error_after_connected(exc)
        except Exception as error:  # noqa: BLE001 (whatever a half closed channel raises)
            logger.warning("cannot close the lost connection to the broker: %r", error)

    def on_ready(self) -> None:
        """The loop begins, at the start and after each loss, which clears its timers. They fire between two of its turns."""
        super().on_ready()
        self._looking.found.set()
        self.timer.call_repeatedly(ALIVE_S, touch)


class _Looking(threading.Thread):
    """Says that the worker lives while it looks for the broker: a step of that may take minutes where packets are dropped."""

    def __init__(self) -> None:
        super().__init__(name="reconnecting to the broker", daemon=True)
        self.found = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.found.wait(ALIVE_S):
            touch()
