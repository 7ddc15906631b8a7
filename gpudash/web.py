"""The web server: waitress, which answers /healthz by itself while its threads are busy with pages.

Waitress reads requests on one loop and gives them to threads; a request waits until one is free. A probe that waited there would say
that a process is dead which is only busy. So the loop itself answers it: without a thread, Django, a session or the database.
"""

from __future__ import annotations

import socket
import sys
from dataclasses import dataclass
from typing import Any

import waitress
from django.core.management import CommandError
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer

from gpudash.database_pool import connections_now
from gpudash.health import HEALTHY
from gpudash.proxy_sign_in import marked
from telemetry import figures, report

THREADS = 8
#: How long a thread keeps the interpreter when others want it, in seconds: the loop waits for several of them in turn.
SWITCH_S = 0.0005
FORWARDED = ("x-forwarded-for", "x-forwarded-proto")
#: Bytes that the server receives before gpudash sees a request: more than gpudash takes, so that gpudash says why not.
BODY_BYTES = 2 << 20
_PROBES = (b"GET /healthz ", b"GET /healthz?", b"HEAD /healthz ", b"HEAD /healthz?")
_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n"
    b"Cache-Control: max-age=0, no-cache, no-store, must-revalidate, private\r\nX-Content-Type-Options: nosniff\r\n\r\n"
)


class ProbeChannel(HTTPChannel):  # type: ignore[misc]
    """One connection. What is not a whole, plain probe goes the usual way, where Django answers it."""

    def received(self, data: bytes) -> bool:
        if data.startswith(_PROBES) and self._is_probe(data):
            self._answer(_HEAD % len(HEALTHY) + (b"" if data.startswith(b"HEAD") else HEALTHY))
            return True
        taken: bool = super().received(data)
        return taken

    def _is_probe(self, data: bytes) -> bool:
        """By waitress' own parser: one complete request that it finds nothing wrong with, and nothing before or after it."""
        if self.request is not None or self.requests or self.will_close or self.close_when_flushed:
            return False
        request = self.parser_class(self.adj)
        read: int = request.received(data)
        request.close()
        return bool(request.completed and not request.error and read == len(data) and request.path == "/healthz")

    def _answer(self, answer: bytes) -> None:
        with self.outbuf_lock:
            self.outbufs[-1].append(answer)
            self.current_outbuf_count += len(answer)
            self.total_outbufs_len += len(answer)
            self.close_when_flushed = True
        # Now, not in the next round of the loop: each system call may wait for the threads once more.
        self.handle_write()


@dataclass(frozen=True)
class Web:
    """How the server runs. threads: requests at once, in each process.

    trusted_proxy: the address whose word about the client is believed, "" for nobody's; the headers of others are taken away.
    """

    threads: int = THREADS
    trusted_proxy: str = ""
    trusted_proxy_headers: tuple[str, ...] = FORWARDED
    trusted_proxy_count: int = 1

    def server(self, **where: Any) -> Any:
        """A server that does not run yet. where: `listen`, or `sockets` that are bound. Raises OSError and ValueError."""
        from gpudash.wsgi import application

        server = waitress.create_server(
            application,
            threads=self.threads,
            ident="gpudash",
            clear_untrusted_proxy_headers=True,
            max_request_body_size=BODY_BYTES,
            **self._proxy(),
            **where,
        )
        # One server for each address: itself, or those in the map of the one that stands for several.
        for one in [server] if isinstance(server, BaseWSGIServer) else server.map.values():
            if isinstance(one, BaseWSGIServer):
                one.channel_class = ProbeChannel
                one.application = marked(one.application, self.trusted_proxy)
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
    told = f"port {port} on {host} cannot be used ({error.strerror})"
    return CommandError(f"{told}; choose another with {option}")


def start_telemetry() -> report.Reporter:
    """This process serves, and says from now on how it does."""
    figures.count_connections(connections_now)
    return report.start("web")
