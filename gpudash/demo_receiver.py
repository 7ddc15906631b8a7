"""A receiver of messages in the demo's own process, so that a channel works without a chat service and nothing leaves the machine."""

from __future__ import annotations

import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Messages of the demo are smaller.
_MOST_BYTES = 64 << 10


class _Handler(BaseHTTPRequestHandler):
    timeout = 5

    def do_POST(self) -> None:
        self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _MOST_BYTES))
        self.send_response(HTTPStatus.NO_CONTENT)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the delivery log has it."""


class DemoReceiver:
    """Answers 204 to every POST, on a port of its own of loopback."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/messages"
        threading.Thread(target=self._server.serve_forever, name="demo-receiver", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
