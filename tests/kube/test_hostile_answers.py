"""What an API server sends without measure: it is refused by its size, and its neighbours are read as before."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kube import bodies, bundles, client, pages, reflector
from kube.client import ApiError
from kube.decode import Decoder, NotAList
from kube.errors import NoRoom, TooLarge
from kube.kinds import T
from kube.messages import Changes, Listed, ListEnd, Trouble
from kube.room import Budget, weight
from tests.kube.reading import Reading
from tests.kube.scripted import PATIENCE_S, Answer, Hang, ScriptedServer, stream
from tests.kube.words import PODS, line, page, page_body, pod
from tests.kube.words import client as client_of
from tests.services import wait_until

Serve = Callable[..., ScriptedServer]
Read = Callable[..., Reading]
MIB = 1 << 20


def refused(call: Callable[[], object]) -> ApiError:
    with pytest.raises(ApiError) as caught:
        call()
    return caught.value


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Budget:
    """A budget of this test alone: readers of others may still be at their end."""
    budget = Budget()
    monkeypatch.setattr(client, "answers", budget)
    return budget


@pytest.fixture
def endless() -> Iterator[Callable[[bytes, bytes], str]]:
    """Start a server that sends a head, and then the same bytes until its client goes: endless(head, bytes) → its URL."""
    listeners: list[socket.socket] = []

    def start(head: bytes, again: bytes) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve() -> None:
            try:
                while True:
                    connected, _ = listener.accept()
                    with connected:
                        connected.recv(1 << 16)
                        connected.sendall(head)
                        while True:
                            connected.sendall(again)
            except OSError:
                if listener.fileno() != -1:
                    serve()

        threading.Thread(target=serve, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize("coding", ["gzip", "deflate", "GZIP, gzip", "br"])
def test_a_compressed_answer_is_refused_unread(serve: Serve, tmp_path: Path, coding: str) -> None:
    bomb = Answer(gzip.compress(b" " * MIB), headers={"Content-Encoding": coding})
    server = serve(bomb, bomb)
    made = client_of(tmp_path, server.url)
    assert refused(lambda: made.get("/version")).reason == "Compressed"
    with pytest.raises(ApiError, match="compressed"), made.stream(PODS, {"watch": "1"}, 5):
        pass
    assert [asked.headers["Accept-Encoding"] for asked in server.asked] == ["identity"] * 2


def test_a_refusal_keeps_its_status_and_its_compressed_body_is_left(serve: Serve, tmp_path: Path) -> None:
    server = serve(Answer(gzip.compress(b'{"reason":"x"}'), 503, {"Content-Encoding": "gzip", "Retry-After": "7"}))
    error = refused(lambda: client_of(tmp_path, server.url).get("/version"))
    assert (error.status, error.retry_after_s, error.message) == (503, 7.0, "")


@pytest.mark.parametrize(
    "body", [b"[" * (64 << 10), b'{"reason":' * 6000, json.dumps({"reason": "r" * 60_000}).encode()]
)
def test_a_refusal_of_any_form_is_told_in_short(serve: Serve, tmp_path: Path, body: bytes) -> None:
    error = refused(lambda: client_of(tmp_path, serve(Answer(body, 500)).url).get("/version"))
    assert error.status == 500
    assert len(str(error)) < 300


def test_an_answer_ends_at_its_size(endless: Callable[[bytes, bytes], str], tmp_path: Path, counted: Budget) -> None:
    url = endless(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", b" " * MIB)
    made = client_of(tmp_path, url)
    for ask, most in ((lambda: made.get("/version"), 8), (lambda: made.get(PODS, most=bodies.MAX_PAGE), 64)):
        error = refused(ask)
        assert (error.status, error.reason) == (0, "TooLarge")
        assert f"larger than {most} MiB" in error.message
    assert counted.held == 0


@pytest.mark.parametrize("again", [b"0" * MIB, b"1;" + b"x" * 100], ids=["digits", "extension"])
def test_a_chunk_whose_length_has_no_end_takes_no_memory(
    endless: Callable[[bytes, bytes], str], tmp_path: Path, again: bytes
) -> None:
    url = endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", again)
    made = client_of(tmp_path, url)
    tracemalloc.start()
    try:
        with pytest.raises(ApiError), made.stream("/log", {}, 5, total_s=3) as opened:
            list(opened.chunks())
        refused(lambda: made.get("/version", timeout_s=3))
        assert tracemalloc.get_traced_memory()[1] < 8 * MIB
    finally:
        tracemalloc.stop()


def test_a_page_that_is_too_large_is_asked_for_in_parts(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_PAGE", 2000)
    large = page(*(pod(f"p{number}", note="x" * 500) for number in range(16)))
    server = serve(large, page(pod("a"), more="t"), page(pod("b")))
    found = []
    for answered in (listing := pages.Pages(client_of(tmp_path, server.url), PODS, 16, threading.Event())):
        found.append(json.loads(answered.body)["items"][0]["metadata"]["name"])
        listing.token = json.loads(answered.body)["metadata"].get("continue", "")
    assert found == ["a", "b"]
    assert [asked.query["limit"] for asked in server.asked] == ["16", "2", "2"]


def test_one_object_that_is_too_large_is_an_error(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_PAGE", 200)
    server = serve(*[page(pod("p", note="x" * 500))] * 3)
    with pytest.raises(TooLarge):
        pages.get_page(client_of(tmp_path, server.url), PODS, {}, 10)
    assert [asked.query["limit"] for asked in server.asked] == ["10", "1"]


def test_a_list_that_never_ends_is_given_up(serve: Serve, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector, "MOST_OBJECTS", 5)
    reading = read(serve(*(page(pod(f"a{number}"), pod(f"b{number}"), more=f"t{number}") for number in range(9))))
    trouble = reading.until_type(Trouble)
    assert "more than 5 objects" in trouble.reason


def test_a_line_without_an_end_ends_the_watch(serve: Serve, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "MAX_LINE", 100_000)
    reading = read(serve(page(), stream(*[b" " * 10_000] * 11)))
    assert "received a watch event larger than" in reading.until_type(Trouble).reason


def test_a_line_that_comes_in_many_pieces_is_read_once(serve: Serve, read: Read) -> None:
    whole = line("ADDED", pod("a", 11, note="x" * 300_000)) + line("ADDED", pod("b", 12))
    pieces = [whole[start : start + 1000] for start in range(0, len(whole), 1000)]
    reading = read(serve(page(), stream(*pieces)))
    reading.until_name("b")
    assert reading.events() == ["ADDED a", "ADDED b"]


#: Bodies that take many times their size when they are decoded: each is `amount` times something small.
SHAPES: dict[str, Callable[[int], bytes]] = {
    "objects": lambda amount: page_body(*[{}] * amount),
    "numbers": lambda amount: page_body(*[1] * amount),
    "names": lambda amount: page_body(*[{"metadata": {"name": "a", "uid": "b"}}] * amount),
    "labels": lambda amount: page_body(pod("a", labels={f"{n:x}": f"{n:x}" for n in range(amount)})),
    "containers": lambda amount: page_body(pod("a") | {"spec": {"containers": [{}] * amount}}),
    "arguments": lambda amount: page_body(pod("a") | {"spec": {"containers": [{"args": ["ab"] * amount}]}}),
    "lists": lambda amount: page_body(pod("a") | {"spec": {"containers": [{"args": []}] * amount}}),
    "limits": lambda amount: page_body(
        pod("a") | {"spec": {"containers": [{"resources": {"limits": {"a": "1"}}}] * amount}}
    ),
    "slices": lambda amount: page_body(*[{"metadata": {"name": "a", "uid": "b"}}] * amount, kind="ResourceSliceList"),
    "devices": lambda amount: page_body(
        pod("a") | {"spec": {"devices": [{"name": "a", "attributes": {"a": {}}, "capacity": {"x": {}}}] * amount}},
        kind="ResourceSliceList",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_weight_of_a_body_is_what_it_takes_or_more(shape: str) -> None:
    body = json.dumps(json.loads(SHAPES[shape](9_000)), separators=(",", ":")).encode()
    kind: type[Any] = next(one for one in T.__constraints__ if f"{one.__name__}List".encode() in body)
    decoder: Decoder[Any] = Decoder(kind)
    tracemalloc.start()
    try:
        found = decoder.page(body)
        assert found.objects or found.unread
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    limit = weight(body) if found.objects else weight(body) + 250 * len(found.unread)
    assert taken + len(body) <= limit


def test_a_page_with_more_objects_than_anybody_asks_for_is_none() -> None:
    decoder: Decoder[Any] = Decoder(next(one for one in T.__constraints__ if one.__name__ == "Pod"))
    for body in (page_body(*[1] * 20_000), page_body(*[pod("a")] * 20_000), b"\xff" + page_body(*[1] * 200_000)):
        with pytest.raises(NotAList):
            decoder.page(body)


def test_one_account_takes_half_at_most_and_leaves_room_for_the_next() -> None:
    budget, soon = Budget(120), time.monotonic()
    hostile, other, third = budget.room("hostile"), budget.room("other"), budget.room("third")
    hostile.take(60, soon)
    with pytest.raises(TooLarge):
        budget.room("hostile").take(1, soon)
    other.take(30, soon)
    third.take(15, soon)
    assert budget.held == 105
    del hostile
    assert budget.held == 45
    other.give_back()
    third.take(25, soon)
    assert budget.held == 40


def test_what_waits_for_room_goes_on_when_it_is_given_back() -> None:
    budget = Budget(100)
    first, second = budget.room("a"), budget.room("a")
    first.take(50, time.monotonic())
    threading.Timer(0.1, first.give_back).start()
    second.take(50, time.monotonic() + PATIENCE_S)
    assert budget.held == 50


def test_nobody_waits_who_holds_something() -> None:
    """Two that hold a part and want more would wait for each other until their time is up."""
    budget, patient = Budget(100), time.monotonic() + PATIENCE_S
    first, second = budget.room("a"), budget.room("b")
    first.take(20, patient)
    second.take(20, patient)
    with pytest.raises(NoRoom) as refused:
        first.take(30, patient)
    assert refused.value.needed == 50
    assert time.monotonic() < patient - PATIENCE_S / 2
    first.give_back()
    second.take(20, patient)


def test_what_is_reserved_is_there_and_what_is_left_of_it_is_given_back() -> None:
    budget, soon = Budget(100), time.monotonic()
    room, other = budget.room("a"), budget.room("b")
    room.reserve(40, soon)
    with pytest.raises(TooLarge):
        other.take(35, soon)
    room.take(10, soon)
    room.take(15, soon)
    room.give_back_unused()
    assert (room.size, budget.held) == (25, 25)
    part = room.part(5)
    room.give_back()
    assert (part.size, budget.held) == (5, 5)


def test_two_readers_who_hold_a_part_each_get_their_pages(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: Budget
) -> None:
    body = page(pod("a", labels={f"{number:x}": "x" for number in range(20_000)}))
    servers = [serve(*[body] * 4) for _ in range(2)]
    takes = weight(body.body)
    counted.size = 2 * takes + 2  # room for one of them beside what the other has begun
    met, wait = threading.Barrier(2), [True, True]

    def weighed(read: bytes) -> int:
        if wait:
            wait.pop()
            met.wait(PATIENCE_S)
        return weight(read)

    monkeypatch.setattr(pages, "weight", weighed)
    got: list[int] = []

    def read(place: int) -> None:
        folder = tmp_path / str(place)
        folder.mkdir()
        got.append(pages.get_page(client_of(folder, servers[place].url), PODS, {}, 500).limit)

    began, readers = time.monotonic(), [threading.Thread(target=read, args=(place,)) for place in range(2)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(PATIENCE_S)
    assert got == [500, 500], "whole pages, none in parts"
    assert time.monotonic() - began < PATIENCE_S


def test_messages_count_until_they_are_let_go(serve: Serve, read: Read, counted: Budget) -> None:
    reading = read(serve(page(pod("a")), stream(line("ADDED", pod("b", 11)), Hang)))
    reading.until_name("b")
    sizes = [one.room.size for one in reading.messages if isinstance(one, Listed | Changes) and one.room is not None]
    assert len(sizes) == 2
    assert all(sizes)
    assert counted.held == sum(sizes)
    reading.messages.clear()
    wait_until(lambda: counted.held == 0, "the reader of a quiet watch keeps none of them")


def test_a_cluster_without_measure_does_not_stop_its_neighbour(serve: Serve, read: Read, counted: Budget) -> None:
    """The hostile one keeps all that it is given; the other is listed and watched all the same."""
    counted.size = 40 * MIB
    hostile = read(serve(*[page(pod("h", note="x" * (1 * MIB)), more=f"t{number}") for number in range(60)]))
    held = [hostile.until_type(Listed, number) for number in range(1, 6)]
    good = read(serve(page(pod("a")), stream(line("ADDED", pod("b", 11)))))
    good.until_type(ListEnd)
    good.until_name("b")
    assert held
    assert counted.held <= 30 * MIB
