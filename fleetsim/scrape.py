"""The simulated exporters as a Prometheus in their cluster finds them: an HTTP address on loopback with a list of targets.

GET /targets is a document of Prometheus' HTTP service discovery, GET /NAMESPACE/POD/metrics a page. Labels of the targets are those
that the Prometheus operator's monitors of pods write; `node` is what most installations add.
"""

from __future__ import annotations

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fleetsim.exporters import CONTENT_TYPE, Silent, exported, targets
from fleetsim.fleet import Fleet
from fleetsim.status import ApiError

log = logging.getLogger(__name__)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _HttpServer

    def do_GET(self) -> None:
        if self.path == "/targets":
            self._answer(200, json.dumps(self.server.documents()), "application/json")
            return
        parts = self.path.strip("/").split("/")
        try:
            answer = exported(self.server.fleet, parts[0], parts[1], None, f"/{parts[2]}") if len(parts) == 3 else None
        except (ApiError, Silent):
            # A target that does not listen: the connection ends without an answer.
            self.close_connection = True
            return
        if answer is None:
            self._answer(404, "404 page not found\n", "text/plain")
        else:
            self._answer(answer.code, answer.body, CONTENT_TYPE)

    def _answer(self, code: int, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        log.debug("%s %s", self.address_string(), format % args)


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        super().__init__(("127.0.0.1", 0), _Handler)

    def documents(self) -> list[dict[str, Any]]:
        """One target group an exporter, since each has its own path."""
        return [
            {
                "targets": [f"127.0.0.1:{self.server_address[1]}"],
                "labels": {
                    "__metrics_path__": f"/{one.namespace}/{one.pod}/metrics",
                    "job": f"{one.namespace}/{one.exporter}",
                    "instance": one.address,
                    "namespace": one.namespace,
                    "pod": one.pod,
                    "container": one.container,
                    "endpoint": "metrics",
                    "node": one.node,
                },
            }
            for one in targets(self.fleet)
        ]


class ScrapeServer:
    """A running one. `url` is its root; `close()` ends it."""

    def __init__(self, fleet: Fleet) -> None:
        self._http = _HttpServer(fleet)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.05,), name="demo-exporters", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=5)

    def __enter__(self) -> ScrapeServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
