"""Rows first, messages after the commit. A message that is lost costs seconds: the schedule finds the row.

A request never waits for the broker: messages go through a short queue of this process, which one thread empties. What the broker
does not take is dropped, and said once.
"""

from __future__ import annotations

import atexit
import logging
import queue
import threading
import time
from functools import partial

from celery import current_app
from django.db import transaction
from kombu import Connection

logger = logging.getLogger(__name__)

#: Messages that wait for the broker; a campaign sends one for itself and one a run.
LENGTH = 1000
#: For the broker's part of a send: to connect, and to answer.
BROKER_S = 2.0
#: A process that ends (a command, a web server) waits this long for what it has not sent yet.
FLUSH_S = 2.0


class Outbox:
    """Messages on their way to the broker. `put` never waits and never raises."""

    def __init__(self, length: int = LENGTH) -> None:
        self._waiting: queue.Queue[tuple[str, object]] = queue.Queue(length)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._failing = False
        self._connection: Connection | None = None

    def put(self, task: str, argument: object) -> None:
        try:
            self._waiting.put_nowait((task, argument))
        except queue.Full:
            self._fail("more messages wait than the broker takes")
        self._start()

    def flush(self, seconds: float = FLUSH_S) -> bool:
        """Wait until all is sent or dropped, for so long at most. Returns whether it is."""
        until = time.monotonic() + seconds
        with self._waiting.all_tasks_done:
            return self._waiting.all_tasks_done.wait_for(
                lambda: not self._waiting.unfinished_tasks, max(until - time.monotonic(), 0)
            )

    def _start(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():  # a fork leaves threads behind
                self._connection = None
                self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            task, argument = self._waiting.get()
            try:
                self._send(task, argument)
            except Exception as error:  # noqa: BLE001 (each broker has errors of its own)
                self._connection = None
                self._fail(f"{type(error).__name__}: {error}")
                self._drop()  # what waits behind it would meet the same, after the same time
            finally:
                self._waiting.task_done()

    def _send(self, task: str, argument: object) -> None:
        if self._connection is None:
            limits = {"socket_connect_timeout": BROKER_S, "socket_timeout": BROKER_S}
            self._connection = current_app.connection_for_write(connect_timeout=BROKER_S, transport_options=limits)
        with current_app.amqp.Producer(self._connection) as producer:
            current_app.send_task(task, (argument,), producer=producer, retry=False)
        if self._failing:
            self._failing = False
            logger.info("the broker takes messages again")

    def _drop(self) -> None:
        while True:
            try:
                self._waiting.get_nowait()
            except queue.Empty:
                return
            self._waiting.task_done()

    def _fail(self, why: str) -> None:
        if not self._failing:
            self._failing = True
            logger.warning("messages are not sent to the broker (%s); the schedule finds what they were about", why)


outbox = Outbox()
atexit.register(outbox.flush)


def soon(task: str, identifier: object) -> None:
    """Send `validations.tasks.<task>` with one argument once the transaction is committed; never raises, never waits."""
    transaction.on_commit(partial(outbox.put, f"validations.tasks.{task}", identifier), robust=True)
