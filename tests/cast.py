"""The cast of the tests: one user per role, one without a role, and tokens of theirs."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken
from accounts.roles import Role, set_role

PASSWORD = "correct horse battery"


def make_user(name: str, role: Role | None = None) -> User:
    user = User.objects.create_user(name)
    set_role(user, role)
    return user


def make_token(user: User, role: Role = Role.VIEWER, *, days: float = 1) -> str:
    """The text of a new token."""
    return ApiToken.issue(user, "test", role, timezone.now() + timedelta(days=days))[1]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def bearer(text: str) -> Client:
    """A client that sends this token and no cookie."""
    return Client(headers={"Authorization": f"Bearer {text}"})
