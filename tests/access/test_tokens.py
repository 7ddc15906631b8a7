"""API tokens: what they let in, what they never show, when they stop."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from gpudash.access.models import ApiToken
from gpudash.access.roles import Role, set_role
from tests.cast import bearer, make_token, make_user, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return make_user("vera", Role.VIEWER)


def status(text: str) -> int:
    return bearer(text).get("/api/v1/cards").status_code


def test_a_token_lets_in(user: User) -> None:
    assert status(make_token(user)) == 200


def test_the_scheme_may_be_written_small(user: User) -> None:
    assert Client(headers={"Authorization": f"bearer {make_token(user)}"}).get("/metrics").status_code == 200


def test_only_a_hash_of_the_secret_is_kept(user: User) -> None:
    secret = make_token(user).split("_", 2)[2]
    row = ApiToken.objects.values().get()
    assert secret not in str(row)
    assert secret not in f"{ApiToken.objects.get()!r}{ApiToken.objects.get()}"
    assert len(secret) >= 43


@pytest.mark.parametrize(
    "change", ["wrong", "expired", "revoked", "deactivated", "no such id", "no token", "long id", "odd"]
)
def test_every_token_that_does_not_work_gets_the_same_answer(user: User, change: str) -> None:
    text = make_token(user, days=-1 if change == "expired" else 1)
    if change == "wrong":
        text = text[:-1] + ("a" if text[-1] != "a" else "b")
    elif change == "revoked":
        ApiToken.objects.get().revoke()
    elif change == "deactivated":
        User.objects.update(is_active=False)
    elif change == "no such id":
        text = "gpd_999999_" + text.split("_", 2)[2]
    elif change == "long id":
        text = f"gpd_{'9' * 400}_{'x' * 43}"
    elif change == "odd":
        text = "gpd_1_" + "ä" * 43
    elif change == "no token":
        text = ""
    response = bearer(text).get("/api/v1/cards")
    assert response.status_code == 401
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="gpudash"'
    assert response.json()["detail"].startswith(
        "The bearer token is not valid: it is wrong, has expired or was revoked."
    )


def test_a_token_has_no_more_than_its_user_has_now(user: User) -> None:
    text = make_token(user, Role.VIEWER)
    set_role(user, None)
    assert status(text) == 403


def test_an_admin_token_of_a_viewer_acts_as_a_viewer(user: User) -> None:
    own, other = make_token(user, Role.ADMIN), make_token(make_user("ada", Role.ADMIN), Role.VIEWER)
    listed = bearer(own).get("/api/v1/tokens").json()["results"]
    assert {token["user"] for token in listed} == {"vera"}
    assert status(other) == 200


def test_the_last_use_is_written_once_a_minute(user: User) -> None:
    text = make_token(user)
    status(text)
    first = ApiToken.objects.get().last_used_at
    status(text)
    assert first is not None
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    status(text)
    later = ApiToken.objects.get().last_used_at
    assert later is not None
    assert later >= first


def test_rest_makes_a_token_that_works_and_shows_it_once(user: User) -> None:
    client = signed_in(user)
    made = client.post("/api/v1/tokens", {"name": "ci", "role": "viewer"}, content_type="application/json")
    assert made.status_code == 201
    assert made.headers["Cache-Control"].startswith("no-store") or "no-store" in made.headers["Cache-Control"]
    assert status(made.json()["token"]) == 200
    listed = client.get("/api/v1/tokens").content.decode()
    assert made.json()["token"].split("_", 2)[2] not in listed
    assert "ci" in listed


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"role": "viewer"}, "name"),
        ({"name": "x", "role": "admin"}, "role"),
        ({"name": "x", "role": "viewer", "expires_in_days": 0}, "expires_in_days"),
        ({"name": "x", "role": "viewer", "expires_in_days": 10**9}, "expires_in_days"),
        ({"name": "x" * 101, "role": "viewer"}, "name"),
        ({"name": "x", "role": "viewer", "secret": "mine"}, "secret"),
        ({"name": "\x00", "role": "viewer"}, "name"),
        ([], "body"),
    ],
)
def test_rest_refuses_a_token_that_makes_no_sense_by_field(user: User, body: object, field: str) -> None:
    response = signed_in(user).post("/api/v1/tokens", body, content_type="application/json")
    assert response.status_code == 400
    assert [error["field"] for error in response.json()["errors"]] == [field]
    assert not ApiToken.objects.exists()


def test_a_token_makes_none_that_outlives_it(user: User) -> None:
    client = bearer(make_token(user, days=3))
    longer = client.post("/api/v1/tokens", {"name": "x", "role": "viewer"}, content_type="application/json")
    shorter = client.post(
        "/api/v1/tokens", {"name": "x", "role": "viewer", "expires_in_days": 2}, content_type="application/json"
    )
    assert (longer.status_code, shorter.status_code) == (400, 201)


def test_one_revokes_ones_own_tokens_and_an_admin_anybodys(user: User, admin: Client) -> None:
    one, two = make_token(user), make_token(user)
    stranger = signed_in(make_user("stranger", Role.OPERATOR))
    ids = list(ApiToken.objects.order_by("pk").values_list("pk", flat=True))
    assert stranger.delete(f"/api/v1/tokens/{ids[0]}").status_code == 404
    assert signed_in(user).delete(f"/api/v1/tokens/{ids[0]}").status_code == 204
    assert admin.delete(f"/api/v1/tokens/{ids[1]}").status_code == 204
    assert (status(one), status(two)) == (401, 401)


def test_a_session_needs_the_csrf_token_to_change_anything(user: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    response = client.post("/api/v1/tokens", {"name": "x", "role": "viewer"}, content_type="application/json")
    assert response.status_code == 403
    assert response.headers["Content-Type"] == "application/problem+json"


def test_the_account_page_makes_and_revokes_tokens(user: User) -> None:
    client = signed_in(user)
    page = client.post("/account/tokens", {"name": "ci", "role": "viewer", "expires_in_days": 5})
    token = ApiToken.objects.get()
    assert f"gpd_{token.pk}_{token.prefix}" in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert token.secret_hash not in page.content.decode()
    client.post(f"/account/tokens/{token.pk}/revoke")
    assert not ApiToken.objects.get().usable(timezone.now())


def test_the_account_page_gives_no_role_above_ones_own(user: User) -> None:
    assert (
        signed_in(user).post("/account/tokens", {"name": "x", "role": "admin", "expires_in_days": 5}).status_code == 400
    )
    assert not ApiToken.objects.exists()
