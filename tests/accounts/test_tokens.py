"""API tokens: what they let in, what they never show, when they stop."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken, TokenEnded
from accounts.roles import Role, set_role
from tests.cast import PASSWORD, bearer, make_token, make_user, signed_in

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
    assert response.json()["detail"].startswith("Invalid bearer token: unknown, expired or revoked.")


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


def test_a_role_that_is_refused_is_answered_with_those_that_may_be(user: User) -> None:
    client = signed_in(user)
    told = make(client, "operator").json()["detail"]
    assert told == "role: Must be one of: viewer. A token cannot exceed your own role."


def make(client: Client, role: str = "viewer", days: int = 1) -> Any:
    body = {"name": "child", "role": role, "expires_in_days": days}
    return client.post("/api/v1/tokens", body, content_type="application/json")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_a_token_below_admin_makes_none(role: Role) -> None:
    """Not even one of an administrator."""
    refused = make(bearer(make_token(make_user("ada", Role.ADMIN), role, days=9)))
    assert refused.status_code == 403
    assert "needs the role admin" in refused.json()["detail"]
    assert ApiToken.objects.count() == 1


def test_a_token_below_admin_sees_and_ends_itself_alone() -> None:
    ada = make_user("ada", Role.ADMIN)
    texts = [make_token(ada, Role.ADMIN), make_token(ada, Role.VIEWER), make_token(ada, Role.VIEWER)]
    client, ids = bearer(texts[1]), list(ApiToken.objects.order_by("pk").values_list("pk", flat=True))
    assert [row["id"] for row in client.get("/api/v1/tokens").json()["results"]] == [ids[1]]
    assert [client.delete(f"/api/v1/tokens/{key}").status_code for key in (ids[0], ids[2], ids[1])] == [404, 404, 204]
    assert [status(text) for text in texts] == [200, 401, 200]


def test_a_token_makes_none_that_outlives_it() -> None:
    client = bearer(make_token(make_user("ada", Role.ADMIN), Role.ADMIN, days=3))
    parent = ApiToken.objects.get()
    assert [make(client, "admin", days).status_code for days in (4, 3, 2)] == [400, 400, 201]
    child = ApiToken.objects.latest("pk")
    assert child.parent == parent
    assert child.expires_at <= parent.expires_at
    assert client.get("/api/v1/tokens").json()["results"][0]["parent"] == parent.pk


def test_what_a_token_made_ends_with_it() -> None:
    first = make_token(make_user("ada", Role.ADMIN), Role.ADMIN, days=9)
    second = make(bearer(first), "admin", 5).json()["token"]
    third = make(bearer(second), "operator", 2).json()["token"]
    other = make_token(User.objects.get(), Role.ADMIN)
    assert ApiToken.objects.earliest("pk").revoke() == 3
    assert [status(text) for text in (first, second, third, other)] == [401, 401, 401, 200]
    assert ApiToken.objects.earliest("pk").revoke() == 0


def test_a_token_that_ends_while_it_asks_gets_no_child() -> None:
    make_token(make_user("ada", Role.ADMIN), Role.ADMIN)
    seen = ApiToken.objects.get()  # as the request has seen it
    ApiToken.objects.get().revoke()
    with pytest.raises(TokenEnded):
        ApiToken.issue(seen.user, "late", Role.VIEWER, seen.expires_at, seen)


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
    page = client.post(
        "/account/tokens", {"name": "ci", "role": "viewer", "expires_in_days": 5, "scope": "all"}, follow=True
    )
    token = ApiToken.objects.get()
    assert f"gpd_{token.pk}_{token.prefix}" in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert token.secret_hash not in page.content.decode()
    client.post(f"/account/tokens/{token.pk}/revoke")
    assert not ApiToken.objects.get().usable(timezone.now())


def test_the_account_page_gives_no_role_above_ones_own(user: User) -> None:
    assert (
        signed_in(user)
        .post("/account/tokens", {"name": "x", "role": "admin", "expires_in_days": 5, "scope": "all"})
        .status_code
        == 400
    )
    assert not ApiToken.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("how", ["page", "command"])
def test_another_password_ends_the_tokens(how: str) -> None:
    olga = make_user("olga", Role.OPERATOR)
    olga.set_password(PASSWORD)
    olga.save()
    client = bearer(make_token(olga, Role.OPERATOR))
    assert client.get("/api/v1/summary").status_code == 200
    if how == "page":
        form = {"old_password": PASSWORD, "new_password1": "another-long-1", "new_password2": "another-long-1"}
        assert signed_in(olga).post("/account/password", form).status_code == 302
    else:
        olga.set_password("another-long-1")
        olga.save()
    assert client.get("/api/v1/summary").status_code == 401


@pytest.mark.django_db
def test_a_password_that_is_hashed_anew_is_the_same_one(settings: Any) -> None:
    better, usual = settings.PASSWORD_HASHERS[0], "django.contrib.auth.hashers.PBKDF2PasswordHasher"
    settings.PASSWORD_HASHERS = [better, usual]  # in tests the quick one is preferred
    olga = make_user("olga", Role.OPERATOR)
    client = bearer(make_token(olga, Role.OPERATOR))
    User.objects.filter(pk=olga.pk).update(password=make_password(PASSWORD, hasher="pbkdf2_sha256"))
    assert User.objects.get(pk=olga.pk).check_password(PASSWORD)
    assert User.objects.get(pk=olga.pk).password.startswith("md5")
    assert client.get("/api/v1/summary").status_code == 200


@pytest.mark.django_db
def test_a_user_has_so_many_tokens_and_no_more(settings: Any) -> None:
    settings.TOKENS_PER_USER = 2
    olga = make_user("olga", Role.OPERATOR)
    client, body = signed_in(olga), {"name": "ci", "role": "viewer"}
    for _ in range(2):
        assert client.post("/api/v1/tokens", body, content_type="application/json").status_code == 201
    refused = client.post("/api/v1/tokens", body, content_type="application/json")
    assert refused.status_code == 400
    assert "Revoke one first" in refused.content.decode()
    page = client.post("/account/tokens", {"name": "x", "role": "viewer", "expires_in_days": 1, "scope": "all"})
    assert page.status_code == 400
    assert "Revoke one first" in page.content.decode()
    with pytest.raises(CommandError, match="GPUDASH_TOKENS_PER_USER"):
        call_command("token", "create", "olga")
    ApiToken.objects.earliest("pk").revoke()
    assert client.post("/api/v1/tokens", body, content_type="application/json").status_code == 201
