"""Signing in by a real issuer: Dex. (What a wrong one might answer: `test_sign_in` and `test_forged`.)"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from accounts.group_roles import parsed
from accounts.roles import Role, granted
from gpudash.config.external_accounts import Issuer
from tests.cast import make_user
from tests.dex import CLIENT, CLIENT_SECRET, dex, sign_in_there
from tests.go_program import Withheld

pytestmark = [pytest.mark.sweep, pytest.mark.timeout(600), pytest.mark.django_db]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    try:
        with dex() as found:
            yield found
    except Withheld as withheld:
        # A proxy of modules that does not serve it is no fault of this project: not in CI either.
        pytest.skip(str(withheld))


@pytest.fixture(autouse=True)
def _use(url: str, settings: Any) -> None:
    settings.OIDC = Issuer(url, CLIENT, CLIENT_SECRET, "Dex", "groups", ("openid", "profile", "groups"))
    settings.SOCIALACCOUNT_PROVIDERS = settings.OIDC.providers
    settings.GROUP_ROLES = parsed("gpu-admins=admin; gpu-users=viewer; ml=operator:prod")


def sign_in(client: Client, user: str, groups: str) -> Any:
    to_dex = client.get("/sign-in/oidc", {"next": "/account"}).headers["Location"]
    back = urlsplit(sign_in_there(to_dex, user, groups))
    return client.get(f"{back.path}?{back.query}")


def test_role_and_scope_are_those_of_the_groups_at_each_sign_in() -> None:
    client = Client()
    assert sign_in(client, "ana", "staff,gpu-admins").headers["Location"] == "/account"
    assert client.get("/users").status_code == 200
    assert sign_in(Client(), "ana", "ml").status_code == 302
    assert client.get("/users").status_code == 403
    user = User.objects.get()
    assert (user.username, granted(user)) == ("ana", (Role.OPERATOR, ["prod"]))


def test_who_is_in_no_group_is_refused_and_signed_out() -> None:
    client = Client()
    sign_in(client, "ana", "gpu-users")
    assert client.get("/account").status_code == 200
    answer = sign_in(Client(), "ana", "staff")
    assert (answer.status_code, "None of your groups has access" in answer.content.decode()) == (403, True)
    assert client.get("/account").status_code == 302


def test_a_local_account_of_the_same_name_is_another() -> None:
    make_user("ana", Role.ADMIN)
    client = Client()
    sign_in(client, "ana", "gpu-users")
    assert client.get("/users").status_code == 403
    assert sorted(User.objects.values_list("username", flat=True)) == ["ana", "ana-2"]


def test_a_code_of_another_browser_is_worth_nothing() -> None:
    mine, other = Client(), Client()
    back = urlsplit(sign_in_there(mine.get("/sign-in/oidc").headers["Location"], "ana", "gpu-users"))
    assert other.get(f"{back.path}?{back.query}").status_code == 400
    # With a state of its own, but a code that was asked for with another verifier (PKCE).
    own = other.get("/sign-in/oidc").headers["Location"]
    state = dict(part.split("=", 1) for part in urlsplit(own).query.split("&"))["state"]
    code = dict(part.split("=", 1) for part in back.query.split("&"))["code"]
    assert other.get(f"{back.path}?code={code}&state={state}").status_code == 400
    assert not User.objects.exists()


def test_a_wrong_secret_of_the_client_is_a_clear_page(settings: Any) -> None:
    settings.OIDC = Issuer(settings.OIDC.url, CLIENT, "another secret", "Dex", "groups", ("openid", "groups"))
    settings.SOCIALACCOUNT_PROVIDERS = settings.OIDC.providers
    answer = sign_in(Client(), "ana", "gpu-users")
    assert (answer.status_code, "Sign-in failed or timed out" in answer.content.decode()) == (400, True)
