"""Every call has an end, also where a byte comes now and then, and a line that loses packets holds nobody for long."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from urllib3.exceptions import NameResolutionError

from kube import deadline
from kube.client import ApiError, Client
from kube.messages import Changes, Trouble
from tests.kube.certificates import Authority
from tests.kube.reading import Reading
from tests.kube.scripted import Answer, Hang, ScriptedServer, ok, stream
from tests.kube.words import client, line, page, pod
from tests.lossy import Lossy, Mode

Serve = Callable[..., ScriptedServer]
#: More than any deadline here, less than what a time-out of silence would let pass.
SOON_S = 8.0


@pytest.fixture
def lossy() -> Iterator[Callable[[ScriptedServer], Lossy]]:
    lines: list[Lossy] = []

    def to(server: ScriptedServer) -> Lossy:
        lines.append(Lossy(int(urlsplit(server.url).port or 0)))
        return lines[-1]

    yield to
    for one in lines:
        one.close()


def through(folder: Path, server: ScriptedServer, lossy: Lossy, **cluster: Any) -> Client:
    return client(folder, f"{urlsplit(server.url).scheme}://127.0.0.1:{lossy.port}", **cluster)


def error_of(call: Callable[[], object]) -> tuple[ApiError, float]:
    """The error, and after how many seconds it came."""
    began = time.monotonic()
    with pytest.raises(ApiError) as caught:
        call()
    return caught.value, time.monotonic() - began


@pytest.mark.parametrize("tls", [False, True])
def test_an_answer_that_drips_ends_at_its_deadline(
    serve: Serve, tmp_path: Path, lossy: Callable[[ScriptedServer], Lossy], authority: Authority, tls: bool
) -> None:
    server = serve(ok({}), ok({"items": "x" * 5000}), tls=authority.server() if tls else None)
    line_, ca = lossy(server), {"certificate_authority": str(authority.certificate)} if tls else {}
    made = through(tmp_path, server, line_, **ca)
    made.get("/version")  # the connection is there: it is the answer that drips
    line_.mode, line_.drip_s = Mode.DRIP, 0.02
    error, took = error_of(lambda: made.get("/version", timeout_s=0.6))
    assert (error.status, "incomplete after 0.6 s" in error.message) == (0, True)
    assert 0.5 < took < SOON_S


def test_what_is_sent_has_an_end_too(serve: Serve, tmp_path: Path, lossy: Callable[[ScriptedServer], Lossy]) -> None:
    server = serve(ok({"items": "x" * 5000}))
    line_ = lossy(server)
    line_.mode, line_.drip_s = Mode.DRIP, 0.02
    error, took = error_of(lambda: through(tmp_path, server, line_).send("POST", "/jobs", b"{}", timeout_s=0.6))
    assert "incomplete after 0.6 s" in error.message
    assert took < SOON_S


def test_an_answer_without_a_length_that_is_cut_at_the_deadline_is_no_answer(serve: Serve, tmp_path: Path) -> None:
    server = serve(stream(b'{"items":[]}', Hang))
    error, _ = error_of(lambda: client(tmp_path, server.url).get("/api/v1/pods", timeout_s=0.3))
    assert error.reason == "Broken"


@pytest.mark.sweep
def test_a_stream_that_drips_ends_at_its_deadline(
    serve: Serve, tmp_path: Path, lossy: Callable[[ScriptedServer], Lossy]
) -> None:
    server = serve(stream(b"x" * 5000, Hang))
    line_ = lossy(server)
    line_.mode, line_.drip_s = Mode.DRIP, 0.001

    def read() -> None:
        with through(tmp_path, server, line_).stream("/log", {}, 60.0, total_s=1.5) as log:
            list(log.chunks())

    error, took = error_of(read)
    assert error.reason == "Stream"
    assert error.message == "the stream was closed after 2 s"
    assert took < SOON_S


@pytest.mark.sweep
def test_a_black_hole_is_left_after_the_time_to_connect(
    serve: Serve, tmp_path: Path, lossy: Callable[[ScriptedServer], Lossy]
) -> None:
    server = serve(ok({}))
    line_ = lossy(server)
    made = through(tmp_path, server, line_)
    line_.mode = Mode.DROP
    error, took = error_of(lambda: made.get("/version"))
    assert error.reason == "Unreachable"
    assert took < SOON_S
    line_.mode = Mode.FORWARD
    made.get("/version")


@pytest.mark.sweep
def test_a_server_that_is_silent_in_the_handshake_is_left_too(
    serve: Serve, tmp_path: Path, lossy: Callable[[ScriptedServer], Lossy], authority: Authority
) -> None:
    server = serve(ok({}), tls=authority.server())
    line_ = lossy(server)
    line_.mode = Mode.SILENT
    made = through(tmp_path, server, line_, certificate_authority=str(authority.certificate))
    error, took = error_of(lambda: made.get("/version"))
    assert error.reason == "Unreachable"
    assert took < SOON_S


def test_a_connection_whose_request_is_over_is_not_ended_by_its_deadline(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}), stream(b"one", b"two"))
    made = client(tmp_path, server.url)
    made.get("/version", timeout_s=0.2)
    with made.stream("/log", {}, 5.0) as log:
        time_is_up = deadline.Deadline(0.3)
        while not time_is_up.passed:
            pass
        assert b"".join(log.chunks()) == b"onetwo"


def test_each_connection_is_probed(serve: Serve, tmp_path: Path) -> None:
    options = dict.fromkeys([(level, name) for level, name, _ in deadline.socket_options()])
    assert (socket.SOL_SOCKET, socket.SO_KEEPALIVE) in options
    made = client(tmp_path, serve(ok({})).url)
    made.get("/version")
    pool = made._api.rest_client.pool_manager.connection_from_url(made.server)
    connection: Any = pool._get_conn()
    try:
        for level, name, value in deadline.socket_options():
            assert connection.sock.getsockopt(level, name) == value
    finally:
        connection.close()


def test_a_resolver_that_does_not_answer_holds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, answered = threading.Semaphore(0), threading.Event()

    def slow(*arguments: object, **options: object) -> None:
        asked.release()
        answered.wait(10)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    for _ in range(3):
        with pytest.raises(NameResolutionError):
            deadline.look_up(None, "kube.example", 443, seconds=0.05)
    answered.set()
    assert asked.acquire(timeout=5)
    assert not asked.acquire(blocking=False), "one question for all who wait"


@pytest.mark.sweep
def test_a_watch_that_was_cut_without_a_word_goes_on_when_its_silence_is_over(
    serve: Serve, read: Callable[..., Reading], tmp_path: Path, lossy: Callable[[ScriptedServer], Lossy]
) -> None:
    server = serve(
        page(pod("a")), stream(line("ADDED", pod("b", 11)), Hang), stream(line("ADDED", pod("c", 12)), Hang), Answer()
    )
    line_ = lossy(server)
    reading = Reading(through(tmp_path, server, line_), silence_s=1.0)
    try:
        reading.until_name("b")
        line_.forget()
        reading.until_name("c")
    finally:
        server.closing.set()
        reading.reflector.stop()
    assert not any(isinstance(message, Trouble) for message in reading.messages)
    assert sum(isinstance(message, Changes) for message in reading.messages) == 2
