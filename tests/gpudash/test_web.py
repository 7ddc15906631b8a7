"""The web server: probes are answered whatever the pages do, and no connection keeps others out."""

from __future__ import annotations

import http.client
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from waitress import wasyncore

from gpudash.web import Web, bound_server
from tests.services import free_port

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
        if environ["PATH_INFO"] == "/endless":
            start_response("200 OK", [])
            return (b"x" * 65536 for _ in range(1 << 20))
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
        # The loop may be awake already, and have closed everything before the trigger is pulled.
        with suppress(OSError):
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
    probes = free_port()
    port = started(threads=1, probes=f"127.0.0.1:{probes}")
    waiting = threading.Thread(target=ask, args=(port, "/slow"), daemon=True)
    waiting.start()
    assert busy.arrived.wait(30)
    status, headers, body = ask(probes, Host="any.host.at.all")
    assert (status, body) == (200, b"ok\n")
    assert "no-store" in headers["Cache-Control"]
    assert ask(probes, method="HEAD")[::2] == (200, b"")
    assert ask(probes, "/healthz?from=probe")[0] == 200
    assert busy.seen == [("GET", "/slow")]
    busy.go.set()
    waiting.join(30)


def test_the_listener_for_probes_has_no_pages(busy: Busy, started: Start) -> None:
    probes = free_port()
    started(probes=f"127.0.0.1:{probes}")
    for method, path in (
        ("POST", "/healthz"),
        ("GET", "/healthzz"),
        ("GET", "/"),
        ("GET", "/metrics"),
        ("GET", "/x/readyz"),
    ):
        assert ask(probes, path, method)[0] == 404
    assert busy.seen == []
    assert ask(probes, "/readyz")[2] == b"page\n"
    assert busy.seen == [("GET", "/readyz")]


def test_below_a_base_path_probes_are_found_with_and_without_it(busy: Busy, started: Start, settings: Any) -> None:
    settings.BASE_PATH = "/gpudash/"
    probes = free_port()
    started(probes=f"127.0.0.1:{probes}")
    assert [ask(probes, path)[0] for path in ("/healthz", "/gpudash/healthz", "/other/healthz")] == [200, 200, 404]


@contextmanager
def half_sent(port: int, count: int, data: bytes) -> Iterator[list[socket.socket]]:
    """Connections that have sent this and say no more."""
    with ExitStack() as stack:
        made = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 30)) for _ in range(count)]
        for one in made:
            one.sendall(data)
        yield made


def ended(connection: socket.socket) -> bool:
    """Whether the server ends it, without an answer."""
    connection.settimeout(30)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_half_sent_requests_hold_up_neither_pages_nor_probes(busy: Busy, started: Start) -> None:
    probes = free_port()
    port = started(probes=f"127.0.0.1:{probes}")
    with half_sent(port, 260, b"GET / HTTP/1.1\r\nHost: x\r\n"):
        assert ask(probes)[0] == 200
        assert ask(port, "/page")[2] == b"page\n"


def test_where_all_connections_are_taken_probes_have_their_own(
    busy: Busy, started: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpudash.web.CONNECTIONS", 20)
    probes = free_port()
    port = started(probes=f"127.0.0.1:{probes}")
    with half_sent(port, 40, b"GET / HTTP/1.1\r\n"):
        assert ask(probes)[0] == 200


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n12",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12",
    ],
)
def test_a_request_that_does_not_arrive_is_not_waited_for(
    busy: Busy, started: Start, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.setattr("gpudash.web.HEAD_S", 0.2)
    monkeypatch.setattr("gpudash.web.BODY_S", 0.3)
    port = started()
    with half_sent(port, 1, data) as [connection]:
        assert ended(connection)
    assert busy.seen == []


def test_who_sends_a_byte_now_and_then_wins_no_time(
    busy: Busy, started: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpudash.web.HEAD_S", 0.5)
    port = started()
    with half_sent(port, 1, b"GET / HTTP/1.1\r\n") as [connection]:
        connection.settimeout(0.05)
        began = time.monotonic()
        over = False
        while not over and time.monotonic() - began < 30:
            try:
                connection.sendall(b"A")
                over = connection.recv(1) == b""
            except TimeoutError:
                pass
            except OSError:
                over = True
        assert over


def test_a_connection_that_has_had_its_answer_is_kept_while_there_is_room(
    busy: Busy, started: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpudash.web.HEAD_S", 0.1)
    monkeypatch.setattr("gpudash.web.IDLE_FULL_S", 0.1)
    monkeypatch.setattr("gpudash.web.CONNECTIONS", 8)
    port = started()
    kept = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    kept.request("GET", "/a")
    assert kept.getresponse().read() == b"page\n"
    with half_sent(port, 1, b"") as [connection]:
        assert ended(connection)
    kept.request("GET", "/b")
    assert kept.getresponse().read() == b"page\n", "it is older than the one that was ended, and was kept"
    # Many that have had an answer take all room: they go when others come.
    with half_sent(port, 8, b"GET /c HTTP/1.1\r\nHost: x\r\n\r\n"):
        assert ask(port, "/d")[2] == b"page\n"
    kept.close()


def test_an_answer_that_nobody_takes_is_given_up(busy: Busy, started: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else who asks for much and reads none of it keeps a thread for ever."""
    monkeypatch.setattr("gpudash.web.STALLED_S", 1.0)
    port = started(threads=1)
    with half_sent(port, 1, b"GET /endless HTTP/1.0\r\n\r\n"):
        assert ask(port, "/page")[2] == b"page\n"


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
