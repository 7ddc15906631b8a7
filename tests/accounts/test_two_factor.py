"""The second step: a code after the password."""

from __future__ import annotations

import io
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from accounts import two_factor
from accounts.roles import Role
from audit.models import Entry
from tests.cast import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db
PAGE = "/account/two-factor"


def code_of(secret: str, steps: int = 0) -> str:
    """What the app shows. steps: of 30 s, from now on."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps)))


def other_than(code: str) -> str:
    return f"{(int(code) + 1) % 10**6:06}"


@pytest.fixture(autouse=True)
def _one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A code that is made at the end of its half minute is still good when it is asked for."""
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)


@pytest.fixture
def user() -> User:
    made = make_user("vera", Role.VIEWER)
    made.set_password(PASSWORD)
    made.save()
    return made


@pytest.fixture
def secret(user: User) -> str:
    """Of an account that has it on."""
    made = two_factor.new_secret()
    two_factor.switch_on(user, made)
    return made


def password(client: Client, after: str = "/account") -> Any:
    return client.post("/sign-in", {"username": "vera", "password": PASSWORD, "next": after})


def give(client: Client, code: str) -> Any:
    return client.post("/sign-in/code", {"code": code})


def test_it_is_switched_on_with_password_and_code_and_asked_for_from_then_on(user: User) -> None:
    client = signed_in(user)
    page = client.get(PAGE)
    secret = page.context["secret"]
    assert "data:image/svg+xml;base64," in page.content.decode()
    assert client.get(PAGE).context["secret"] == secret
    done = client.post(PAGE, {"password": PASSWORD, "code": code_of(secret)}, follow=True)
    assert done.redirect_chain == [(PAGE, 302)]
    assert len(set(done.context["codes"])) == 10
    assert "codes" not in client.get(PAGE).context, "they are shown once"
    assert secret not in client.get(PAGE).content.decode()
    assert password(Client()).headers["Location"] == "/sign-in/code"
    assert [one.detail for one in Entry.objects.filter(action="two-factor")] == [{"state": "on"}]


@pytest.mark.parametrize("wrong", ["password", "code"])
def test_with_a_wrong_password_or_code_it_stays_off(user: User, wrong: str) -> None:
    client = signed_in(user)
    code = code_of(client.get(PAGE).context["secret"])
    given = {"password": PASSWORD, "code": code} | {wrong: other_than(code)}
    assert "Wrong" in client.post(PAGE, given).content.decode()
    assert not two_factor.is_on(user)


def test_the_password_alone_opens_nothing(user: User, secret: str) -> None:
    client = Client()
    password(client)
    assert client.get("/account").status_code == 302
    assert not Entry.objects.filter(action="sign-in", outcome="done").exists()
    assert give(client, code_of(secret)).headers["Location"] == "/account"
    assert client.get("/account").status_code == 200
    assert Entry.objects.get(action="sign-in", outcome="done").detail == {"by": "password and code"}


def test_a_code_counts_once(user: User, secret: str) -> None:
    first, second, code = Client(), Client(), code_of(secret)
    password(first)
    password(second)
    assert give(first, code).status_code == 302
    second_step_cache_of_another_process()
    assert "already used" in give(second, code).content.decode()
    assert second.get("/account").status_code == 302


def second_step_cache_of_another_process() -> None:
    """Each process has a cache of its own."""
    from django.core.cache import cache

    cache.clear()


def test_a_code_that_was_kept_counts_once_too(user: User) -> None:
    kept = two_factor.switch_on(user, two_factor.new_secret())[0]
    for expected in (302, 200):
        client = Client()
        password(client)
        assert give(client, kept).status_code == expected


def test_codes_are_not_to_be_guessed(user: User, secret: str) -> None:
    client, wrong = Client(), other_than(code_of(secret))
    password(client)
    for _ in range(5):
        assert give(client, wrong).status_code == 200
    assert give(client, wrong).status_code == 429
    # The right one too, and by another browser that knows the password.
    other = Client()
    password(other)
    assert give(other, code_of(secret)).status_code == 429
    assert Entry.objects.filter(action="sign-in", outcome="refused", detail__by="code").count() == 1


@pytest.mark.parametrize("code", ["", "x" * 500, "\x00", "١٢٣٤٥٦", "000 000"])
def test_a_strange_code_is_refused_like_any_other(user: User, secret: str, code: str) -> None:
    client = Client()
    password(client)
    assert give(client, code).status_code in (200, 400)
    assert client.get("/account").status_code == 302


def test_who_has_given_no_password_is_asked_for_it(user: User, secret: str) -> None:
    assert give(Client(), code_of(secret)).headers["Location"] == "/sign-in"


@pytest.mark.parametrize("change", ["password", "state", "time"])
def test_the_first_step_does_not_last(user: User, secret: str, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    password(client)
    if change == "password":
        user.set_password("another good phrase")
        user.save()
    elif change == "state":
        User.objects.update(is_active=False)
    else:
        later = time.time() + 601
        monkeypatch.setattr(time, "time", lambda: later)
    assert give(client, code_of(secret)).headers["Location"] == "/sign-in"


def test_it_is_switched_off_with_password_and_code_only(user: User, secret: str) -> None:
    client = signed_in(user)
    client.post(PAGE, {"password": PASSWORD, "code": other_than(code_of(secret))})
    client.post(PAGE, {"password": "wrong", "code": code_of(secret)})
    assert two_factor.is_on(user)
    assert client.post(PAGE, {"password": PASSWORD, "code": code_of(secret)}).headers["Location"] == "/account"
    assert not two_factor.is_on(user)
    assert password(Client()).headers["Location"] == "/account"


def test_secrets_lie_encrypted_and_a_new_key_makes_them_worthless(user: User, secret: str, settings: Any) -> None:
    assert all(secret not in str(one.data) for one in Authenticator.objects.all())
    settings.SECRET_KEY = "another" * 10
    assert not two_factor.check(user, code_of(secret))


def test_a_command_lets_in_who_has_lost_everything(user: User, secret: str) -> None:
    out = io.StringIO()
    call_command("user", "end-second-step", "vera", stdout=out)
    assert out.getvalue() == "2FA of vera switched off.\n"
    assert password(Client()).headers["Location"] == "/account"


def test_who_has_no_password_has_no_second_step() -> None:
    assert signed_in(make_user("ana", Role.VIEWER)).get(PAGE).status_code == 404
