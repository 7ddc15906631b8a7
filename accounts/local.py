"""The one user of a one-process gpudash on loopback: an admin without a password, signed in by a link that is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model

from accounts.groups import set_permissions
from accounts.roles import Role, set_role

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NAME = "local"


def local_admin() -> User:
    """The user `local`, made at the first call; no password can sign it in."""
    set_permissions()
    user, made = get_user_model().objects.get_or_create(username=NAME)
    if made:
        user.set_unusable_password()
        user.save()
    set_role(user, Role.ADMIN)
    return user
