"""The watch: events in order, none lost and none told twice, whatever the stream does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kube import bundles
from kube.messages import Changes, Trouble, Watching
from kube.objects import Pod
from kube.reflector import QUEUE_LENGTH, Reflector
from tests.kube.reading import Reading
from tests.kube.scripted import Answer, Cut, Hang, ScriptedServer, Step, refusal, stream
from tests.kube.words import bookmark, client, error_line, line, page, pod
from tests.services import wait_until

Serve = Callable[..., ScriptedServer]
Read = Callable[..., Reading]


def added(name: str, version: int) -> bytes:
    return line("ADDED", pod(name, version))


def versions(server: ScriptedServer) -> list[str]:
    """From which version each watch was asked for."""
    return [asked.query["resourceVersion"] for asked in server.asked if "watch" in asked.query]


def test_events_come_in_order_and_bundled_by_chunk(serve: Serve, read: Read) -> None:
    three = added("a", 11) + line("MODIFIED", pod("a", 12)) + line("DELETED", pod("a", 13))
    reading = read(serve(stream(three, added("b", 14), Hang)), version="10")
    reading.until_name("b")
    assert reading.words() == ["watching", "3 changes", "1 changes"]
    assert reading.events() == ["ADDED a", "MODIFIED a", "DELETED a", "ADDED b"]


def test_after_a_normal_end_it_watches_from_the_last_version(serve: Serve, read: Read) -> None:
    server = serve(stream(added("a", 11)), stream(added("b", 12), Hang))
    reading = read(server, version="10")
    reading.until_name("b")
    assert reading.words() == ["watching", "1 changes", "watching", "1 changes"]
    assert versions(server) == ["10", "11"]


def test_a_bookmark_moves_the_version(serve: Serve, read: Read) -> None:
    server = serve(stream(added("a", 11), bookmark(50)), stream(added("b", 51), Hang))
    reading = read(server, version="10")
    reading.until_name("b")
    assert versions(server) == ["10", "50"]


def test_a_stream_that_is_cut_in_the_middle_of_a_line_loses_and_repeats_nothing(serve: Serve, read: Read) -> None:
    second = added("b", 12)
    server = serve(stream(added("a", 11), second[:30], Cut), stream(second, Hang))
    reading = read(server, version="10")
    reading.until_name("b")
    assert reading.events() == ["ADDED a", "ADDED b"]
    assert (versions(server), reading.troubles()) == (["10", "11"], [])


def test_a_stream_that_ends_in_the_middle_of_a_line_loses_and_repeats_nothing(serve: Serve, read: Read) -> None:
    second = added("b", 12)
    reading = read(serve(stream(added("a", 11) + second[:-9]), stream(second, Hang)), version="10")
    reading.until_name("b")
    assert reading.events() == ["ADDED a", "ADDED b"]


@pytest.mark.parametrize("size", [1, 7, 1000, 65536])
def test_an_event_of_a_megabyte_in_many_chunks_is_one_event(serve: Serve, read: Read, size: int) -> None:
    length = 2**20 if size > 100 else 3000
    body = line("ADDED", pod("large", 11, annotations={"a": "x" * length})) + bookmark(12)
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    reading = read(serve(stream(*chunks, Hang)), version="10")
    reading.until_name("12")
    assert reading.events() == ["ADDED large", "BOOKMARK 12"]


def test_a_line_without_end_does_not_fill_the_memory(serve: Serve, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "MAX_LINE", 10_000)
    server = serve(stream(*[b"x" * 4096] * 4, Hang), stream(added("a", 11), Hang))
    reading = read(server, version="10")
    reading.until_name("a")
    assert [trouble.reason[:22] for trouble in reading.troubles()] == ["received a watch event"]


def test_silence_leads_to_a_new_watch(serve: Serve, read: Read) -> None:
    server = serve(stream(added("a", 11), Hang), stream(added("b", 12), Hang))
    reading = read(server, version="10", silence_s=0.1)
    reading.until_name("b")
    assert (versions(server), reading.events()) == (["10", "11"], ["ADDED a", "ADDED b"])


def test_silence_from_the_start_is_told_and_backed_off(serve: Serve, read: Read) -> None:
    server = serve(stream(Hang), stream(added("b", 12), Hang))
    reading = read(server, version="10", silence_s=0.1)
    reading.until_name("b")
    assert [trouble.reason for trouble in reading.troubles()] == [
        "the stream was interrupted: timed out without a response"
    ]


@pytest.mark.parametrize(
    "answer",
    [
        refusal(410, "Expired"),
        refusal(410, "Gone"),
        stream(error_line(410, "Expired"), Hang),
        stream(error_line(0, "Gone")),
    ],
    ids=["connect", "connect gone", "in the stream", "in the stream by reason"],
)
def test_a_version_that_is_too_old_leads_to_a_list(serve: Serve, read: Read, answer: Answer) -> None:
    server = serve(answer, page(pod("a"), version=90), stream(added("b", 91), Hang))
    reading = read(server, version="10")
    reading.until_name("b")
    assert [word for word in reading.words() if word != "watching"] == ["relist", "listed a", "end 90", "1 changes"]
    assert versions(server) == ["10", "90"]


def test_events_before_a_410_in_the_same_chunk_are_kept(serve: Serve, read: Read) -> None:
    server = serve(stream(added("a", 11) + error_line(410, "Expired"), Hang), page(version=20))
    reading = read(server, version="10")
    reading.until(lambda message: "end 20" in reading.words())
    assert reading.events() == ["ADDED a"]


def test_events_before_a_line_that_is_no_event_are_kept_and_not_repeated(serve: Serve, read: Read) -> None:
    server = serve(stream(added("a", 11) + b"garbage\n", Hang), stream(added("b", 12), Hang))
    reading = read(server, version="10")
    reading.until_name("b")
    assert (reading.events(), versions(server)) == (["ADDED a", "ADDED b"], ["10", "11"])
    assert ["invalid JSON" in trouble.reason for trouble in reading.troubles()] == [True]


@pytest.mark.parametrize(
    ("answer", "said", "refused"),
    [
        (refusal(401, "Unauthorized"), "401", True),
        (refusal(403, "Forbidden"), "403", True),
        (refusal(429, "TooManyRequests", Retry_After="1"), "429", False),
        (refusal(500, "InternalError"), "500", False),
        (refusal(503, "ServiceUnavailable"), "503", False),
        (stream(error_line(500, "InternalError"), Hang), "500 InternalError", False),
        (stream(b"<html>\n<p>Sign in\n", Hang), "HTML page", False),
        (stream(Cut), "the stream was interrupted", False),
        (stream(), "ends every watch immediately", False),
        (stream(b"\n\n"), "ends every watch immediately", False),
        (stream(bookmark(10)), "ends every watch immediately", False),
    ],
    ids=[
        "401",
        "403",
        "429",
        "500",
        "503",
        "error event",
        "html",
        "cut",
        "ends at once",
        "blank lines",
        "same version",
    ],
)
def test_a_watch_that_fails_is_told_and_tried_again_from_the_same_version(
    serve: Serve, read: Read, answer: Answer, said: str, refused: bool
) -> None:
    server = serve(answer, stream(added("b", 12), Hang))
    reading = read(server, version="10")
    reading.until_name("b")
    (trouble,) = reading.troubles()
    assert said in trouble.reason
    assert trouble.refused is refused
    assert versions(server) == ["10", "10"]


def test_a_server_that_ends_each_watch_at_once_is_asked_less_and_less(serve: Serve, read: Read) -> None:
    asked: list[int] = []

    def remember(failures: int, retry_after_s: float | None) -> float:
        asked.append(failures)
        return 0.001

    reading = read(serve(*[stream()] * 4), version="10", backoff=remember)
    reading.until_type(Trouble, 4)
    assert asked == [0, 1, 2, 3]


def test_an_event_ends_the_count_of_failures(serve: Serve, read: Read) -> None:
    asked: list[int] = []

    def remember(failures: int, retry_after_s: float | None) -> float:
        asked.append(failures)
        return 0.001

    script = [
        refusal(500, "E"),
        refusal(500, "E"),
        stream(added("a", 11)),
        refusal(500, "E"),
        stream(added("b", 12), Hang),
    ]
    read(serve(*script), version="10", backoff=remember).until_name("b")
    assert asked == [0, 1, 0]


def test_a_strange_event_does_not_stop_the_stream_and_is_not_asked_for_again(serve: Serve, read: Read) -> None:
    strange = line("MODIFIED", pod("strange", 12) | {"spec": "text"})
    server = serve(stream(added("a", 11), strange), stream(added("b", 13), Hang))
    reading = read(server, version="10")
    reading.until_name("b")
    unread = [event.unread for message in reading.messages if isinstance(message, Changes) for event in message.events]
    assert [thing.name if thing else "" for thing in unread] == ["", "strange", ""]
    assert (versions(server), reading.troubles()) == (["10", "12"], [])


def test_a_slow_writer_slows_the_reader_and_loses_nothing(serve: Serve, read: Read) -> None:
    gate = threading.Event()
    steps: list[Step] = []
    for number in range(11, 11 + 3 * QUEUE_LENGTH):
        steps += [added(f"p{number}", number), gate]
    server = serve(stream(*steps, Hang))
    reading = read(server, version="10")
    server.wait_for(1)
    gate.set()
    last = f"p{10 + 3 * QUEUE_LENGTH}"
    reading.until(lambda message: isinstance(message, Watching))
    assert reading.reflector._queue.maxsize == QUEUE_LENGTH
    reading.until_name(last)
    assert len(reading.events()) == 3 * QUEUE_LENGTH
    assert reading.events() == sorted(reading.events())


class Reached(threading.Event):
    """A step that is set when the server has come to it."""

    def wait(self, timeout: float | None = None) -> bool:
        self.set()
        return True


def test_what_waited_to_be_read_is_not_called_new(serve: Serve, tmp_path: Path) -> None:
    """A reader that does not keep up says as of when it speaks, so that a backlog does not pass for the present."""
    sent = Reached()
    count = QUEUE_LENGTH + 8
    large = [line("ADDED", pod(f"p{n}", 11 + n, annotations={"a": "x" * 20_000})) for n in range(count)]
    made: Reflector[Pod] = Reflector(client(tmp_path, serve(stream(*large, sent, Hang)).url), "/api/v1/pods", Pod, "10")
    made.start()
    try:
        wait_until(lambda: sent.is_set() and made._queue.full(), "the reader is held up, and all is sent")
        stalled = time.monotonic()
        found: list[Changes[Pod]] = []
        while sum(len(one.events) for one in found) < count:
            message = made.next(5)
            assert message is not None
            found += [message] if isinstance(message, Changes) else []
    finally:
        made.stop()
    assert found[0].as_of <= found[0].received_at <= stalled
    assert found[-1].as_of < stalled < found[-1].received_at
