"""A server on loopback that answers as a function of each request; also slowly, endlessly, or not at all."""

from __future__ import annotations

import gzip
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from tests.http_server import Handler, Server


class Request(NamedTuple):
    """headers: by lower-case name. query: the first value of each name."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Response(NamedTuple):
    """body: bytes, or pieces that come one by one until they end. closes: the connection ends without an answer."""

    status: int = 200
    body: bytes | Iterator[bytes] = b""
    headers: dict[str, str] = {}
    closes: bool = False


Vendor = Callable[[Request], Response]
Clock = Callable[[], float]


class Receiver:
    """A server of one vendor. taken: the requests, in order. over: set when it ends; what hangs waits for it."""

    def __init__(self, vendor: Vendor, tls: ssl.SSLContext | None = None) -> None:
        self.taken: list[Request] = []
        self.over = threading.Event()
        receiver = self

        class _Handler(Handler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request("POST", parts.path, query, headers, body)
                receiver.taken.append(request)
                self._answer(vendor(request))

            def _answer(self, response: Response) -> None:
                self.close_connection = True
                if response.closes:
                    return
                self.send_response(response.status)
                for name, value in response.headers.items():
                    self.send_header(name, value)
                if isinstance(response.body, bytes):
                    self.send_header("content-length", str(len(response.body)))
                self.end_headers()
                for piece in [response.body] if isinstance(response.body, bytes) else response.body:
                    self.wfile.write(piece)

        self._server = Server(_Handler, tls)
        self.port = self._server.port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Receiver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.close()


def answers(*responses: Response) -> Vendor:
    """These in turn, then the last one again and again."""
    left = list(responses)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


def drips(over: Callable[[], threading.Event], piece: bytes = b" ") -> Vendor:
    """A byte now and then, and no end."""

    def pieces() -> Iterator[bytes]:
        while not over().wait(0.02):
            yield piece

    return lambda request: Response(body=pieces())


def hangs(over: Callable[[], threading.Event]) -> Vendor:
    """Takes the request and is silent."""

    def vendor(request: Request) -> Response:
        over().wait(30)
        return Response(closes=True)

    return vendor


def bomb() -> Response:
    """A gigabyte of blanks, packed."""
    packed = gzip.compress(b" " * (64 << 20))
    return Response(body=packed, headers={"content-encoding": "gzip"})
