"""`gpudash token`, `gpudash user`, and the groups that migrate sets up."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.groups import set_permissions
from accounts.models import ApiToken
from accounts.roles import Role, role_of
from tests.cast import PASSWORD, bearer, make_token, make_user

pytestmark = pytest.mark.django_db


def run(*words: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_token_create_prints_the_secret_alone_and_once() -> None:
    make_user("robot", Role.OPERATOR)
    out, err = run("token", "create", "robot", "--role", "operator", "--expires", "7", "--name", "scrape")
    assert bearer(out.strip()).get("/metrics").status_code == 200
    token = ApiToken.objects.get()
    assert (token.role, token.name) == ("operator", "scrape")
    assert timedelta(days=6) < token.expires_at - timezone.now() <= timedelta(days=7)
    secret = out.strip().split("_", 2)[2]
    assert secret not in err + run("token", "list")[0]


def test_token_create_without_a_role_makes_a_viewers() -> None:
    make_user("ada", Role.ADMIN)
    run("token", "create", "ada")
    assert ApiToken.objects.get().role == "viewer"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("nobody",), "gpudash user create"),
        (("vera", "--role", "admin"), "has the role viewer"),
        (("plain",), "has the role none"),
        (("vera", "--expires", "0"), "--expires"),
    ],
)
def test_token_create_says_why_it_does_not(words: tuple[str, ...], text: str) -> None:
    make_user("vera", Role.VIEWER)
    make_user("plain")
    with pytest.raises(CommandError, match=text):
        run("token", "create", *words)
    assert not ApiToken.objects.exists()


def test_token_revoke_stops_it_and_list_says_so() -> None:
    text = make_token(make_user("vera", Role.VIEWER))
    key = str(ApiToken.objects.get().pk)
    assert "  valid  " in run("token", "list")[0]
    run("token", "revoke", key)
    assert "  revoked  " in run("token", "list")[0]
    assert bearer(text).get("/metrics").status_code == 401
    with pytest.raises(CommandError, match="token list"):
        run("token", "revoke", "999")


def test_user_create_reads_the_password_and_gives_the_role(monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    run("user", "create", "olga", "--role", "operator", "--password-stdin")
    user = User.objects.get()
    assert user.check_password(PASSWORD)
    assert role_of(user) == Role.OPERATOR
    assert "olga  operator  active" in run("user", "list")[0]


@pytest.mark.parametrize("password", ["", "short", "password123"])
def test_user_create_refuses_a_weak_password(monkeypatch: Any, password: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
    with pytest.raises(CommandError):
        run("user", "create", "olga", "--password-stdin")
    assert not User.objects.exists()


def test_user_create_refuses_a_name_that_is_taken(monkeypatch: Any) -> None:
    make_user("olga", Role.VIEWER)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    with pytest.raises(CommandError, match="already exists"):
        run("user", "create", "olga", "--password-stdin")


def permissions(role: Role) -> set[str]:
    return set(Group.objects.get(name=role.value).permissions.values_list("codename", flat=True))


def test_migrate_makes_the_groups_with_rising_permissions() -> None:
    viewer, operator, admin = (permissions(role) for role in Role)
    assert {"view_card", "view_node", "view_allocation"} <= viewer <= operator <= admin
    assert all(name.startswith("view_") for name in viewer)
    assert {"add_user", "delete_apitoken", "add_cluster"} <= admin - operator


def test_setting_the_permissions_again_changes_nothing() -> None:
    before = {role: permissions(role) for role in Role}
    set_permissions()
    assert {role: permissions(role) for role in Role} == before
