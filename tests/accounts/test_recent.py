"""Who was let in a moment ago is not looked up again; what was taken away acts as soon as the moment is over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import recent
from accounts.models import ApiToken
from accounts.roles import Role, set_role
from runtime import cached as shared
from tests.cast import bearer, make_token, make_user, signed_in

pytestmark = pytest.mark.django_db
LONG_S = 3600.0
PATH = "/api/v1/cards"


@pytest.fixture(autouse=True)
def kept(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sharing as in production, but that a moment is an hour."""
    settings.SHARED_LOOK_S = LONG_S
    monkeypatch.setattr(recent, "KEPT_S", LONG_S)
    monkeypatch.setattr(recent.recent, "_known", {})
    monkeypatch.setattr(shared.store, "_kept", type(shared.store._kept)())


@pytest.fixture
def user() -> User:
    return make_user("vera", Role.VIEWER)


def a_moment_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "KEPT_S", 0.0)


def _no_role(user: User) -> None:
    set_role(user, None)


def _deactivate(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def _new_password(user: User) -> None:
    user.set_password("another one")
    user.save()


def _sign_out(user: User) -> None:
    Session.objects.all().delete()


def _revoke(user: User) -> None:
    ApiToken.objects.get().revoke()


def _delete(user: User) -> None:
    User.objects.filter(pk=user.pk).delete()


Taken = Callable[[User], None]


@pytest.mark.parametrize("client", ["session", "token"])
def test_who_was_let_in_a_moment_ago_costs_no_query(user: User, client: str) -> None:
    visitor = signed_in(user) if client == "session" else bearer(make_token(user))
    first = visitor.get(PATH)
    with CaptureQueriesContext(connection) as queries:
        again = visitor.get(PATH)
    assert (first.status_code, again.status_code, len(queries)) == (200, 200, 0)
    for header in ("Vary", "Cache-Control"):
        assert again.headers[header] == first.headers[header]


@pytest.mark.parametrize("change", [_no_role, _deactivate, _new_password, _sign_out, _delete])
def test_what_is_taken_from_a_session_acts_after_the_moment(
    user: User, change: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = signed_in(user)
    assert visitor.get(PATH).status_code == 200
    change(user)
    a_moment_later(monkeypatch)
    assert visitor.get(PATH).status_code in (401, 403)


@pytest.mark.parametrize("change", [_no_role, _deactivate, _revoke, _delete])
def test_what_is_taken_from_a_token_acts_after_the_moment(
    user: User, change: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = bearer(make_token(user))
    assert visitor.get(PATH).status_code == 200
    change(user)
    a_moment_later(monkeypatch)
    assert visitor.get(PATH).status_code in (401, 403)


def test_a_token_that_expires_within_the_moment_is_refused(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = bearer(make_token(user))
    assert visitor.get(PATH).status_code == 200
    late = timezone.now() + timedelta(days=2)
    monkeypatch.setattr(timezone, "now", lambda: late)
    assert visitor.get(PATH).status_code == 401


def test_a_refusal_is_not_kept(user: User) -> None:
    set_role(user, None)
    visitor, program = signed_in(user), bearer(make_token(user))
    assert [one.get(PATH).status_code for one in (visitor, program)] == [403, 403]
    set_role(user, Role.VIEWER)
    assert [one.get(PATH).status_code for one in (visitor, program)] == [200, 200]


def test_what_changes_something_and_what_is_not_shared_is_looked_up(user: User) -> None:
    visitor = signed_in(user)
    assert visitor.get(PATH).status_code == 200
    Session.objects.all().delete()
    assert visitor.get("/account").status_code == 302
    assert visitor.post("/api/v1/tokens", {"name": "x", "role": "viewer"}).status_code == 401


def test_another_secret_or_session_is_somebody_else(user: User) -> None:
    text = make_token(user)
    assert bearer(text).get(PATH).status_code == 200
    assert bearer(text[:-1] + ("a" if text[-1] != "a" else "b")).get(PATH).status_code == 401
    visitor, stranger = signed_in(user), Client()
    assert visitor.get(PATH).status_code == 200
    stranger.cookies["gpudash_session"] = "x" * 32
    assert stranger.get(PATH).status_code == 401
    assert bearer("nonsense").get("/cards").status_code == 302


def test_a_token_is_not_the_session_beside_it(user: User) -> None:
    """A program with a viewer's token in the browser of an administrator is a viewer, each time."""
    admin = signed_in(make_user("ada", Role.ADMIN))
    assert admin.get(PATH).status_code == 200
    both = {"Authorization": f"Bearer {make_token(user)}"}
    for _ in range(2):
        as_program: Any = admin.get(PATH, headers=both).wsgi_request
        as_visitor: Any = admin.get(PATH).wsgi_request
        assert (as_program.role, as_program.user) == (Role.VIEWER, user)
        assert as_visitor.role == Role.ADMIN


def test_no_secret_is_kept(user: User) -> None:
    text, visitor = make_token(user), signed_in(user)
    bearer(text).get(PATH)
    visitor.get(PATH)
    kept = repr(recent.recent._known)
    assert len(recent.recent._known) == 2
    assert text.split("_", 2)[2] not in kept
    assert visitor.cookies["gpudash_session"].value not in kept


def test_the_last_use_of_a_token_is_written_once(user: User) -> None:
    visitor = bearer(make_token(user))
    visitor.get(PATH)
    used = ApiToken.objects.get().last_used_at
    visitor.get(PATH)
    assert used is not None
    assert ApiToken.objects.get().last_used_at == used


def test_the_number_that_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MOST", 3)
    for number in range(5):
        signed_in(make_user(f"visitor-{number}", Role.VIEWER)).get(PATH)
    assert len(recent.recent._known) <= 3
