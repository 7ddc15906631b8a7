"""The one user of a one-process gpudash on loopback: an admin without a password, signed in by a link that is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model

from accounts.groups import set_permissions
from accounts.roles import Role
from accounts.users import follow
from audit.actions import Action
from audit.acts import act, together

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NAME = "local"


def local_admin() -> User:
    """The user `local`, made at the first call; no password can sign it in."""
    set_permissions()
    user = get_user_model().objects.filter(username=NAME).first()
    with together():
        if user is None:
            user = get_user_model()(username=NAME)
            user.set_unusable_password()
            with act(Action.USER_CREATE, NAME):
                user.save()
        follow(user, Role.ADMIN, ())
    return user
