"""One HTTP request: bounded in time and size, to the checked address only, and what is known when no answer comes."""

from __future__ import annotations

import socket
import ssl
import time
from typing import Any

import pytest

from notifications.channels.engine import Call
from notifications.sending import http
from notifications.sending.addresses import Allowed, parse_allowed
from notifications.sending.errors import MayHaveBeenSent, NotPossible, NotSent
from tests.notifications.receiving import Receiver, Response, answers, bomb, drips, hangs
from tests.services import free_port

LOOPBACK = parse_allowed(["127.0.0.0/8", "::1"])


def post(url: str, allowed: Allowed = LOOPBACK, seconds: float = 5, **headers: str) -> Any:
    return http.call(Call(url=url, body=b'{"a": 1}', headers=headers), allowed, seconds)


def test_the_request_arrives_as_it_is_and_the_answer_comes_back() -> None:
    with Receiver(answers(Response(201, b"yes", {"Retry-After": "7"}))) as receiver:
        reply = post(f"{receiver.url}/in/%E8?a=b&c=%20", **{"content-type": "application/json", "x-a": "b"})
    (request,) = receiver.taken
    assert (reply.status, reply.body, reply.headers["retry-after"], reply.whole) == (201, b"yes", "7", True)
    assert (request.path, request.query, request.body) == ("/in/%E8", {"a": "b", "c": " "}, b'{"a": 1}')
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"] == "gpudash"
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["accept-encoding"] == "identity"


def test_loopback_is_not_called_unless_it_is_allowed() -> None:
    with Receiver(answers(Response())) as receiver, pytest.raises(NotPossible, match="GPUDASH_NOTIFY_ALLOW"):
        post(f"http://localhost:{receiver.port}/", Allowed())
    assert receiver.taken == []


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    with (
        Receiver(answers(Response())) as other,
        Receiver(answers(Response(307, b"", {"location": other.url}))) as receiver,
    ):
        assert post(receiver.url).status == 307
    assert other.taken == []


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with Receiver(answers(Response(500))) as proxy, Receiver(answers(Response())) as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert post(receiver.url).status == 200
    assert proxy.taken == []


def test_a_name_is_connected_to_at_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second answer of the resolver, which would lead elsewhere, is never taken."""
    real, looked_up = socket.getaddrinfo, []

    def rebinding(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        if host != "hooks.test":
            return real(host, port, *more, **options)
        looked_up.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1" if len(looked_up) <= 2 else "127.0.0.99", port))
        ]

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    with Receiver(answers(Response())) as receiver:
        assert post(f"http://hooks.test:{receiver.port}/").status == 200
    assert receiver.taken[0].headers["host"] == f"hooks.test:{receiver.port}"
    assert len(looked_up) == 2, "once for the time-out, once for the answer that is used"


def test_a_receiver_that_hangs_ends_at_the_deadline() -> None:
    receiver = Receiver(hangs(lambda: receiver.over))
    with receiver:
        begun = time.monotonic()
        with pytest.raises(MayHaveBeenSent, match=r"did not answer in 0 s|did not answer in"):
            post(receiver.url, seconds=0.3)
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize("length", ["", "1000000"])
def test_a_receiver_that_drips_ends_at_the_deadline(length: str) -> None:
    receiver = Receiver(drips(lambda: receiver.over))
    with receiver:
        begun = time.monotonic()
        reply = post(receiver.url, seconds=0.3)
        assert time.monotonic() - begun < 5
    assert (reply.status, reply.whole) == (200, False)


@pytest.mark.usefixtures("trusted")
def test_the_deadline_holds_inside_tls(tls: ssl.SSLContext) -> None:
    receiver = Receiver(drips(lambda: receiver.over), tls)
    with receiver:
        begun = time.monotonic()
        assert post(f"https://localhost:{receiver.port}/", seconds=0.5).whole is False
        assert time.monotonic() - begun < 5


def test_a_large_answer_is_read_to_the_limit() -> None:
    with Receiver(answers(Response(body=b"x" * (10 << 20)))) as receiver:
        reply = post(receiver.url)
    assert reply.body == b"x" * http.MOST_BYTES


def test_a_packed_answer_is_not_unpacked() -> None:
    with Receiver(answers(bomb())) as receiver:
        reply = post(receiver.url)
    assert (reply.status, reply.body) == (200, b"")


def test_a_connection_that_ends_before_the_answer_may_have_brought_the_message() -> None:
    with (
        Receiver(answers(Response(closes=True))) as receiver,
        pytest.raises(MayHaveBeenSent, match="without an answer"),
    ):
        post(receiver.url)
    assert len(receiver.taken) == 1


def test_a_body_that_ends_early_is_not_whole() -> None:
    with Receiver(answers(Response(body=iter([b"half"]), headers={"content-length": "10"}))) as receiver:
        assert post(receiver.url).whole is False


def test_nobody_there_is_for_later() -> None:
    with pytest.raises(NotSent, match="connection refused"):
        post(f"http://127.0.0.1:{free_port()}/")


@pytest.mark.usefixtures("trusted")
def test_tls_is_checked_by_the_name(tls: ssl.SSLContext) -> None:
    with Receiver(answers(Response(202)), tls) as receiver:
        assert post(f"https://localhost:{receiver.port}/").status == 202
        with pytest.raises(NotPossible, match=r"certificate of 127\.0\.0\.1 is not valid"):
            post(f"https://127.0.0.1:{receiver.port}/")
    assert len(receiver.taken) == 1


def test_a_certificate_of_an_unknown_authority_is_refused(tls: ssl.SSLContext) -> None:
    with Receiver(answers(Response()), tls) as receiver, pytest.raises(NotPossible, match="SSL_CERT_FILE"):
        post(f"https://localhost:{receiver.port}/")
    assert receiver.taken == []


def test_a_server_without_tls_is_for_later() -> None:
    with Receiver(answers(Response())) as receiver, pytest.raises(NotSent, match=r"No TLS with 127\.0\.0\.1"):
        post(f"https://127.0.0.1:{receiver.port}/")


def test_a_handshake_that_nobody_answers_ends_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as quiet:
        begun = time.monotonic()
        with pytest.raises(NotSent, match="time-out"):
            post(f"https://127.0.0.1:{quiet.getsockname()[1]}/", seconds=0.3)
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize("headers", [{"x-a": "b\r\nx-evil: 1"}, {"x-a": "✓"}])
def test_a_header_that_is_none_is_refused(headers: dict[str, str]) -> None:
    with Receiver(answers(Response())) as receiver, pytest.raises(NotPossible, match="invalid characters"):
        post(receiver.url, **headers)
    assert receiver.taken == []
