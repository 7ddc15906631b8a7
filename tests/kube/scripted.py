"""A scripted API server on loopback: it gives one prepared answer per request, in order, and keeps what it was asked.

It has no idea of Kubernetes. When the script is used up, a request is held until the server closes.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.http_server import Handler, Server

#: Longest wait of a test for something that must happen.
PATIENCE_S = 10.0


class Cut:
    """A step of a stream: break the connection in the middle."""


class Hang:
    """A step of a stream, or a whole answer: say nothing more until the server closes."""


Step = bytes | threading.Event | type[Cut] | type[Hang]


@dataclass
class Answer:
    """body: sent whole. steps: sent as chunks of a stream, an Event among them is waited for."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    steps: Sequence[Step] | None = None
    #: Say that the body has this many bytes more than are sent.
    missing: int = 0


@dataclass
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    #: Common name of the client's certificate.
    certificate: str = ""


def ok(value: object) -> Answer:
    return Answer(json.dumps(value).encode())


def refusal(code: int, reason: str, message: str = "", **headers: str) -> Answer:
    """A Status object, as the API server sends it. headers: Retry_After="3"."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(json.dumps(body).encode(), code, named)


def stream(*steps: Step) -> Answer:
    return Answer(steps=steps)


class _Handler(Handler):
    protocol_version = "HTTP/1.1"
    #: Head and body are two writes: with Nagle's algorithm the second waits 40 ms for the first to be acknowledged.
    disable_nagle_algorithm = True
    server: _Http

    def do_GET(self) -> None:
        script = self.server.script
        answer = script.take(self._asked())
        if answer is Hang:
            self._hang()
        elif isinstance(answer, Answer):
            self._send(answer)

    do_POST = do_DELETE = do_PATCH = do_GET

    def _asked(self) -> Asked:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        peer: Any = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        names = [value for group in (peer or {}).get("subject", ()) for key, value in group if key == "commonName"]
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        return Asked(self.command, url.path, query, dict(self.headers.items()), body, "".join(names))

    def _hang(self) -> None:
        self.server.script.closing.wait()
        self.close_connection = True

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.steps is None:
            self.send_header("Content-Length", str(len(answer.body) + answer.missing))
            self.end_headers()
            self.wfile.write(answer.body)
            if answer.missing:
                self._cut()
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for step in answer.steps:
            if not self._step(step):
                return
        self.wfile.write(b"0\r\n\r\n")

    def _step(self, step: Step) -> bool:
        if isinstance(step, bytes):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step))
        elif isinstance(step, threading.Event):
            until = time.monotonic() + PATIENCE_S
            while not step.wait(0.02) and not self.server.script.closing.is_set() and time.monotonic() < until:
                pass
        elif step is Hang:
            self._hang()
            return False
        else:
            self._cut()
            return False
        return True

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


class _Http(Server):
    script: ScriptedServer


class ScriptedServer:
    """`will(...)` adds answers, `asked` has the requests. tls: a server context, or None for plain HTTP."""

    def __init__(self, *answers: Answer | type[Hang], tls: ssl.SSLContext | None = None) -> None:
        self._answers = list(answers)
        self.asked: list[Asked] = []
        self.closing = threading.Event()
        self._changed = threading.Condition()
        self._http = _Http(_Handler, tls)
        self._http.script = self
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._http.port}"

    def will(self, *answers: Answer | type[Hang]) -> None:
        with self._changed:
            self._answers.extend(answers)

    def take(self, asked: Asked) -> Answer | type[Hang]:
        with self._changed:
            self.asked.append(asked)
            self._changed.notify_all()
            return self._answers.pop(0) if self._answers else Hang

    def wait_for(self, requests: int) -> None:
        """Until that many requests have come."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.asked) >= requests, PATIENCE_S), self.asked

    def close(self) -> None:
        self.closing.set()
        self._http.close()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
