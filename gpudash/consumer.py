"""Celery's consumer, which survives a broker that goes while a message is acknowledged.

Celery closes the broken connection when it has lost the broker. Where a thread was acknowledging a message at that moment, kombu's
channel is half closed, and closing it raises an AttributeError, which Celery takes for the end of the worker (seen with Celery 5.7
and kombu 5.6: once in some sixty restarts of Redis under load).
"""

from __future__ import annotations

import logging

from celery.worker import consumer

logger = logging.getLogger(__name__)


class Consumer(consumer.Consumer):
    """A connection that cannot be closed is given up; the next one is made as after any loss."""

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        try:
            super().on_connection_error_after_connected(exc)
        except Exception as error:  # noqa: BLE001 (whatever a half closed channel raises)
            logger.warning("the lost connection to the broker could not be closed: %r", error)
