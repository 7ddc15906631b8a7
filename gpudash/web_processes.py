"""Several web processes behind one address. gunicorn's arbiter starts them, watches them and replaces one that ends or hangs.

Each runs our own server (`gpudash.web`) on the sockets that they share, so probes are answered in each as in one alone. What a
process keeps for itself (`runtime.cached`) the others make for themselves.
"""

from __future__ import annotations

import gc
import logging
import os
import socket
import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import connections
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer

from accounts.passwords import checks
from gpudash.web import Web, start_telemetry, taken

#: A process whose loop has not turned for so long is replaced; requests are no part of the loop.
HANGS_S = 30
#: How long requests that are under way may take when the process is told to end. Below TimeoutStopSec of the unit.
GRACE_S = 20
TURN_S = 0.5


def several(listen: Sequence[str], processes: int, web: Web) -> None:
    """Serve until SIGTERM or SIGINT. Raises CommandError when an address cannot be had."""
    for address, option in [
        *((one, "--listen") for one in listen),
        *([(web.probes, "--probes")] if web.probes else []),
    ]:
        _try(address, option)
    # Together they hash no more passwords at once than one process would.
    checks.limit(max(1, settings.PASSWORD_CHECKS // processes))
    _Several(listen, processes, web).run()


def _try(address: str, option: str) -> None:
    """gunicorn would try a taken port again for some time, and say why in its own way."""
    host, _, port = address.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        with socket.socket(found[0][0]) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(found[0][4])
    except OSError as error:
        raise taken(address, error, option) from None


class _Several(BaseApplication):  # type: ignore[misc]
    """Configuration of gunicorn, all of it from here: no file, no environment, no arguments."""

    def __init__(self, listen: Sequence[str], processes: int, web: Web) -> None:
        self.listen, self.processes, self.web = list(listen), processes, web
        super().__init__()

    def load_config(self) -> None:
        chosen = {
            "bind": [*self.listen, *([self.web.probes] if self.web.probes else [])],
            "workers": self.processes,
            "worker_class": WebProcess,
            "logger_class": _Log,
            "timeout": HANGS_S,
            "graceful_timeout": GRACE_S + 2,
            "preload_app": True,
        }
        for name, value in chosen.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Before the processes are made, so that they have it in common."""
        from gpudash.wsgi import application

        connections.close_all()
        gc.collect()
        gc.freeze()
        return application

    def run(self) -> None:
        Arbiter(self).run()


class _Log(Logger):  # type: ignore[misc]
    """Its lines go where all of ours go, in the same form."""

    def setup(self, cfg: Any) -> None:
        self.error_log = logging.getLogger("gpudash.web_processes")


class WebProcess(Worker):  # type: ignore[misc]
    """One of them."""

    def run(self) -> None:
        web: Web = self.app.web
        reporter = start_telemetry()
        # In the order in which they were bound: the one for probes is the last.
        sockets = [one.sock for one in self.sockets]
        pages = sockets[:-1] if web.probes else sockets
        server = web.server(sockets[len(pages) :], sockets=pages)
        places: dict[int, Any] = server._map if isinstance(server, BaseWSGIServer) else server.map
        while self.alive and self.ppid == os.getppid():
            self._turn(places)
        self._end(server, places)
        reporter.stop()

    def _turn(self, places: dict[int, Any]) -> None:
        """Serve for a moment, and say that this process lives."""
        wasyncore.loop(timeout=TURN_S, use_poll=True, map=places, count=1)
        self.notify()

    def _end(self, server: Any, places: dict[int, Any]) -> None:
        """Take nothing new; answer what has been asked."""
        for place in list(places.values()):
            if isinstance(place, BaseWSGIServer):
                place.accepting = False
        until = time.monotonic() + GRACE_S
        while time.monotonic() < until and any(_busy(place) for place in places.values()):
            self._turn(places)
        server.task_dispatcher.shutdown()


def _busy(place: Any) -> bool:
    return isinstance(place, HTTPChannel) and bool(place.requests or place.total_outbufs_len)
