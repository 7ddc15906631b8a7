"""How answers are read: what each receiver really says, and bytes of any kind."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notifications.channels import BY_NAME, KINDS
from notifications.channels.answers import retry_after
from notifications.channels.engine import Outcome

DELIVERED, REFUSED, LATER, GONE = Outcome.DELIVERED, Outcome.REFUSED, Outcome.LATER, Outcome.GONE
TOKEN = "Zm9v8bmFy1ZXhhbXBsZQ"


def _code(**fields: object) -> bytes:
    return json.dumps(fields).encode()


CASES = [
    ("webhook", 200, b"", DELIVERED, "HTTP 200"),
    ("webhook", 204, b"<html>", DELIVERED, "HTTP 204"),
    ("webhook", 302, b"", REFUSED, "redirects are not followed"),
    ("webhook", 400, b"No matching signature found", REFUSED, "HTTP 400: No matching signature found"),
    ("webhook", 404, b"<!doctype html><h1>Not found</h1>", REFUSED, "HTTP 404"),
    ("webhook", 410, b"", GONE, "accepts no more messages"),
    ("webhook", 429, b"", LATER, "HTTP 429"),
    ("webhook", 503, b"maintenance", LATER, "HTTP 503: maintenance"),
    ("webhook", -1, b"", REFUSED, "HTTP -1"),
    ("slack", 200, b"ok", DELIVERED, "HTTP 200"),
    ("slack", 200, b"ok ", REFUSED, "without “ok”"),
    ("slack", 200, b"<html>Sign in</html>", REFUSED, "without “ok”"),
    ("slack", 200, _code(ok=False, error="invalid_blocks"), REFUSED, "invalid_blocks"),
    ("slack", 200, _code(ok=False, error="ratelimited"), LATER, "ratelimited"),
    ("slack", 200, _code(ok=True), REFUSED, "without “ok”"),
    ("slack", 400, b"invalid_payload", REFUSED, "invalid_payload"),
    ("slack", 403, b"invalid_token", GONE, "removed"),
    ("slack", 404, b"no_service", GONE, "removed"),
    ("slack", 410, b"channel_is_archived", GONE, "removed"),
    ("slack", 429, b"", LATER, "HTTP 429"),
    ("teams", 202, b"", DELIVERED, "HTTP 202"),
    ("teams", 200, b"1", DELIVERED, "HTTP 200"),
    ("teams", 413, b"", REFUSED, "HTTP 413"),
    ("teams", 502, b"", LATER, "HTTP 502"),
    ("dingtalk", 200, _code(errcode=0, errmsg="ok"), DELIVERED, "errcode 0"),
    ("dingtalk", 200, _code(errcode=310000, errmsg="sign not match"), REFUSED, "errcode 310000: sign not match"),
    ("dingtalk", 200, _code(errcode=130101, errmsg="send too fast"), LATER, "errcode 130101"),
    ("dingtalk", 200, _code(errcode="0"), REFUSED, "without errcode"),
    ("dingtalk", 200, _code(errcode=False), REFUSED, "without errcode"),
    ("dingtalk", 200, b"ok", REFUSED, "without errcode"),
    ("dingtalk", 500, _code(errcode=0), LATER, "HTTP 500"),
    ("dingtalk", 404, b"", REFUSED, "HTTP 404"),
    ("feishu", 200, _code(code=0, msg="success", StatusCode=0), DELIVERED, "code 0"),
    ("feishu", 200, _code(code=19021, msg="sign match fail"), REFUSED, "clock of this host"),
    ("feishu", 400, _code(code=9499, msg="Bad Request"), REFUSED, "code 9499: Bad Request"),
    ("feishu", 400, _code(code=9499, msg="Too many requests"), LATER, "code 9499"),
    ("feishu", 200, _code(code=11232, msg="frequency limited"), LATER, "code 11232"),
    ("feishu", 200, _code(StatusCode=0), REFUSED, "without code"),
    ("wecom", 200, _code(errcode=0, errmsg="ok"), DELIVERED, "errcode 0"),
    ("wecom", 200, _code(errcode=45009, errmsg="api freq out of limit"), LATER, "errcode 45009"),
    ("wecom", 200, _code(errcode=93000, errmsg="invalid webhook url"), REFUSED, "key is unknown"),
    ("pagerduty", 202, _code(status="success", message="Event processed"), DELIVERED, "HTTP 202"),
    ("pagerduty", 400, _code(message="Event object is invalid", errors=["no summary"]), REFUSED, "invalid no summary"),
    ("pagerduty", 429, b"", LATER, "HTTP 429"),
    ("alertmanager", 200, b"", DELIVERED, "HTTP 200"),
    ("alertmanager", 401, b"Unauthorized\n", REFUSED, "Unauthorized"),
    ("alertmanager", 500, b"", LATER, "HTTP 500"),
    ("email", 250, b"2.0.0 queued", DELIVERED, "SMTP 250: 2.0.0 queued"),
    ("email", 451, b"greylisted", LATER, "SMTP 451: greylisted"),
    ("email", 550, b"no such user", REFUSED, "SMTP 550: no such user"),
]


@pytest.mark.parametrize(("kind", "status", "body", "outcome", "text"), CASES)
def test_answers_of_real_receivers(kind: str, status: int, body: bytes, outcome: Outcome, text: str) -> None:
    answer = BY_NAME[kind].judge(status, {}, body)
    assert answer.outcome is outcome, answer.text
    assert text in answer.text


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name != "email"], ids=lambda kind: kind.name)
@pytest.mark.parametrize("status", [429, 503, 413])
def test_retry_after_is_read_by_every_kind(kind: object, status: int) -> None:
    judge = kind.judge  # type: ignore[attr-defined]
    assert judge(status, {"retry-after": "120"}, b"").after_s == 120.0


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("30", "", 30.0),
        ("999999999", "", 86_400.0),
        ("Thu, 26 Nov 2026 09:31:00 GMT", "Thu, 26 Nov 2026 09:30:00 GMT", 60.0),
        ("Thu, 26 Nov 2026 09:29:00 GMT", "Thu, 26 Nov 2026 09:30:00 GMT", 0.0),
        ("Thu, 26 Nov 2026 09:31:00 GMT", "", None),
        ("Thu, 26 Nov 2026 09:31:00 -0000", "Thu, 26 Nov 2026 09:30:00 GMT", None),
        ("-5", "", None),
        ("1e9", "", None),
        ("soon", "", None),
        ("", "", None),
    ],
)
def test_retry_after(value: str, date: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value, "date": date}) == seconds


_BODIES = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=300).map(lambda text: text.encode(errors="surrogatepass")),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["errcode", "code", "errmsg", "msg", "ok", "error", "errors", "message"]), inner
            )
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
)
_HEADERS = st.fixed_dictionaries({}, optional={"retry-after": st.text(max_size=30), "date": st.text(max_size=30)})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(KINDS), st.integers(-1, 999), _HEADERS, _BODIES)
def test_no_answer_breaks_a_judge(kind: object, status: int, headers: dict[str, str], body: bytes) -> None:
    answer = kind.judge(status, headers, body)  # type: ignore[attr-defined]
    assert len(answer.text) <= 300
    assert answer.text.isprintable()
    assert answer.after_s is None or 0 <= answer.after_s <= 86_400


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 60_000,
        b'{"errcode":' * 5_000,
        b'{"errcode": 1e999, "code": 1e999}',
        b'{"errcode": ' + b"9" * 60_000 + b', "code": 1}',
        b"\xff\xfe" * 1000,
        _code(errcode=5, code=5, error="x" * 5000, errmsg="y" * 5000, msg="z\x1b[2J\r\n\u202e" * 500),
    ],
    ids=["lists", "objects", "infinite", "long number", "bytes", "long words"],
)
def test_bodies_that_mean_harm(kind: object, body: bytes) -> None:
    for status in (200, 202, 400, 429, 500):
        answer = kind.judge(status, {}, body)  # type: ignore[attr-defined]
        assert len(answer.text) <= 300
        assert answer.text.isprintable()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("status", [200, 400, 500])
def test_what_looks_like_a_token_is_not_repeated(kind: object, status: int) -> None:
    said = f"bad {TOKEN} in https://hooks.example/x?sig={TOKEN[:12]} and whsec_{TOKEN[:8]}"
    for body in (said.encode(), _code(errcode=1, code=1, errmsg=said, msg=said, error=said, message=said)):
        text = kind.judge(status, {}, body).text  # type: ignore[attr-defined]
        assert TOKEN not in text
        assert TOKEN[:12] not in text
        assert f"whsec_{TOKEN[:8]}" not in text
