"""The list: pages, continue tokens, and what goes wrong on the way."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from kube.backoff import backoff_s
from kube.client import Client
from kube.decode import token_at_the_head
from kube.messages import ListEnd, Relist, Trouble, Watching
from tests.kube.reading import Reading
from tests.kube.scripted import Answer, ScriptedServer, refusal, stream
from tests.kube.words import PODS, page, page_body, pod

Serve = Callable[..., ScriptedServer]
Read = Callable[..., Reading]


def test_a_list_is_read_in_pages_and_then_watched_from_its_version(serve: Serve, read: Read) -> None:
    server = serve(page(pod("a"), pod("b"), more="next"), page(pod("c"), version=10), stream())
    reading = read(server)
    reading.until_type(Watching)
    assert reading.words() == ["relist", "listed a b", "listed c", "end 10", "watching"]
    first, second, watch = server.asked[:3]
    assert (first.path, first.query) == (PODS, {"limit": "2"})
    assert second.query == {"limit": "2", "continue": "next"}
    assert watch.query.pop("timeoutSeconds").isdigit()
    assert watch.query == {"watch": "1", "resourceVersion": "10", "allowWatchBookmarks": "true"}


def test_with_a_version_it_watches_without_a_list(serve: Serve, read: Read) -> None:
    server = serve(stream())
    reading = read(server, version="77")
    reading.until_type(Watching)
    assert (reading.words(), server.asked[0].query["resourceVersion"]) == (["watching"], "77")


def test_a_continue_token_that_is_too_old_begins_a_new_list(serve: Serve, read: Read) -> None:
    server = serve(page(pod("a"), more="next"), refusal(410, "Expired"), page(pod("b"), version=20))
    reading = read(server)
    reading.until_type(ListEnd)
    assert reading.words() == ["relist", "listed a", "relist", "listed b", "end 20"]
    again = [message for message in reading.messages if isinstance(message, Relist)][1]
    assert "410" in again.reason
    assert server.asked[2].query == {"limit": "2"}


def test_versions_that_are_always_too_old_do_not_become_a_tight_loop(serve: Serve, read: Read) -> None:
    server = serve(*[page(version=1), refusal(410, "Expired")] * 3)
    reading = read(server)
    reading.until_type(Trouble, 2)
    assert reading.words() == [
        *("relist", "listed ", "end 1"),
        *("relist", "listed ", "end 1", "trouble"),
        *("relist", "listed ", "end 1", "trouble"),
    ]


@pytest.mark.parametrize(
    ("answer", "said", "refused"),
    [
        (refusal(401, "Unauthorized"), "401 Unauthorized", True),
        (refusal(403, "Forbidden", "cannot list pods"), "403 Forbidden: cannot list pods", True),
        (refusal(429, "TooManyRequests"), "429", False),
        (refusal(500, "InternalError"), "500", False),
        (refusal(503, "ServiceUnavailable"), "503", False),
        (Answer(b"<!doctype html><p>Please sign in"), "HTML page", False),
        (Answer(page_body(pod("a"))[:-9]), "is cut off", False),
        (page(kind="NodeList"), "received NodeList instead of PodList", False),
        (Answer(b"{}", missing=9), "was interrupted", False),
        (page(pod("a"), version=""), "no resource version", False),
    ],
)
def test_a_list_that_fails_is_told_and_tried_again(
    serve: Serve, read: Read, answer: Answer, said: str, refused: bool
) -> None:
    server = serve(answer, page(pod("a"), version=30))
    reading = read(server)
    assert reading.until_type(ListEnd).resource_version == "30"
    (trouble,) = reading.troubles()
    assert said in trouble.reason
    assert trouble.refused is refused
    assert reading.words()[-3:] == ["relist", "listed a", "end 30"]


def test_a_page_that_fails_begins_the_whole_list_again(serve: Serve, read: Read) -> None:
    server = serve(
        page(pod("a"), more="next"), refusal(500, "InternalError"), page(pod("a"), more="n2"), page(pod("b"))
    )
    reading = read(server)
    reading.until_type(ListEnd)
    assert reading.words() == ["relist", "listed a", "trouble", "relist", "listed a", "listed b", "end 10"]


def test_a_list_whose_token_repeats_has_no_end_and_says_so(serve: Serve, read: Read) -> None:
    reading = read(serve(*[page(pod("a"), more="same")] * 2))
    assert "continue token repeats" in reading.until_type(Trouble).reason


def test_after_a_401_the_credentials_are_read_anew(serve: Serve, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    renewed: list[bool] = []
    # Before it begins to read: it does so at once, in a thread of its own.
    monkeypatch.setattr(Client, "renew_credentials", lambda self: renewed.append(True))
    read(serve(refusal(401, "Unauthorized"), page())).until_type(ListEnd)
    assert renewed == [True]


def test_a_server_that_is_not_there_is_told(serve: Serve, read: Read) -> None:
    server = serve()
    server.close()
    trouble = read(server).until_type(Trouble)
    assert ": connection refused" in trouble.reason
    assert not trouble.refused


def test_the_failures_before_and_retry_after_decide_how_long_it_waits(serve: Serve, read: Read) -> None:
    asked: list[tuple[int, float | None]] = []

    def remember(failures: int, retry_after_s: float | None) -> float:
        asked.append((failures, retry_after_s))
        return 0.002

    server = serve(refusal(500, "E"), refusal(429, "TooManyRequests", Retry_After="7"), refusal(500, "E"), page())
    reading = read(server, backoff=remember)
    reading.until_type(ListEnd)
    assert asked == [(0, None), (1, 7.0), (2, None)]
    assert [trouble.wait_s for trouble in reading.troubles()] == [0.002] * 3


@pytest.mark.parametrize(
    ("failures", "retry_after_s", "jitter", "wait_s"),
    [
        (0, None, 1.0, 0.5),
        (0, None, 0.5, 0.25),
        (1, None, 1.0, 1.0),
        (5, None, 1.0, 16.0),
        (6, None, 1.0, 30.0),
        (6, None, 0.5, 15.0),
        (10_000, None, 1.0, 30.0),
        (0, 7.0, 1.0, 7.0),
        (6, 7.0, 1.0, 30.0),
        (0, 300.0, 0.5, 300.0),
        (0, 0.0, 1.0, 0.5),
    ],
)
def test_the_wait_doubles_up_to_a_cap_and_never_ends_before_retry_after(
    failures: int, retry_after_s: float | None, jitter: float, wait_s: float
) -> None:
    assert backoff_s(failures, retry_after_s, jitter) == wait_s


def test_the_wait_is_spread() -> None:
    waits = {backoff_s(3, None) for _ in range(50)}
    assert len(waits) > 10
    assert all(2.0 <= wait <= 4.0 for wait in waits)


def test_the_next_page_is_on_its_way_before_this_one_is_taken(serve: Serve, read: Read) -> None:
    server = serve(page(pod("a"), more="next"), page(pod("b"), version=10), stream())
    reading = read(server)
    server.wait_for(2)
    assert server.asked[1].query["continue"] == "next"
    assert reading.messages == []
    reading.until_type(ListEnd)
    assert [asked.query.get("continue") for asked in server.asked[:2]] == [None, "next"]


@pytest.mark.parametrize(
    ("body", "token"),
    [
        (page_body(pod("a"), more="next"), "next"),
        (page_body(pod("a")), ""),
        (b'{"metadata": {"continue": "c"}, "items": []}', "c"),
        (b'{"items": [], "metadata": {"continue": "after the items"}}', ""),
        (b'{"metadata": {"selfLink": "\\"items\\"", "continue": "c"}, "items": []}', "c"),
        (b'{"metadata": {"continue": null}, "items": null}', ""),
        (b"<!doctype html>", ""),
        (b"", ""),
    ],
)
def test_the_token_is_told_by_the_head_of_a_page_or_not_at_all(body: bytes, token: str) -> None:
    assert token_at_the_head(body) == token


def test_a_list_whose_tokens_stand_after_the_items_is_whole(serve: Serve, read: Read) -> None:
    def turned(body: bytes) -> Answer:
        return Answer(json.dumps(dict(reversed(json.loads(body).items()))).encode())

    server = serve(turned(page_body(pod("a"), more="next")), turned(page_body(pod("b"), version=20)), stream())
    reading = read(server)
    reading.until_type(ListEnd)
    assert reading.words() == ["relist", "listed a", "listed b", "end 20"]
