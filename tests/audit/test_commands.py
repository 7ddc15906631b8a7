"""Commands that would make or change an account without an entry are refused, with the name of ours; ours write theirs."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from accounts.models import ApiToken
from accounts.roles import Role
from audit.models import Entry
from tests.cast import make_token, make_user, signed_in

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        (("createsuperuser", "--noinput", "--username", "eve", "--email", "eve@example.com"), "user create NAME --role admin"),
        (("changepassword", "vera"), "user set-password NAME"),
        (("loaddata", "eve.json"), "backup"),
    ],
)  # fmt: skip
def test_django_s_own_are_refused(command: tuple[str, ...], instead: str) -> None:
    make_user("vera", Role.VIEWER)
    with pytest.raises(CommandError, match=instead):
        call_command(*command)
    assert list(User.objects.values_list("username", flat=True)) == ["vera"]


def test_a_password_that_is_set_is_written_down_and_ends_sessions_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    vera = make_user("vera", Role.VIEWER)
    client, _token = signed_in(vera), make_token(vera)
    monkeypatch.setattr("sys.stdin", io.StringIO("a-long-Password-8\n"))
    call_command("user", "set-password", "vera", "--password-stdin")
    vera.refresh_from_db()
    assert vera.check_password("a-long-Password-8")
    assert ApiToken.objects.get().revoked_at is not None
    assert client.get("/").status_code == 302
    rows: Any = Entry.objects.filter(kind="command").order_by("number").values_list("action", "target")
    assert [row[0] for row in rows] == ["token-revoke", "sessions-end", "password-change"]


def test_a_bad_password_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    make_user("vera", Role.VIEWER)
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    with pytest.raises(CommandError, match="too short"):
        call_command("user", "set-password", "vera", "--password-stdin")
    assert not Entry.objects.filter(action="password-change").exists()
