"""The query API as good and bad servers answer it: the answer, or an error that says what to do, in bounded time and size."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from inventory.collect import prometheus
from inventory.collect.prometheus import BadAddress, Prometheus, PrometheusError
from tests.kube.certificates import Authority
from tests.kube.scripted import Answer, Cut, Hang, ScriptedServer, ok

Serve = Callable[..., ScriptedServer]
EMPTY = {"status": "success", "data": {"resultType": "vector", "result": []}}


def error_of(server: ScriptedServer, **options: object) -> PrometheusError:
    with pytest.raises(PrometheusError) as caught:
        Prometheus(server.url, **options).query("up")  # type: ignore[arg-type]
    return caught.value


def test_a_question_is_posted_with_token_and_headers(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok(EMPTY), ok(EMPTY))
    token = tmp_path / "token"
    token.write_text("first\n")
    client = Prometheus(f"{server.url}/prometheus/", str(token), headers={"X-Scope-OrgID": "team-a"})
    assert b"success" in client.query('up{job="a&b"}', 1000.5)
    token.write_text("second\n")  # rotated
    client.query_range("up", 0, 60, 15)
    first, second = server.asked
    assert (first.method, first.path) == ("POST", "/prometheus/api/v1/query")
    assert parse_qs(first.body.decode()) == {"query": ['up{job="a&b"}'], "time": ["1000.500"], "timeout": ["30s"]}
    assert (first.headers["Authorization"], second.headers["Authorization"]) == ("Bearer first", "Bearer second")
    assert first.headers["X-Scope-OrgID"] == "team-a"
    assert second.path == "/prometheus/api/v1/query_range"
    assert "first" not in repr(client)


def test_an_answer_may_be_compressed(serve: Serve) -> None:
    body = gzip.compress(b'{"status":"success"}')
    server = serve(Answer(body, headers={"Content-Encoding": "gzip"}))
    assert Prometheus(server.url).query("up") == b'{"status":"success"}'


@pytest.mark.sweep
def test_a_bomb_ends_at_the_limit(serve: Serve) -> None:
    bomb = gzip.compress(b"{" + b" " * (200 << 20))
    server = serve(Answer(bomb, headers={"Content-Encoding": "gzip"}))
    error = error_of(server)
    assert (error.kind, "larger than 64 MiB" in error.text) == (prometheus.TOO_LARGE, True)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Answer(b"<!doctype html><html>sign in", 200), prometheus.STRANGE, "web page"),
        (Answer(b"ok", 200), prometheus.STRANGE, "not from Prometheus"),
        (Answer(b"", 200), prometheus.STRANGE, "not from Prometheus"),
        (
            Answer(b"", 302, {"Location": "https://user:hidden@sso.example/login"}),
            prometheus.REFUSED,
            "//…@sso.example",
        ),
        (Answer(b"", 401), prometheus.REFUSED, "use --prometheus-token-file"),
        (Answer(b'{"status":"error","errorType":"x","error":"no"}', 403), prometheus.REFUSED, "no"),
        (
            Answer(b'{"errorType":"execution","error":"too many samples"}', 422),
            prometheus.TOO_LARGE,
            "too many samples",
        ),
        (Answer(b'{"errorType":"bad_data","error":"parse error"}', 400), prometheus.QUESTION, "parse error"),
        (Answer(b"", 503), prometheus.BUSY, "503"),
        (Answer(b"<html>", 502), prometheus.BUSY, "502"),
        (Answer(b"[" * 100_000, 500), prometheus.STRANGE, "500"),
        (Answer(b"page not found", 404), prometheus.STRANGE, "404"),
        (Answer(b"\xff\xfe", 404), prometheus.STRANGE, "404"),
        (Answer(steps=[b"{", Cut]), prometheus.AWAY, "cannot reach"),
    ],
)
def test_a_refusal_says_what_it_is(serve: Serve, answer: Answer, kind: str, words: str) -> None:
    error = error_of(serve(answer))
    assert (error.kind, words in error.text) == (kind, True), error.text


@pytest.mark.parametrize(
    ("text", "seconds"), [("7", 7.0), ("1e9", 3600.0), ("nan", None), ("-1", None), ("soon", None)]
)
def test_it_says_when_to_come_again(serve: Serve, text: str, seconds: float | None) -> None:
    assert error_of(serve(Answer(b"", 429, {"Retry-After": text}))).retry_after_s == seconds


def test_no_token_goes_to_where_a_redirect_leads(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret-token")
    other = serve(ok(EMPTY))
    server = serve(Answer(b"", 307, {"Location": f"{other.url}/api/v1/query"}))
    error = error_of(server, token_file=str(tmp_path / "token"))
    assert not other.asked
    assert "secret-token" not in error.text


def test_one_that_drips_ends_at_the_deadline(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "ANSWER_S", 0.5)
    monkeypatch.setattr(prometheus, "CONNECT_S", 0.5)
    began = time.monotonic()
    error = error_of(serve(Answer(steps=[b"{", Hang])))
    assert error.kind == prometheus.AWAY
    assert time.monotonic() - began < 5


def test_nobody_there() -> None:
    with pytest.raises(PrometheusError) as caught:
        Prometheus("http://127.0.0.1:1").query("up")
    assert (caught.value.kind, "cannot reach" in caught.value.text) == (prometheus.AWAY, True)


def test_only_the_named_authority_is_trusted(serve: Serve, authority: Authority, stranger: Authority) -> None:
    server = serve(ok(EMPTY), tls=authority.server())
    assert Prometheus(server.url, ca_file=str(authority.certificate)).query("up")
    error = error_of(serve(ok(EMPTY), tls=authority.server()), ca_file=str(stranger.certificate))
    assert (error.kind, "TLS" in error.text) == (prometheus.AWAY, True)


@pytest.mark.parametrize("content", [b"", b"two\nlines", b"\xff", "schön".encode(), b"x" * 100_000])
def test_a_file_that_holds_no_token_is_named(serve: Serve, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    server = serve()
    error = error_of(server, token_file=str(tmp_path / "token"))
    assert (error.kind, str(tmp_path / "token") in error.text) == (prometheus.REFUSED, True)
    assert not server.asked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "prometheus:9090",
        "ftp://prometheus",
        "http://",
        "http://:9090",
        "http://host:99999",
        "http://user:secret@host",
        "http://host/?a=b",
        "http://host/#x",
        "http://host/a b",
        "http://host/a\nb",
        "http://[::1",
    ],
)
def test_what_is_no_address_is_refused_without_its_secret(text: str) -> None:
    with pytest.raises(BadAddress) as caught:
        prometheus.address(text + ("" if text else " "))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("http://prometheus.monitoring:9090", "http://prometheus.monitoring:9090"),
        (" https://mimir.example/prometheus/ ", "https://mimir.example/prometheus"),
        ("http://vm:8428/api/v1/", "http://vm:8428"),
        ("http://[::1]:9090", "http://[::1]:9090"),
    ],
)
def test_an_address_is_taken_as_people_give_it(text: str, base: str) -> None:
    assert prometheus.address(text) == base


@pytest.mark.parametrize("text", ["", "X", ":a", "X-Y:", "X Y: a", "Authorization: Bearer a", "X-Y: a\r\nZ: b", "X: ü"])
def test_what_is_no_header_is_refused(text: str) -> None:
    with pytest.raises(BadAddress):
        prometheus.header(text)
