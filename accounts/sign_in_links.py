"""Links that sign in once, for the demo. Off unless `settings.SIGN_IN_LINKS` is True."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.core import signing
from django.urls import reverse
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SALT = "accounts.sign_in_links"
MAX_AGE_S = 3600


def enabled() -> bool:
    return bool(getattr(settings, "SIGN_IN_LINKS", False))


def is_only_way() -> bool:
    """Whether links are on and no active user has a password."""
    users = get_user_model()._default_manager.filter(is_active=True).exclude(password="")
    return enabled() and not users.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX).exists()


def make_link(user: User) -> str:
    """The path of a link that signs this user in, once, within an hour."""
    token = signing.dumps([user.pk, _mark(user.last_login)], salt=SALT)
    return reverse("sign-in-link", args=[token])


def user_of(token: str) -> User | None:
    """The user whom a link would sign in, or None when it is not valid, too old or was used. Changes nothing."""
    if not enabled():
        return None
    try:
        key, mark = signing.loads(token, salt=SALT, max_age=MAX_AGE_S)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    user = get_user_model().objects.filter(pk=key, is_active=True).first()
    return user if user is not None and _mark(user.last_login) == mark else None


def redeem(token: str) -> User | None:
    """Use a link up; its user as in `user_of`.

    A link carries the time of its user's last sign-in, and redeeming it sets a new one where the old one still stands: of
    two that redeem it at the same moment, one wins.
    """
    user = user_of(token)
    if user is None:
        return None
    unused = get_user_model().objects.filter(pk=user.pk, last_login=user.last_login)
    return user if unused.update(last_login=timezone.now()) else None


def _mark(last_login: datetime | None) -> str:
    return last_login.isoformat() if last_login else ""
