"""A proxy that signs in: who it names is let in, and nobody else who sends the same header."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from accounts.group_roles import parsed
from accounts.roles import Role, granted
from audit.models import Entry
from gpudash.config.external_accounts import ProxyHeaders
from gpudash.middleware import proxy_sign_in
from tests.cast import make_token, make_user, signed_in
from tests.web import Web, web

PROXY, STRANGER = "127.0.0.9", "127.0.0.8"
USER, GROUPS = "X-Auth-Request-User: ana", "X-Auth-Request-Groups: staff,gpu-admins"
SETTINGS = {
    "GPUDASH_PROXY_USER_HEADER": "X-Auth-Request-User",
    "GPUDASH_PROXY_GROUPS_HEADER": "X-Auth-Request-Groups",
    "GPUDASH_TRUSTED_PROXY": PROXY,
    "GPUDASH_GROUP_ROLES": "gpu-admins=admin; gpu-users=viewer",
    "GPUDASH_LOCAL_ACCOUNTS": "false",
}


@pytest.fixture
def served(tmp_path: Path, migrated_file: Path) -> Iterator[Web]:
    with web(tmp_path, migrated_file, **SETTINGS) as running:
        yield running


@pytest.mark.sweep
def test_only_the_proxy_is_believed(served: Web, tmp_path: Path) -> None:
    proxied = served.ask("/users", USER, GROUPS, "X-Forwarded-For: 203.0.113.7", source=PROXY)
    assert proxied.status == 200
    cookie = "Cookie: " + proxied.headers["set-cookie"].split(";")[0]
    forged = [
        (),
        ("X-Forwarded-For: " + PROXY,),
        ("X-Forwarded-For: " + PROXY, "Forwarded: for=" + PROXY, "X-Real-IP: " + PROXY),
        ("gpudash.from_proxy: 1",),
    ]
    for more in forged:
        answer = served.ask("/users", USER, GROUPS, *more, source=STRANGER)
        assert (answer.status, answer.headers["location"]) == (302, "/sign-in?next=/users"), more
    # The spelling that WSGI cannot tell apart does not get through the proxy either.
    assert (
        served.ask("/users", "X_Auth_Request_User: ana", "X_Auth_Request_Groups: gpu-admins", source=PROXY).status
        == 302
    )
    # A session of the proxy's is worth nothing around it.
    assert served.ask("/users", cookie, source=STRANGER).status == 302
    with closing(sqlite3.connect(tmp_path / "gpudash.sqlite3")) as database:
        rows = database.execute("SELECT address, detail FROM audit_entry WHERE action = 'sign-in'").fetchall()
    assert [row[0] for row in rows] == ["203.0.113.7"]
    assert '"proxy"' in rows[0][1]


@pytest.mark.parametrize(
    ("peer", "proxy", "is_it"),
    [
        ("10.0.0.1", "10.0.0.1", True),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("fd00::1", "fd00:0::1", True),
        ("10.0.0.2", "10.0.0.1", False),
        ("10.0.0.1", "", False),
        ("10.0.0.1", "*", False),
        ("", "10.0.0.1", False),
        ("localhost", "10.0.0.1", False),
    ],
)
def test_what_our_server_notes_of_the_other_end(peer: str, proxy: str, is_it: bool) -> None:
    environ: dict[str, Any] = {"REMOTE_ADDR": peer, proxy_sign_in.FROM_PROXY: True}
    proxy_sign_in.marked(lambda *_: None, proxy)(environ, lambda *_: None)
    assert environ[proxy_sign_in.FROM_PROXY] is is_it


@pytest.fixture
def behind(settings: Any, db: None) -> None:
    settings.PROXY_HEADERS = ProxyHeaders("X-Auth-Request-User", "X-Auth-Request-Groups")
    settings.GROUP_ROLES = parsed("gpu-admins=admin; gpu-users=viewer")


def from_proxy(user: str, groups: str, **more: Any) -> Client:
    """A browser whose requests come through the proxy."""
    headers = {"HTTP_X_AUTH_REQUEST_USER": user, "HTTP_X_AUTH_REQUEST_GROUPS": groups}
    return Client(**{proxy_sign_in.FROM_PROXY: True}, **headers, **more)


def test_a_role_follows_the_header(behind: None) -> None:
    client = from_proxy("ana", "gpu-users")
    assert (client.get("/account").status_code, client.get("/users").status_code) == (200, 403)
    client.defaults["HTTP_X_AUTH_REQUEST_GROUPS"] = "gpu-admins"
    assert client.get("/users").status_code == 200
    client.defaults["HTTP_X_AUTH_REQUEST_GROUPS"] = "staff"
    answer = client.get("/users")
    assert (answer.status_code, "None of your groups has access" in answer.content.decode()) == (403, True)
    assert granted(User.objects.get()) == (None, [])


def test_one_sign_in_is_enough_while_nothing_changes(behind: None) -> None:
    client = from_proxy("ana", "gpu-users")
    for _ in range(3):
        client.get("/account")
    assert Entry.objects.filter(action="sign-in").count() == 1


def test_another_name_is_another_account_and_none_is_nobody(behind: None) -> None:
    client = from_proxy("ana", "gpu-users")
    client.get("/account")
    client.defaults["HTTP_X_AUTH_REQUEST_USER"] = "bea"
    assert "bea" in client.get("/account").content.decode()
    del client.defaults["HTTP_X_AUTH_REQUEST_USER"]
    assert client.get("/account").status_code == 302


def test_a_local_account_of_the_same_name_is_another(behind: None) -> None:
    make_user("ana", Role.ADMIN)
    assert from_proxy("ana", "gpu-users").get("/users").status_code == 403


def test_a_header_that_the_proxy_did_not_send_changes_nothing(behind: None) -> None:
    client = signed_in(make_user("vera", Role.VIEWER))
    client.defaults |= {"HTTP_X_AUTH_REQUEST_USER": "ana", "HTTP_X_AUTH_REQUEST_GROUPS": "gpu-admins"}
    assert "vera" in client.get("/account").content.decode()
    assert client.get("/users").status_code == 403


def test_a_program_with_a_token_is_its_token(behind: None) -> None:
    token = make_token(make_user("robot", Role.VIEWER))
    client = from_proxy("ana", "gpu-admins", HTTP_AUTHORIZATION=f"Bearer {token}")
    assert client.get("/api/v1/summary").status_code == 200
    assert client.get("/api/v1/audit").status_code == 403
    assert not User.objects.filter(username="ana").exists()


@pytest.mark.parametrize(
    "given", ["Basic eDp5", "", "Negotiate x", "bearer", "Bearer\tgpd_1_x", "Digest Bearer x", "Bearer gpd_1_x"]
)
def test_no_authorization_header_keeps_an_old_role_on_pages(behind: None, given: str) -> None:
    client = from_proxy("ana", "gpu-admins")
    assert client.get("/users").status_code == 200
    client.defaults |= {"HTTP_X_AUTH_REQUEST_GROUPS": "gpu-users", "HTTP_AUTHORIZATION": given}
    assert client.get("/users").status_code == 403
    client.defaults["HTTP_X_AUTH_REQUEST_USER"] = "bea"
    assert "bea" in client.get("/account").content.decode()


@pytest.mark.parametrize("given", ["Basic eDp5", "", "Token x", "Bearer\tgpd_1_x", "Beare x"])
def test_nor_in_rest(behind: None, given: str) -> None:
    client = from_proxy("ana", "gpu-admins")
    assert client.get("/api/v1/audit").status_code == 200
    client.defaults |= {"HTTP_X_AUTH_REQUEST_GROUPS": "gpu-users", "HTTP_AUTHORIZATION": given}
    assert client.get("/api/v1/audit").status_code == 403
    client.defaults["HTTP_X_AUTH_REQUEST_GROUPS"] = "staff"
    refused = client.get("/api/v1/summary")
    assert (refused.status_code, refused.headers["Content-Type"]) == (403, "application/problem+json")
    assert "None of your groups has access" in refused.json()["detail"]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "bEaReR"])
def test_a_bad_token_is_refused_whatever_session_comes_with_it(behind: None, scheme: str) -> None:
    client = from_proxy("ana", "gpu-admins")
    assert client.get("/api/v1/audit").status_code == 200
    assert client.get("/api/v1/audit", HTTP_AUTHORIZATION=f"{scheme} gpd_1_{'x' * 40}").status_code == 401


def test_an_old_session_of_another_account_is_the_proxys_person(behind: None) -> None:
    old = signed_in(make_user("vera", Role.ADMIN))
    assert old.get("/users").status_code == 200
    old.defaults |= {proxy_sign_in.FROM_PROXY: True, "HTTP_AUTHORIZATION": "Basic eDp5"}
    old.defaults |= {"HTTP_X_AUTH_REQUEST_USER": "ana", "HTTP_X_AUTH_REQUEST_GROUPS": "gpu-users"}
    assert old.get("/users").status_code == 403
    assert "ana" in old.get("/account").content.decode()


@pytest.mark.parametrize(
    ("user", "groups"), [("a" * 192, "gpu-users"), ("ana", "x" * 15_990 + ",gpu-users-of-nothing")]
)
def test_what_is_too_long_is_refused_and_not_cut(behind: None, user: str, groups: str) -> None:
    client = from_proxy("bea", "gpu-admins")
    assert client.get("/users").status_code == 200
    client.defaults |= {"HTTP_X_AUTH_REQUEST_USER": user, "HTTP_X_AUTH_REQUEST_GROUPS": groups}
    answer = client.get("/users")
    assert (answer.status_code, "too long" in answer.content.decode()) == (403, True)
    assert not User.objects.exclude(username="bea").exists()
