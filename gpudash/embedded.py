"""Everything in one process on loopback: web, watchers, accountant, schedule. For one person, and for the demo.

The same Celery tasks as in a team's deployment, on an in-memory broker: a worker with threads and the schedule run as threads of this
process, beside a WSGI server.
"""

from __future__ import annotations

import logging
import signal
import socket
import threading
import time
from typing import Any

import waitress
from celery.beat import Scheduler
from celery.beat import Service as BeatService
from celery.worker import WorkController
from django.core.management import CommandError, call_command

from gpudash.celery import app
from inventory import tasks
from inventory.models import Cluster
from inventory.models.cluster import Kind

logger = logging.getLogger(__name__)

#: Threads of the embedded worker beyond those that watchers hold.
SPARE_THREADS = 4
WEB_THREADS = 8
#: Bytes that the web server receives before gpudash sees a request: more than gpudash takes, so that gpudash says why not.
WEB_BODY_BYTES = 2 << 20


def prepare() -> None:
    """Bring the data folder's database up to date."""
    call_command("migrate", verbosity=0, interactive=False)


class EmbeddedService:
    """Threads of one process: the worker (watchers and short tasks), the schedule, the web server."""

    def __init__(self, host: str = "127.0.0.1", port: int = 8000) -> None:
        self._server = _bound_server(host, port)
        self.url = f"http://{host}:{self._server.effective_port}"
        self._use_memory_broker()

    def start(self) -> None:
        tasks.stopping.clear()
        watchers = max(Cluster.objects.count(), 1) * len(Kind.values)
        self._worker = WorkController(
            app=app,
            pool_cls="threads",
            concurrency=watchers + SPARE_THREADS,
            queues=["watch", "default"],
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            quiet=True,
        )
        self._beat = BeatService(app, max_interval=1, scheduler_cls=Scheduler)
        for name, run in (("worker", self._worker.start), ("schedule", self._run_beat), ("web", self._server.run)):
            threading.Thread(target=run, name=name, daemon=True).start()
        tasks.dispatch_watchers.delay()
        tasks.check_clusters.delay()

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

    def run_until_signal(self) -> None:
        """Block until SIGINT or SIGTERM, then stop."""
        ended = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        while not ended.wait(1.0):
            pass
        self.stop()
        time.sleep(0.2)  # let the watchers' last transactions end


def _bound_server(host: str, port: int) -> Any:
    from gpudash.wsgi import application

    try:
        return waitress.create_server(
            application,
            host=host,
            port=port,
            threads=WEB_THREADS,
            ident="gpudash",
            clear_untrusted_proxy_headers=True,
            max_request_body_size=WEB_BODY_BYTES,
        )
    except (OSError, socket.gaierror) as error:
        raise CommandError(
            f"port {port} on {host} cannot be used ({error.strerror}); choose another with --port"
        ) from None
