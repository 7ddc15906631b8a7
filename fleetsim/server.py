"""The embedded API server: HTTP/1.1 on loopback, a bearer token, chunked streams. What it answers is in `api.py`."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from fleetsim.api import Api, Reply
from fleetsim.fleet import Fleet
from fleetsim.request import parse
from fleetsim.status import ApiError, bad_request, unauthorized
from fleetsim.watch import WatchLimits

log = logging.getLogger(__name__)

#: Paths that a cluster shows to anybody (role system:public-info-viewer).
PUBLIC = ("/version", "/livez", "/readyz", "/healthz")
MOST_BODY = 3 * 1024 * 1024
#: Seconds that one write may block before the connection is given up.
WRITE_TIMEOUT_S = 30.0
STEP_S = 0.25


class Handler(BaseHTTPRequestHandler):
    """One connection. Answers are Reply objects; errors are Status objects, those of the HTTP layer too."""

    protocol_version = "HTTP/1.1"
    server_version = "gpudash-demo"
    sys_version = ""
    timeout = WRITE_TIMEOUT_S
    disable_nagle_algorithm = True
    server: _HttpServer

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PATCH = do_DELETE = do_PUT = do_GET

    def _serve(self) -> None:
        try:
            reply = self._reply()
        except ApiError as error:
            reply = Reply(error.code, error.body())
        except Exception:
            log.exception("the demo's API server failed at %s %s", self.command, self.path)
            reply = Reply(500, ApiError(500, "InternalError", "Internal error occurred").body())
        self._send(reply)

    def _reply(self) -> Reply:
        body = self._read_body()
        request = parse(self.command, self.path, body, self.headers.get("Content-Type", ""))
        if request.path not in PUBLIC and not self._authorized():
            raise unauthorized()
        return self.server.api.answer(request, self._cut)

    def _authorized(self) -> bool:
        given = self.headers.get("Authorization", "").encode()
        return secrets.compare_digest(given, f"Bearer {self.server.token}".encode())

    def _read_body(self) -> bytes:
        text = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") or not text.isascii() or not text.isdigit():
            self.close_connection = True
            raise bad_request("a body needs a Content-Length")
        if int(text) > MOST_BODY:
            self.close_connection = True
            raise ApiError(413, "RequestEntityTooLarge", f"limit is {MOST_BODY} bytes")
        return self.rfile.read(int(text))

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.code)
        self.send_header("Content-Type", reply.content_type)
        if reply.chunks is not None:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self._send_chunks(reply.chunks)
            return
        if reply.code != 204:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def _send_chunks(self, chunks: Iterator[bytes]) -> None:
        try:
            for chunk in chunks:
                if chunk:
                    self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
        finally:
            close = getattr(chunks, "close", None)
            if close is not None:
                close()

    def _cut(self) -> None:
        """Break the write in progress; called from the writer's thread when this reader is too slow."""
        self.close_connection = True
        _shut(self.connection)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Errors of the HTTP layer (a bad request line) as a Status."""
        self.close_connection = True
        self.request_version = self.protocol_version  # Else the base class takes a bad line for HTTP/0.9.
        self._send(Reply(code, ApiError(code, "BadRequest", message or "bad request").body()))

    def log_message(self, format: str, *args: Any) -> None:
        log.debug("%s %s", self.address_string(), format % args)


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, api: Api, token: str) -> None:
        self.api = api
        self.token = token
        self.connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), Handler)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.discard(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            log.error("the demo's API server lost a connection", exc_info=error)


class Server:
    """A running server. `url` and `token` are what a client needs; `close()` ends streams, threads and the fleet's life."""

    def __init__(self, fleet: Fleet, port: int, limits: WatchLimits, live: bool) -> None:
        self.fleet = fleet
        self.api = Api(fleet, limits)
        self._http = _HttpServer(port, self.api, secrets.token_urlsafe(24))
        self._threads = [threading.Thread(target=self._http.serve_forever, args=(0.05,), name="demo-api", daemon=True)]
        if live:
            self._threads.append(threading.Thread(target=self._live, name="demo-life", daemon=True))
        for thread in self._threads:
            thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def token(self) -> str:
        return self._http.token

    def revoke(self) -> str:
        """Make a new token; the old one gets 401 from now on. Open streams go on, as in a cluster."""
        self._http.token = secrets.token_urlsafe(24)
        return self._http.token

    def compact(self, end_streams: bool = True) -> None:
        """Forget history and continue tokens: the next use of an old one gets 410. See `Store.compact`."""
        self.fleet.store.compact(end_streams)
        self.api.pages.forget()

    def kubeconfig(self, path: str | os.PathLike[str]) -> Path:
        """Write a kubeconfig (JSON, which is YAML too) that only the owner can read. Returns its path."""
        file = Path(path)
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "demo", "cluster": {"server": self.url}}],
            "users": [{"name": "demo", "user": {"token": self.token}}],
            "contexts": [{"name": "demo", "context": {"cluster": "demo", "user": "demo"}}],
            "current-context": "demo",
        }
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=2)
        return file

    def close(self) -> None:
        """Stop everything. Safe to call twice."""
        self.api.stop()
        for connection in self._http.connections.copy():
            _shut(connection)
        self._http.shutdown()
        self._http.server_close()
        for thread in self._threads:
            thread.join(timeout=5)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _live(self) -> None:
        while not self.api.stopping.wait(STEP_S):
            try:
                self.fleet.step()
            except Exception:
                # A demo that stands still says nothing; the log must say why.
                log.exception("the simulated fleet failed at a step")


def serve(
    fleet: Fleet, port: int = 0, *, bookmark_s: float = 10.0, watch_buffer: int = 2000, live: bool = True
) -> Server:
    """Serve the fleet on 127.0.0.1. port 0: a free one. live False: time stands still until `fleet.step(now)` is called.

    bookmark_s: seconds between bookmarks of a watch. watch_buffer: events that a slow reader may lag behind.
    """
    return Server(fleet, port, WatchLimits(bookmark_s, watch_buffer), live)


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # Already gone.
        connection.shutdown(socket.SHUT_RDWR)
