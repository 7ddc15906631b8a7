"""The web server: waitress, with an end to requests that do not arrive, and a listener of its own for probes.

Waitress reads requests on one loop and gives them to threads; a request waits until one is free, and a connection until another ends.
A probe that waited there would say that a process is dead which is only busy. So probes have an address of their own (`Web.probes`),
on the same loop, with a thread and connections of their own.
"""

from __future__ import annotations

import socket
import sys
import time
from dataclasses import dataclass
from typing import Any

import waitress
from django.core.management import CommandError
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer

from gpudash.config.database_pool import connections_now
from gpudash.middleware.proxy_sign_in import marked
from gpudash.probes import READY, probes_only
from runtime.telemetry import figures, report

THREADS = 8
#: How long a thread keeps the interpreter when others want it, in seconds: the loop waits for several of them in turn.
SWITCH_S = 0.0005
FORWARDED = ("x-forwarded-for", "x-forwarded-proto")
#: Bytes that the server receives before gpudash sees a request: more than gpudash takes, so that gpudash says why not.
BODY_BYTES = 2 << 20
#: Open connections of one process, below the 1,024 files that a process may usually open; those of probes come on top of them.
CONNECTIONS, PROBE_CONNECTIONS = 800, 64
#: Seconds from the first byte of a request, or from when its connection was opened, to the last byte of its head, and of its body.
HEAD_S, BODY_S = 10, 60
#: Seconds for which an answer may lie here while its reader takes nothing.
STALLED_S = 60
#: Seconds after its last answer that a connection is kept for the next request, while all CONNECTIONS are taken.
IDLE_FULL_S = 1


class TimedChannel(HTTPChannel):  # type: ignore[misc]
    """One connection, ended when its request does not arrive or its answer is not taken. Waitress itself ends what is silent for
    two minutes, and waits for ever for who sends a byte now and then.
    """

    #: When the request that has not arrived yet began; None: none has.
    _began: float | None = None
    _answered = False
    #: When the loop first saw what lies here to be sent; None: nothing does. The view may have taken longer than STALLED_S.
    _lies_since: float | None = None

    def received(self, data: bytes) -> bool:
        if self._began is None:
            self._began = time.time()
        taken: bool = super().received(data)
        return taken

    def service(self) -> None:
        super().service()
        self._answered = True
        # What has arrived meanwhile could not be read on.
        self._began = None if self.request is None else time.time()

    def readable(self) -> bool:
        """The loop asks each connection in each of its turns, once a second at least."""
        if self._overdue(time.time()):
            self.handle_close()
            return False
        readable: bool = super().readable()
        return readable

    def _overdue(self, now: float) -> bool:
        if self.total_outbufs_len:
            self._lies_since = self._lies_since or now
            return bool(now - max(self.last_activity, self._lies_since) > STALLED_S)
        self._lies_since = None
        if self.requests:
            return False
        if self._began is not None or not self._answered:
            in_body = self.request is not None and self.request.headers_finished
            return bool(now - (self._began or self.creation_time) > (BODY_S if in_body else HEAD_S))
        return bool(self.server.in_connection_overflow and now - self.last_activity > IDLE_FULL_S)


@dataclass(frozen=True)
class Web:
    """How the server runs. threads: requests at once, in each process. probes: "HOST:PORT" of the listener for probes, "" for none.

    trusted_proxy: the address whose word about the client is believed, "" for nobody's; the headers of others are taken away.
    """

    threads: int = THREADS
    trusted_proxy: str = ""
    trusted_proxy_headers: tuple[str, ...] = FORWARDED
    trusted_proxy_count: int = 1
    probes: str = ""

    def server(self, probe_sockets: Any = (), **where: Any) -> Any:
        """A server that does not run yet. where: `listen`, or `sockets` that are bound; probe_sockets: those of `probes` then.

        Raises OSError and ValueError.
        """
        from gpudash.wsgi import application

        places: dict[int, Any] = {}
        server = _serving(application, places, **where, threads=self.threads, **self._proxy())
        for one in _listeners(places):
            one.application = marked(one.application, self.trusted_proxy)
        if probe_sockets:
            _add_probes(application, places, server.task_dispatcher, sockets=probe_sockets)
        elif self.probes and "listen" in where:
            try:
                _add_probes(application, places, server.task_dispatcher, listen=self.probes)
            except OSError as error:
                raise taken(self.probes, error, "--probes") from None
        sys.setswitchinterval(SWITCH_S)
        return server

    def _proxy(self) -> dict[str, Any]:
        if not self.trusted_proxy:
            return {}
        return {
            "trusted_proxy": self.trusted_proxy,
            "trusted_proxy_headers": set(self.trusted_proxy_headers),
            "trusted_proxy_count": self.trusted_proxy_count,
        }


def _serving(application: Any, places: dict[int, Any], more: int = 0, **options: Any) -> Any:
    """A server whose listeners are in `places` afterwards, which the loop turns over. more: connections beyond CONNECTIONS."""
    server = waitress.create_server(
        application,
        map=places,
        ident="gpudash",
        connection_limit=CONNECTIONS + more,
        asyncore_use_poll=True,
        max_request_body_size=BODY_BYTES,
        clear_untrusted_proxy_headers=True,
        **options,
    )
    for one in _listeners(places):
        one.channel_class = TimedChannel
    return server


def _listeners(places: dict[int, Any]) -> list[BaseWSGIServer]:
    return [one for one in places.values() if isinstance(one, BaseWSGIServer)]


def _add_probes(application: Any, places: dict[int, Any], threads_of_pages: Any, **where: Any) -> None:
    """/healthz has a thread of its own. /readyz, which may wait for the database, takes one of those of pages."""
    pages = _listeners(places)
    own = _serving(probes_only(application), places, PROBE_CONNECTIONS, threads=1, **where).task_dispatcher

    def add_task(channel: HTTPChannel) -> None:
        (threads_of_pages if channel.requests[0].path.endswith(READY) else own).add_task(channel)

    for one in _listeners(places):
        if one not in pages:
            one.add_task = add_task


def bound_server(listen: str, web: Web | None = None, option: str = "--listen") -> Any:
    """A server that has its ports and does not run yet. listen: "HOST:PORT", several separated by spaces.

    option: what a user changes when the port is taken. Raises CommandError.
    """
    made = web or Web()
    try:
        return made.server(listen=listen)
    except (OSError, socket.gaierror) as error:
        raise taken(listen, error, option) from None
    except ValueError as error:
        raise CommandError(f"{error} (listen: {listen}; trusted proxy: {made.trusted_proxy or 'none'})") from None


def taken(listen: str, error: OSError, option: str) -> CommandError:
    """What is said of a port that cannot be had."""
    host, _, port = listen.rpartition(":")
    told = f"cannot use port {port} on {host} ({error.strerror})"
    return CommandError(f"{told}; choose another with {option}")


def start_telemetry() -> report.Reporter:
    """This process serves, and says from now on how it does."""
    figures.count_connections(connections_now)
    return report.start("web")
