"""Hashing a password is slow by intent, so little of it is done at once: a flood of sign-ins must not burn all processors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

#: Characters. Longer ones are refused before anything is hashed.
MAX_LENGTH = 1024
RETRY_AFTER_S = 2


class Busy(Exception):
    """All that may be hashed at once is being hashed."""


class PasswordChecks:
    """At most `limit` at once in this process; nobody waits. One of them is kept for who has signed in here before."""

    def __init__(self, limit: int) -> None:
        self.limit(limit)

    def limit(self, limit: int) -> None:
        """Another limit, before the first check."""
        self._all, self._strangers = BoundedSemaphore(limit), BoundedSemaphore(max(limit - 1, 1))

    @contextmanager
    def one(self, known: bool) -> Iterator[None]:
        """Raises Busy."""
        with ExitStack() as taken:
            for semaphore in (self._all,) if known else (self._strangers, self._all):
                if not semaphore.acquire(blocking=False):
                    raise Busy
                taken.callback(semaphore.release)
            yield


def has_password(request: Any) -> bool:
    """Whether whoever asks may sign in with a password: not where local accounts are off, nor with an account of somebody else's."""
    return bool(settings.LOCAL_ACCOUNTS and request.user.has_usable_password())


checks = PasswordChecks(settings.PASSWORD_CHECKS)


class MaximumLengthValidator:
    """AUTH_PASSWORD_VALIDATORS: a password that is set must be one that can be signed in with."""

    def validate(self, password: str, user: object = None) -> None:
        if len(password) > MAX_LENGTH:
            raise ValidationError(self.get_help_text(), code="password_too_long")

    def get_help_text(self) -> str:
        return _("Your password must have at most %d characters.") % MAX_LENGTH


class EndsTokens:
    """No rule for passwords: Django tells those that are set as rules of each new password, whoever sets it and how.

    A hash that is made anew at a sign-in, since a later version hashes harder, is no new password.
    """

    def validate(self, password: str, user: Any = None) -> None:
        """Everything is good."""

    def get_help_text(self) -> str:
        return _("Changing the password revokes all of your API tokens.")

    def password_changed(self, password: str, user: Any = None) -> None:
        """Whoever has found a token must not have it still when its user has changed the password for that."""
        from accounts.models import ApiToken

        if user is not None and user.pk is not None:
            ApiToken.revoke_all(user)
