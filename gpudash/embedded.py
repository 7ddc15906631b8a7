"""Everything in one process on loopback: web, watchers, reconciler, schedule. For one person, and for the demo.

The same Celery tasks as in a team's deployment, on an in-memory broker: a worker with threads and the schedule run as threads of this
process, beside a WSGI server.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from pathlib import Path

from celery.beat import Service as BeatService
from celery.worker import WorkController
from django.conf import settings
from django.core.management import call_command
from django.db import connections

from gpudash.celery import ARENAS, app
from gpudash.config.database_pool import connections_now, use_pool
from gpudash.logs.to_file import log_to_file
from gpudash.web import bound_server
from gpudash.workers.queues import QUEUES, THREADS, WATCH_THREADS
from gpudash.workers.schedule import Schedule
from inventory import tasks
from inventory.mirror.keeper import keeper
from runtime.process_memory import limit_arenas
from runtime.telemetry import figures, report

logger = logging.getLogger(__name__)


def prepare() -> Path:
    """Bring the data folder's database up to date. Returns the file that the log goes to from now on."""
    call_command("migrate", verbosity=0, interactive=False)
    return log_to_file(settings.DATA_DIR)


class EmbeddedService:
    """Threads of one process: the worker (watchers and short tasks), the schedule, the web server."""

    def __init__(self, host: str = "127.0.0.1", port: int = 8000) -> None:
        self._server = bound_server(f"{host}:{port}", option="--port")
        self.url = f"http://{host}:{self._server.effective_port}"
        settings.ONE_PROCESS = True
        settings.PUBLIC_URL = settings.PUBLIC_URL or self.url
        self._use_memory_broker()
        limit_arenas(ARENAS)
        connections.close_all()  # what was opened so far is of no pool
        use_pool()

    def start(self) -> None:
        tasks.stopping.clear()
        self._worker = WorkController(
            app=app,
            pool_cls="threads",
            concurrency=sum(THREADS.values()),
            queues=list(QUEUES),
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            quiet=True,
        )
        keeper.start(WATCH_THREADS)
        figures.count_connections(connections_now)
        self._reporter = report.start("all in one")
        self._beat = BeatService(app, max_interval=1, scheduler_cls=Schedule)
        for name, run in (("worker", self._worker.start), ("schedule", self._run_beat), ("web", self._server.run)):
            threading.Thread(target=run, name=name, daemon=True).start()

    @staticmethod
    def _use_memory_broker() -> None:
        app.conf.update(
            broker_url="memory://", broker_transport_options={"polling_interval": 0.2}, worker_prefetch_multiplier=1
        )

    def _run_beat(self) -> None:
        self._beat.start(embedded_process=True)

    def stop(self) -> None:
        """Give the leases back and end the threads."""
        tasks.stopping.set()
        self._beat.stop()
        self._server.close()
        self._worker.stop(in_sighandler=False)
        keeper.stop()
        self._reporter.stop()

    def run_until_signal(self) -> None:
        """Block until SIGINT or SIGTERM, then stop."""
        ended = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        while not ended.wait(1.0):
            pass
        self.stop()
        time.sleep(0.2)  # let the watchers' last transactions end
