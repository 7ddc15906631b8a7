"""Which pages of other origins may read REST: those that are listed, by their exact origin, with a token, and they change nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.roles import Role
from tests.cast import bearer, make_token, make_user, signed_in

HEADLAMP = "https://headlamp.example.com"
PERMISSIONS = ("Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Credentials")
STRANGERS = (
    *("null", "*", "", "https://evil.example", "http://headlamp.example.com", "https://headlamp.example.com:8443"),
    *("https://headlamp.example.com.evil.example", "https://evil-headlamp.example.com", "https://HEADLAMP.example.com"),
    *("https://x.headlamp.example.com", "https://headlamp.example.com/", "headlamp.example.com", "file://"),
    f"{HEADLAMP}, https://evil.example",
)


@pytest.fixture
def listed(settings: Any) -> None:
    settings.CORS_ORIGINS = [HEADLAMP, "http://localhost:4466"]


def permissions(response: Any) -> dict[str, str]:
    return {name: response.headers[name] for name in PERMISSIONS if name in response.headers}


def preflight(client: Client, origin: str, path: str = "/api/v1/nodes", method: str = "GET") -> Any:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization",
    }
    return client.options(path, headers=headers)


@pytest.mark.parametrize("origin", [HEADLAMP, "http://localhost:4466"])
def test_a_listed_origin_reads_with_a_token(listed: None, api: Client, origin: str) -> None:
    response = api.get("/api/v1/clusters", headers={"Origin": origin})
    assert response.status_code == 200
    assert permissions(response) == {"Access-Control-Allow-Origin": origin}, "and never with cookies"
    assert "Origin" in response.headers["Vary"]


def test_a_listed_origin_is_told_before_it_asks(listed: None, db: None) -> None:
    response = preflight(Client(), HEADLAMP)
    assert (response.status_code, response.content) == (204, b"")
    assert permissions(response) == {
        "Access-Control-Allow-Origin": HEADLAMP,
        "Access-Control-Allow-Methods": "GET, HEAD",
    }
    assert response.headers["Access-Control-Allow-Headers"] == "Authorization"
    assert "Origin" in response.headers["Vary"]


@pytest.mark.parametrize("origin", STRANGERS)
def test_no_other_origin_is(listed: None, api: Client, origin: str) -> None:
    read, asked = api.get("/api/v1/clusters", headers={"Origin": origin}), preflight(Client(), origin)
    assert (permissions(read), permissions(asked), asked.status_code) == ({}, {}, 401)
    assert "Origin" in read.headers["Vary"], "no cache gives it the answer of another"


@pytest.mark.parametrize("origin", [HEADLAMP, "null", "*"])
def test_by_default_there_is_none(api: Client, origin: str) -> None:
    read, asked = api.get("/api/v1/clusters", headers={"Origin": origin}), preflight(Client(), origin)
    assert (permissions(read), permissions(asked), asked.status_code) == ({}, {}, 401)
    assert "Origin" not in read.headers["Vary"]


def test_it_reads_why_it_is_refused(listed: None, db: None) -> None:
    response = Client().get("/api/v1/clusters", headers={"Origin": HEADLAMP})
    assert response.status_code == 401
    assert permissions(response) == {"Access-Control-Allow-Origin": HEADLAMP}
    assert "Bearer" in response.json()["detail"]


def test_it_may_not_change_anything(listed: None, db: None) -> None:
    token = bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))
    assert "POST" not in preflight(Client(), HEADLAMP, "/api/v1/runs", "POST").headers["Access-Control-Allow-Methods"]
    answer = token.post("/api/v1/clusters/prod/relist", headers={"Origin": HEADLAMP})
    assert permissions(answer) == {}


@pytest.mark.parametrize("path", ["/nodes", "/metrics", "/healthz", "/sign-in", "/static/js/none.js"])
def test_nothing_but_rest_is_readable(listed: None, viewer: Client, path: str) -> None:
    assert permissions(viewer.get(path, headers={"Origin": HEADLAMP})) == {}
    assert permissions(preflight(viewer, HEADLAMP, path)) == {}


def test_a_session_without_a_token_is_not_offered_its_cookies(listed: None, db: None) -> None:
    """A browser gives the page an answer to a request with cookies only with Allow-Credentials, which is never sent."""
    response = signed_in(make_user("vera", Role.VIEWER)).get("/api/v1/clusters", headers={"Origin": HEADLAMP})
    assert "Access-Control-Allow-Credentials" not in response.headers
