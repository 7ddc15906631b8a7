"""The web server: a probe is answered while every thread is busy, and nothing but a plain probe takes that way."""

from __future__ import annotations

import http.client
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from waitress import wasyncore

from gpudash.web import Web, bound_server

Start = Callable[..., int]


class Busy:
    """An application whose pages wait until the test lets them go. seen: what reached it, as (method, path)."""

    def __init__(self) -> None:
        self.go, self.arrived = threading.Event(), threading.Event()
        self.seen: list[tuple[str, str]] = []
        self.environs: list[dict[str, Any]] = []

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        self.seen.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        self.environs.append(environ)
        self.arrived.set()
        if environ["PATH_INFO"] == "/slow":
            self.go.wait(60)
        start_response("200 OK", [("Content-Length", "5")])
        return [b"page\n"]


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Busy]:
    made = Busy()
    monkeypatch.setattr("gpudash.wsgi.application", made)
    yield made
    made.go.set()


@pytest.fixture
def started(busy: Busy) -> Iterator[Callable[..., int]]:
    """Starts a server in front of the application; gives its port. All are closed afterwards, their sockets too."""
    running: list[tuple[Any, threading.Thread]] = []
    interval = sys.getswitchinterval()

    def start(**options: Any) -> int:
        server = bound_server("127.0.0.1:0", Web(**options))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        return int(server.effective_port)

    yield start
    busy.go.set()
    for server, thread in running:
        server.trigger.pull_trigger(lambda map=server._map: wasyncore.close_all(map, ignore_all=True))
        thread.join(30)
        server.task_dispatcher.shutdown()
    sys.setswitchinterval(interval)


def ask(port: int, path: str = "/healthz", method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def test_a_probe_is_answered_while_every_thread_is_busy(busy: Busy, started: Start) -> None:
    port = started(threads=1)
    waiting = threading.Thread(target=ask, args=(port, "/slow"), daemon=True)
    waiting.start()
    assert busy.arrived.wait(30)
    status, headers, body = ask(port, Host="any.host.at.all")
    assert (status, body) == (200, b"ok\n")
    assert "no-store" in headers["Cache-Control"]
    assert ask(port, method="HEAD")[::2] == (200, b"")
    assert ask(port, "/healthz?from=probe")[0] == 200
    assert busy.seen == [("GET", "/slow")]
    busy.go.set()
    waiting.join(30)


def test_what_is_not_a_plain_probe_goes_to_the_application(busy: Busy, started: Start) -> None:
    port = started()
    for method, path in (("POST", "/healthz"), ("GET", "/healthzz"), ("GET", "/healthz/"), ("GET", "/")):
        assert ask(port, path, method)[2] == b"page\n"
    assert busy.seen == [("POST", "/healthz"), ("GET", "/healthzz"), ("GET", "/healthz/"), ("GET", "/")]


@pytest.mark.parametrize(
    "raw",
    [
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /page HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ],
)
def test_requests_in_a_row_are_all_answered_in_order(busy: Busy, started: Start, raw: bytes) -> None:
    port = started()
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(raw)
        got = b""
        while part := connection.recv(4096):
            got += part
    assert got.count(b"HTTP/1.1 200 OK") == 2
    assert len(busy.seen) == 2


def test_a_probe_in_two_pieces_is_answered_too(busy: Busy, started: Start) -> None:
    port = started()
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHo")
        connection.sendall(b"st: x\r\nConnection: close\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 OK")


def test_a_request_that_makes_no_sense_is_refused_as_ever(busy: Busy, started: Start) -> None:
    port = started()
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nContent-Length: x\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 400")


def test_only_the_trusted_proxy_says_who_the_client_is(busy: Busy, started: Start) -> None:
    told = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}
    ask(started(), "/a", **told)
    ask(started(trusted_proxy="127.0.0.1"), "/b", **told)
    ask(started(trusted_proxy="192.0.2.1"), "/c", **told)
    seen = [(one["REMOTE_ADDR"], one["wsgi.url_scheme"]) for one in busy.environs]
    assert seen == [("127.0.0.1", "http"), ("192.0.2.7", "https"), ("127.0.0.1", "http")]
    assert ["HTTP_X_FORWARDED_PROTO" in one for one in busy.environs] == [False, True, False]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("--threads", "0"), "--threads"),
        (("--trusted-proxy", "*", "--trusted-proxy-headers", "x-nonsense"), "x-nonsense"),
        (("--listen", "127.0.0.1:none"), "none"),
    ],
)
def test_an_option_that_cannot_work_is_named(arguments: tuple[str, ...], wrong: str) -> None:
    with pytest.raises(CommandError, match=wrong):
        call_command("serve", *arguments)
