"""Signing in and out, the limit on guessing, links that sign in once, the account page."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import signing
from django.test import Client

from accounts import sign_in_links as links
from accounts.roles import Role
from tests.cast import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    made = make_user("vera", Role.VIEWER)
    made.set_password(PASSWORD)
    made.save()
    return made


def sign_in(client: Client, password: str, *, name: str = "vera", after: str = "") -> Any:
    return client.post("/sign-in", {"username": name, "password": password, "next": after})


def test_who_signs_in_goes_where_they_wanted_to(user: User) -> None:
    client = Client()
    asked = client.get("/account")
    assert asked.headers["Location"] == "/sign-in?next=/account"
    assert sign_in(client, PASSWORD, after="/account").headers["Location"] == "/account"
    assert client.get("/account").status_code == 200


def test_nobody_is_sent_to_another_host(user: User) -> None:
    assert sign_in(Client(), PASSWORD, after="https://evil.example/").headers["Location"] == "/"


def test_a_part_of_a_page_sends_the_whole_page_to_the_sign_in() -> None:
    response = Client(headers={"HX-Request": "true"}).get("/account")
    assert (response.status_code, response.headers["HX-Redirect"]) == (401, "/sign-in")


def test_signing_out_needs_a_post_and_ends_the_session(user: User) -> None:
    client = signed_in(user)
    assert client.get("/sign-out").status_code == 405
    client.post("/sign-out")
    assert client.get("/account").status_code == 302


def test_a_deactivated_account_is_out_at_once(user: User) -> None:
    client = signed_in(user)
    User.objects.update(is_active=False)
    assert client.get("/account").status_code == 302


def test_who_has_no_role_is_told_what_to_ask_for() -> None:
    page = signed_in(make_user("nobody")).get("/account")
    assert page.status_code == 403
    assert "viewer" in page.content.decode()


@pytest.mark.parametrize("name", ["", "x" * 5000, "a\x00b", "🦄"])
def test_a_strange_name_is_refused_like_any_other(user: User, name: str) -> None:
    assert sign_in(Client(), "wrong", name=name).status_code == 200


def test_a_link_signs_in_once(user: User, settings: Any) -> None:
    settings.SIGN_IN_LINKS = True
    path = links.make_link(user)
    client, second = Client(), Client()
    assert client.post(path).headers["Location"] == "/"
    assert client.get("/account").status_code == 200
    assert second.post(path).headers["Location"] == second.get(path).headers["Location"] == "/sign-in"
    assert second.get("/account").status_code == 302


def test_a_link_that_was_used_leads_to_what_to_do_not_to_a_form_that_nobody_can_pass(settings: Any) -> None:
    settings.SIGN_IN_LINKS = True
    user = make_user("local", Role.ADMIN)
    path = links.make_link(user)
    client = Client()
    client.post(path)
    assert client.get(path, follow=True).redirect_chain[-1][0] == "/", "whoever is signed in goes on"
    page = Client().get(path, follow=True).content.decode()
    assert "Open the sign-in link that gpudash printed at its start." in page
    assert "Restart gpudash for a new link." in page
    assert 'name="password"' not in page
    user.set_password(PASSWORD)
    user.save()
    page = Client().get("/sign-in").content.decode()
    assert 'name="password"' in page
    assert "Restart gpudash" in page
    settings.SIGN_IN_LINKS = False
    assert "Restart gpudash" not in Client().get("/sign-in").content.decode()


def test_who_only_looks_at_a_link_does_not_use_it_up(user: User, settings: Any) -> None:
    settings.SIGN_IN_LINKS = True
    path = links.make_link(user)
    client = Client()
    assert client.head(path).status_code == client.get(path, headers={"Sec-Purpose": "prefetch"}).status_code == 200
    page = client.get(path)
    assert "Sign in as vera" in page.content.decode()
    assert page.headers["Referrer-Policy"] == "strict-origin"
    assert "no-store" in page.headers["Cache-Control"]
    assert client.get("/account").status_code == 302
    assert client.post(path).headers["Location"] == "/"


def test_a_link_is_not_used_by_another_site(user: User, settings: Any) -> None:
    settings.SIGN_IN_LINKS = True
    assert Client(enforce_csrf_checks=True).post(links.make_link(user)).status_code == 403
    assert User.objects.get().last_login is None


def test_links_are_off_unless_they_are_switched_on(user: User) -> None:
    client, path = Client(), links.make_link(user)
    assert (client.get(path).status_code, client.post(path).status_code) == (404, 404)
    assert client.get("/account").status_code == 302


@pytest.mark.parametrize(
    "token",
    ["x", "a:b:c", signing.dumps([1, ""]), signing.dumps("text", salt=links.SALT)],
    ids=["a word", "no signature", "another salt", "no user in it"],  # the tokens hold the time: no names for tests
)
@pytest.mark.parametrize("method", ["get", "head", "post"])
def test_a_made_up_link_does_not_sign_in(user: User, settings: Any, token: str, method: str) -> None:
    settings.SIGN_IN_LINKS = True
    client = Client()
    assert getattr(client, method)(f"/sign-in/link/{token}").headers["Location"] == "/sign-in"
    assert client.get("/account").status_code == 302


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_old_link_and_one_of_a_deactivated_user_do_not_work(
    user: User, settings: Any, monkeypatch: Any, method: str
) -> None:
    settings.SIGN_IN_LINKS = True
    path = links.make_link(user)
    User.objects.update(is_active=False)
    assert getattr(Client(), method)(path).headers["Location"] == "/sign-in"
    User.objects.update(is_active=True)
    monkeypatch.setattr(links, "MAX_AGE_S", -1)
    assert getattr(Client(), method)(path).headers["Location"] == "/sign-in"


@pytest.mark.parametrize(("chosen", "kept"), [("dark", "dark"), ("light", "light"), ("auto", "auto"), ("pink", None)])
def test_the_theme_is_kept_in_a_cookie(user: User, chosen: str, kept: str | None) -> None:
    client = signed_in(user)
    assert client.post("/account/theme", {"theme": chosen, "next": "/account"}).headers["Location"] == "/account"
    assert (client.cookies["theme"].value if "theme" in client.cookies else None) == kept


def test_the_theme_form_sends_nobody_away(user: User) -> None:
    response = signed_in(user).post("/account/theme", {"theme": "dark", "next": "//evil.example"})
    assert response.headers["Location"] == "/account"


def test_the_password_can_be_changed(user: User) -> None:
    client = signed_in(user)
    new = {"old_password": PASSWORD, "new_password1": "another good phrase", "new_password2": "another good phrase"}
    assert client.post("/account/password", new).headers["Location"] == "/account"
    assert User.objects.get().check_password("another good phrase")
