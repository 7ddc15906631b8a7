"""A server of a test ends with it, whatever its clients keep open."""

from __future__ import annotations

import http.client
import socket
import threading

import pytest

from tests import http_server
from tests.http_server import Handler, Server


class _Kept(Handler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()


def test_connections_that_clients_keep_open_end_with_the_server() -> None:
    before = set(threading.enumerate())
    with Server(_Kept) as server:
        kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        kept.request("GET", "/")
        assert kept.getresponse().status == 204
        half = socket.create_connection(("127.0.0.1", server.port))
        half.sendall(b"GET / HTTP/1.1\r\n")
    assert set(threading.enumerate()) <= before
    kept.close()
    half.close()


def test_an_answer_that_does_not_end_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "PATIENCE_S", 0.1)
    asked, let_go = threading.Event(), threading.Event()

    class Stuck(Handler):
        def do_GET(self) -> None:
            asked.set()
            let_go.wait()

    server = Server(Stuck)
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert asked.wait(10)
        with pytest.raises(AssertionError, match="does not end"):
            server.close()
    let_go.set()
