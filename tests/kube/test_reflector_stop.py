"""stop() ends within a second, whatever the reader is doing."""

from __future__ import annotations

from collections.abc import Callable

from kube.messages import Changes, Relist, Trouble, Watching
from kube.reflector import QUEUE_LENGTH
from tests.kube.reading import Reading
from tests.kube.scripted import Hang, ScriptedServer, refusal, stream
from tests.kube.words import line, page, pod

Serve = Callable[..., ScriptedServer]
Read = Callable[..., Reading]
A_SECOND = 1.0


def test_while_it_lists(serve: Serve, read: Read) -> None:
    server = serve(Hang)
    reading = read(server)
    reading.until_type(Relist)
    server.wait_for(1)
    assert reading.seconds_to_stop() < A_SECOND


def test_while_a_watch_is_opened(serve: Serve, read: Read) -> None:
    server = serve(Hang)
    reading = read(server, version="10")
    server.wait_for(1)
    assert reading.seconds_to_stop() < A_SECOND


def test_while_the_watch_is_silent(serve: Serve, read: Read) -> None:
    reading = read(serve(stream(Hang)), version="10")
    reading.until_type(Watching)
    assert reading.seconds_to_stop() < A_SECOND
    assert not reading.reflector._thread.is_alive()


def test_in_the_middle_of_a_line(serve: Serve, read: Read) -> None:
    reading = read(serve(stream(line("ADDED", pod("a", 11)), b'{"type":', Hang)), version="10")
    reading.until_type(Changes)
    assert reading.seconds_to_stop() < A_SECOND
    assert not reading.reflector._thread.is_alive()


def test_while_it_backs_off(serve: Serve, read: Read) -> None:
    reading = read(serve(refusal(503, "ServiceUnavailable")), backoff=lambda failures, retry_after_s: 60.0)
    reading.until_type(Trouble)
    assert reading.seconds_to_stop() < A_SECOND
    assert not reading.reflector._thread.is_alive()


def test_while_nobody_takes_its_messages(serve: Serve, read: Read) -> None:
    server = serve(*[page(pod(f"p{n}"), more=f"m{n}") for n in range(3 * QUEUE_LENGTH)])
    reading = read(server)
    server.wait_for(QUEUE_LENGTH)
    assert reading.seconds_to_stop() < A_SECOND
    assert not reading.reflector._thread.is_alive()
    assert len(server.asked) < 3 * QUEUE_LENGTH


def test_twice(serve: Serve, read: Read) -> None:
    reading = read(serve(stream(Hang)), version="10")
    reading.until_type(Watching)
    assert reading.seconds_to_stop() + reading.seconds_to_stop() < A_SECOND


def test_after_the_stop_nothing_more_is_asked(serve: Serve, read: Read) -> None:
    server = serve(*[stream()] * 50)
    reading = read(server, version="10")
    reading.until_type(Trouble)
    reading.reflector.stop()
    asked = len(server.asked)
    assert reading.reflector.next(0) is None
    assert not reading.reflector._thread.is_alive()
    assert len(server.asked) == asked
