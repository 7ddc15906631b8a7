"""A new token is shown once, on the page after the POST that made it, and lies whole nowhere in between."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from accounts import shown_once
from accounts.models import ApiToken
from accounts.roles import Role
from tests.cast import make_user, signed_in

pytestmark = pytest.mark.django_db

FORM = {"name": "ci", "role": "viewer", "expires_in_days": 5, "scope": "all"}
_SECRET = re.compile(r"gpd_[0-9]+_[A-Za-z0-9_-]{20,}")


@pytest.fixture
def user() -> User:
    return make_user("vera", Role.VIEWER)


def shown(page: Any) -> list[str]:
    return _SECRET.findall(page.content.decode())


def test_the_post_leads_to_the_page_and_loading_that_again_makes_and_shows_nothing(user: User) -> None:
    client = signed_in(user)
    answer = client.post("/account/tokens", FORM)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/account#new-token")
    page: Any = client.get("/account")
    (secret,) = shown(page)
    assert Client(headers={"Authorization": f"Bearer {secret}"}).get("/api/v1/summary").status_code == 200
    assert "no-store" in page.headers["Cache-Control"]
    assert shown(client.get("/account")) == []
    assert client.cookies[shown_once.COOKIE].value == "", "the key is dropped"
    assert ApiToken.objects.count() == 1


def test_neither_the_database_nor_the_browser_has_it_whole(user: User) -> None:
    client = signed_in(user)
    answer = client.post("/account/tokens", FORM)
    stored = [one.get_decoded() for one in Session.objects.all()]
    cookies = answer.cookies.output()
    kept = next(one[shown_once.KEPT] for one in stored if shown_once.KEPT in one)
    (secret,) = shown(client.get("/account"))
    part = secret.split("_", 2)[2]
    assert part not in f"{stored}{cookies}{answer.headers}"
    assert answer.cookies[shown_once.COOKIE].value not in str(stored)
    assert kept[0] == "token"
    assert all(shown_once.KEPT not in one.get_decoded() for one in Session.objects.all()), "it is gone when it is shown"


def test_the_key_goes_to_the_accounts_pages_only_and_to_no_script(user: User, settings: Any) -> None:
    settings.TLS = True
    cookie = signed_in(user).post("/account/tokens", FORM).cookies[shown_once.COOKIE]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"], cookie["secure"]) == (
        "/account",
        True,
        "Strict",
        True,
    )
    assert 0 < cookie["max-age"] <= 300


@pytest.mark.parametrize("key", ["", "nonsense", "ö", "A" * 43 + "="])
def test_without_its_key_nothing_is_shown_then_or_later(user: User, key: str) -> None:
    client = signed_in(user)
    right = client.post("/account/tokens", FORM).cookies[shown_once.COOKIE].value
    client.cookies[shown_once.COOKIE] = key
    assert shown(client.get("/account")) == []
    client.cookies[shown_once.COOKIE] = right
    assert shown(client.get("/account")) == []


def test_the_session_of_somebody_else_does_not_open_with_it(user: User) -> None:
    mine, other = signed_in(user), signed_in(make_user("olga", Role.OPERATOR))
    mine.post("/account/tokens", FORM)
    other.post("/account/tokens", FORM)
    other.cookies[shown_once.COOKIE] = mine.cookies[shown_once.COOKIE].value
    assert shown(other.get("/account")) == []


def test_it_is_not_shown_after_its_time(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in(user)
    client.post("/account/tokens", FORM)
    monkeypatch.setattr(shown_once, "LASTS_S", -1)
    assert shown(client.get("/account")) == []


def test_what_only_looks_whether_there_is_a_page_does_not_use_it_up(user: User) -> None:
    client = signed_in(user)
    client.post("/account/tokens", FORM)
    client.head("/account")
    client.get("/account/two-factor")  # shows other things once
    assert len(shown(client.get("/account"))) == 1
