"""An HTTP server of a test, on loopback. With it end the connections that clients keep open, and the threads that answer them."""

from __future__ import annotations

import socket
import ssl
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

#: Longest time that an answer under way may take when the server closes.
PATIENCE_S = 15.0


class Handler(BaseHTTPRequestHandler):
    """Writes no line for each request."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Answers from when it is made until `close`. A handler that waits for an event has to be let go before.

    tls: None for plain HTTP.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        handler: type[BaseHTTPRequestHandler],
        tls: ssl.SSLContext | None = None,
        address: tuple[str, int] = ("127.0.0.1", 0),
    ) -> None:
        self._tls, self._ending = tls, False
        self._open: dict[threading.Thread, socket.socket] = {}
        self._lock = threading.Lock()
        super().__init__(address, handler)
        self.port = self.server_port
        self._serving = threading.Thread(target=self.serve_forever, args=(0.02,), name="server of a test", daemon=True)
        self._serving.start()

    def close(self) -> None:
        """Raises AssertionError when an answer does not end."""
        self.shutdown()
        self._serving.join()
        self.server_close()
        with self._lock:
            self._ending = True
            left = dict(self._open)
        for connection in left.values():
            _end(connection)
        until = time.monotonic() + PATIENCE_S
        for thread in left:
            thread.join(max(0.0, until - time.monotonic()))
            assert not thread.is_alive(), "an answer of the server does not end"

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        with self._lock:
            self._open[thread] = request
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._open.pop(threading.current_thread(), None)

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self._tls is None:
            super().finish_request(request, client_address)
            return
        # The handshake belongs into the connection's own thread: a client that refuses it must not stop the server.
        with self._tls.wrap_socket(request, server_side=True, do_handshake_on_connect=False) as secured:
            with self._lock:
                self._open[threading.current_thread()] = secured
                ending = self._ending
            if not ending:
                secured.do_handshake()
                super().finish_request(secured, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away or refuses the certificate is part of a test; any other error is the handler's."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):  # it has ended
        connection.shutdown(socket.SHUT_RDWR)
