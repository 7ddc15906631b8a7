"""`GPUDASH_LOCAL_ACCOUNTS=false`: no password signs in or is changed; tokens and commands go on."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.test import Client

from accounts import sign_in_links as links
from accounts.group_roles import ROLES
from accounts.places import most_role
from accounts.roles import Role
from tests.cast import PASSWORD, bearer, make_token, make_user, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    made = make_user("vera", Role.VIEWER)
    made.set_password(PASSWORD)
    made.save()
    return made


@pytest.fixture
def off(settings: Any) -> None:
    """As gpudash.settings does (tests/gpudash/test_settings.py)."""
    settings.LOCAL_ACCOUNTS = False
    settings.AUTHENTICATION_BACKENDS = ["accounts.backend.ExternalBackend", "accounts.backend.ClusterBackend"]


def test_no_password_signs_in(user: User, off: None) -> None:
    client = Client()
    assert client.post("/sign-in", {"username": "vera", "password": PASSWORD}).status_code == 404
    assert authenticate(username="vera", password=PASSWORD) is None
    assert "password" not in client.get("/sign-in").content.decode()


def test_sessions_of_passwords_end(user: User, settings: Any) -> None:
    client = Client()
    client.post("/sign-in", {"username": "vera", "password": PASSWORD})
    assert client.get("/account").status_code == 200
    settings.AUTHENTICATION_BACKENDS = ["accounts.backend.ExternalBackend", "accounts.backend.ClusterBackend"]
    assert client.get("/account").status_code == 302


def test_no_password_is_changed(user: User, off: None) -> None:
    client = signed_in(user)
    assert client.get("/account/password").status_code == client.post("/account/password").status_code == 404
    assert "/account/password" not in client.get("/account").content.decode()


def test_tokens_and_links_of_commands_go_on(user: User, off: None, settings: Any) -> None:
    assert bearer(make_token(user)).get("/api/v1/summary").status_code == 200
    settings.SIGN_IN_LINKS = True
    client = Client()
    assert client.post(links.make_link(user)).status_code == 302
    assert client.get("/account").status_code == 200


def test_settings_know_the_roles_by_the_same_names() -> None:
    assert list(ROLES) == Role.values
    assert [most_role(places) for places in ((), ("prod",), ("prod", "*/a"))] == ["admin", "operator", "viewer"]
