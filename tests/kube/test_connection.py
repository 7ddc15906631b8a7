"""TLS, proxies and answers that go wrong, seen from the client."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kube.client import ApiError
from tests.kube.certificates import Authority, base64_of
from tests.kube.proxy import ConnectProxy
from tests.kube.scripted import Answer, Hang, ScriptedServer, ok, refusal, stream
from tests.kube.words import client

Serve = Callable[..., ScriptedServer]


def failure(tmp_path: Path, url: str, **cluster: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        client(tmp_path, url, **cluster).get("/version")
    return caught.value


def test_the_authority_may_be_given_as_data(serve: Serve, tmp_path: Path, authority: Authority) -> None:
    server = serve(ok({"major": "1"}), tls=authority.server())
    made = client(tmp_path, server.url, certificate_authority_data=base64_of(authority.certificate))
    assert made.get("/version") == b'{"major": "1"}'


def test_a_server_of_another_authority_is_not_trusted_and_the_error_says_why(
    serve: Serve, tmp_path: Path, authority: Authority, stranger: Authority
) -> None:
    server = serve(ok({}), tls=authority.server())
    error = failure(tmp_path, server.url, certificate_authority=str(stranger.certificate))
    assert (error.status, server.asked) == (0, [])
    assert f"cannot reach {server.url}: TLS: certificate verify failed" in error.message


def test_a_server_of_another_name_is_not_trusted(serve: Serve, tmp_path: Path, authority: Authority) -> None:
    server = serve(ok({}), tls=authority.server("DNS:kube.example"))
    error = failure(tmp_path, server.url, certificate_authority=str(authority.certificate))
    assert "TLS: certificate verify failed" in error.message


def test_the_name_in_the_certificate_may_be_given(serve: Serve, tmp_path: Path, authority: Authority) -> None:
    server = serve(ok({}), tls=authority.server("DNS:kube.example"))
    ca = str(authority.certificate)
    client(tmp_path, server.url, certificate_authority=ca, tls_server_name="kube.example").get("/version")
    assert len(server.asked) == 1


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")
def test_the_check_of_the_certificate_may_be_left_out(serve: Serve, tmp_path: Path, stranger: Authority) -> None:
    server = serve(ok({}), tls=stranger.server())
    client(tmp_path, server.url, insecure_skip_tls_verify=True).get("/version")
    assert len(server.asked) == 1


def test_without_a_client_certificate_a_server_that_wants_one_refuses(
    serve: Serve, tmp_path: Path, authority: Authority
) -> None:
    server = serve(ok({}), tls=authority.server(ask_client=True))
    error = failure(tmp_path, server.url, certificate_authority=str(authority.certificate))
    assert (error.status, server.asked) == (0, [])


def test_plain_http_where_tls_is_wanted_says_tls(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}))
    assert "TLS" in failure(tmp_path, server.url.replace("http:", "https:")).message


def test_a_server_that_is_not_there_is_not_reached(tmp_path: Path) -> None:
    error = failure(tmp_path, "http://127.0.0.1:1")
    assert (error.status, error.reason) == (0, "Unreachable")
    assert "cannot reach http://127.0.0.1:1" in str(error)


def test_a_proxy_of_the_kubeconfig_is_used(serve: Serve, tmp_path: Path, authority: Authority) -> None:
    server = serve(ok({}), tls=authority.server())
    with ConnectProxy() as proxy:
        made = client(tmp_path, server.url, certificate_authority=str(authority.certificate), proxy_url=proxy.url)
        made.get("/version")
        made.close()
    assert proxy.asked == [server.url.removeprefix("https://")]


def test_a_proxy_of_the_environment_is_used_but_not_for_hosts_that_are_excepted(
    serve: Serve, tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, ca = serve(ok({}), ok({}), tls=authority.server()), str(authority.certificate)
    with ConnectProxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        through = client(tmp_path, server.url, certificate_authority=ca)
        through.get("/version")
        through.close()
        monkeypatch.setenv("NO_PROXY", "example.org,127.0.0.1")
        client(tmp_path, server.url, certificate_authority=ca).get("/version")
    assert (len(server.asked), len(proxy.asked)) == (2, 1)


def test_a_proxy_that_refuses_is_named_without_its_password(tmp_path: Path) -> None:
    with ConnectProxy(refuses=True) as proxy:
        url = proxy.url.replace("http://", "http://me:s3cr3t@")
        error = failure(tmp_path, "https://127.0.0.1:1", proxy_url=url)
    assert "proxy" in error.message
    assert "s3cr3t" not in repr(error)


@pytest.mark.parametrize(
    ("answer", "status", "reason", "retry_after_s"),
    [
        (refusal(401, "Unauthorized", "no"), 401, "Unauthorized", None),
        (refusal(403, "Forbidden", "pods is forbidden"), 403, "Forbidden", None),
        (refusal(429, "TooManyRequests", Retry_After="3"), 429, "TooManyRequests", 3.0),
        (refusal(429, "TooManyRequests", Retry_After="9e99"), 429, "TooManyRequests", 300.0),
        (refusal(429, "TooManyRequests", Retry_After="-4"), 429, "TooManyRequests", 0.0),
        (refusal(429, "TooManyRequests", Retry_After="nan"), 429, "TooManyRequests", None),
        (
            refusal(503, "ServiceUnavailable", Retry_After="Fri, 31 Dec 2027 23:59:59 GMT"),
            503,
            "ServiceUnavailable",
            None,
        ),
        (Answer(b"<html>Bad Gateway</html>", 502), 502, "Bad Gateway", None),
        (Answer(b"", 500), 500, "Internal Server Error", None),
        (Answer(b"[1]", 500), 500, "Internal Server Error", None),
        (Answer(b"\xff\xfe", 500), 500, "Internal Server Error", None),
        (Answer(b"", 302, {"Location": "http://127.0.0.1:1/elsewhere"}), 302, "Found", None),
    ],
)
def test_a_refusal_carries_what_the_server_said(
    serve: Serve, tmp_path: Path, answer: Answer, status: int, reason: str, retry_after_s: float | None
) -> None:
    error = failure(tmp_path, serve(answer).url)
    assert (error.status, error.reason, error.retry_after_s) == (status, reason, retry_after_s)


def test_a_redirect_does_not_carry_the_token_elsewhere(serve: Serve, tmp_path: Path) -> None:
    elsewhere = serve(ok({}))
    server = serve(Answer(b"", 307, {"Location": f"{elsewhere.url}/version"}))
    with pytest.raises(ApiError):
        client(tmp_path, server.url, {"token": "t"}).get("/version")
    assert elsewhere.asked == []


def test_a_long_message_of_the_server_is_cut(serve: Serve, tmp_path: Path) -> None:
    assert len(failure(tmp_path, serve(refusal(500, "R", "m" * 50_000)).url).message) == 2000


def test_an_answer_that_breaks_off_is_an_error_and_not_a_short_answer(serve: Serve, tmp_path: Path) -> None:
    error = failure(tmp_path, serve(Answer(b'{"items":[]}', missing=100)).url)
    assert (error.status, error.reason) == (0, "Broken")


def test_a_server_that_says_nothing_ends_in_a_time_out(serve: Serve, tmp_path: Path) -> None:
    with pytest.raises(ApiError) as caught:
        client(tmp_path, serve(Hang).url).get("/version", timeout_s=0.1)
    assert "incomplete after 0.1 s" in caught.value.message or "timed out without" in caught.value.message


def test_a_request_carries_its_query_and_its_body(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}), ok({}))
    made = client(tmp_path, server.url)
    made.get("/api/v1/pods", {"limit": 5, "continue": "a/b=&c"})
    made.send("POST", "/apis/batch/v1/jobs", b"{}", {"dryRun": "All"})
    first, second = server.asked
    assert (first.method, first.path, first.query) == ("GET", "/api/v1/pods", {"limit": "5", "continue": "a/b=&c"})
    assert (second.method, second.body, second.headers["Content-Type"]) == ("POST", b"{}", "application/json")


def test_a_stream_gives_the_bytes_as_they_come(serve: Serve, tmp_path: Path) -> None:
    server = serve(stream(b"one", b"two"))
    with client(tmp_path, server.url).stream("/watch", {}, 5.0) as lines:
        assert list(lines.chunks()) == [b"one", b"two"]


def test_a_silent_stream_ends_in_an_error(serve: Serve, tmp_path: Path) -> None:
    server = serve(stream(b"one", Hang))
    seen: list[bytes] = []
    with client(tmp_path, server.url).stream("/watch", {}, 0.1) as lines, pytest.raises(ApiError) as caught:
        seen.extend(lines.chunks())
    assert (caught.value.reason, "timed out without" in caught.value.message) == ("Stream", True)


def test_a_client_that_is_closed_can_be_used_again(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}), ok({}))
    made = client(tmp_path, server.url)
    made.get("/version")
    made.close()
    made.get("/version")
    assert len(server.asked) == 2
