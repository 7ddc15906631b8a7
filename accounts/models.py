"""API tokens, and what is remembered of sign-ins. Accounts and groups are Django's own."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import models
from django.utils import timezone

from accounts.roles import Role
from audit.actions import Action
from audit.acts import act

SECRET_BYTES = 32
PREFIX_LENGTH = 6
#: `last_used_at` is written at most this often: a scrape every few seconds must not be a write every few seconds.
USE_RESOLUTION = timedelta(minutes=1)


def hash_secret(secret: str) -> str:
    """SHA-256, as hex. A slow hash protects what people choose and others can guess; these secrets are 256 random bits, which
    nobody can try out, and they are checked at each request, where a slow hash would only cost time."""
    return hashlib.sha256(secret.encode()).hexdigest()


class TokenEnded(Exception):
    """The token that asks for another one has been revoked or has expired in the meantime."""


class TooManyTokens(Exception):
    """The user has as many usable tokens as one may have (`settings.TOKENS_PER_USER`)."""


class ApiToken(models.Model):
    """A bearer token: `gpd_<id>_<secret>`. Only the hash of the secret is kept; the token itself is shown once.

    role: what the token may do, never more than its user may do at the moment of use. prefix: the first characters of the
    secret, to recognise it by. parent: the token that asked for this one; None where a person did.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    role = models.CharField(max_length=16, choices=Role.choices)
    secret_hash = models.CharField(max_length=64, editable=False)
    prefix = models.CharField(max_length=PREFIX_LENGTH, editable=False)
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, editable=False, related_name="children")
    created_at = models.DateTimeField()
    #: What it is for, as `scopes` reads it, and where it may be used from (`networks`), one a line; "": as its user, from anywhere.
    places = models.TextField(blank=True, default="", db_default="")
    networks = models.TextField(blank=True, default="", db_default="")
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["user", "-created_at"], name="tokens_of_a_user")]

    def __str__(self) -> str:
        return f"gpd_{self.pk}_{self.prefix}…"

    @classmethod
    def issue(
        cls,
        user: models.Model,
        name: str,
        role: Role,
        expires_at: datetime,
        parent: ApiToken | None = None,
        *,
        places: Iterable[str] = (),
        networks: Iterable[str] = (),
    ) -> tuple[ApiToken, str]:
        """Make a token. Gives the row and the text that is shown once. Raises TokenEnded when the parent is not usable, and
        TooManyTokens."""
        with act(Action.TOKEN_CREATE) as made:
            token, secret = cls._insert(user, name, role, expires_at, parent, places=places, networks=networks)
            of: str = user.get_username()  # type: ignore[attr-defined]
            made.on(str(token), of=of, name=name, role=role.value, **token.limits)
        return token, f"gpd_{token.pk}_{secret}"

    @classmethod
    def _insert(
        cls,
        user: models.Model,
        name: str,
        role: Role,
        expires_at: datetime,
        parent: ApiToken | None,
        *,
        places: Iterable[str],
        networks: Iterable[str],
    ) -> tuple[ApiToken, str]:
        """The row, and its secret."""
        now, secret = timezone.now(), secrets.token_urlsafe(SECRET_BYTES)
        # Locked, so that a revocation at the same moment comes before (and this is refused) or after (and finds the child).
        if parent and not cls.objects.select_for_update().get(pk=parent.pk).usable(now):
            raise TokenEnded
        # Locked, so that two at once do not both find room for the last one.
        get_user_model()._default_manager.select_for_update().get(pk=user.pk)
        if cls.objects.filter(user_id=user.pk, revoked_at=None, expires_at__gt=now).count() >= settings.TOKENS_PER_USER:
            raise TooManyTokens
        token = cls.objects.create(
            user_id=user.pk,
            name=name,
            role=role.value,
            secret_hash=hash_secret(secret),
            prefix=secret[:PREFIX_LENGTH],
            parent=parent,
            places="\n".join(places),
            networks="\n".join(networks),
            created_at=now,
            expires_at=expires_at,
        )
        return token, secret

    @property
    def limits(self) -> dict[str, Any]:
        """What it is limited to, in words; {} for nothing."""
        found = {"scope": self.places, "networks": self.networks}
        return {name: ", ".join(text.split()) for name, text in found.items() if text}

    def usable(self, now: datetime) -> bool:
        return self.revoked_at is None and self.expires_at > now

    @classmethod
    def revoke_all(cls, user: models.Model) -> int:
        """All of a user. How many stopped."""
        with act(Action.TOKEN_REVOKE, str(user)) as revoked:
            stopped = cls.objects.filter(user_id=user.pk, revoked_at=None).update(revoked_at=timezone.now())
            revoked.on(str(user), stopped=stopped)
            if not stopped:
                revoked.nothing()
        return stopped

    def revoke(self) -> int:
        """It stops working at once, and so do the tokens that it made, and theirs. How many stopped; none a second time."""
        now, stopped, generation = timezone.now(), 0, [self.pk]
        with act(Action.TOKEN_REVOKE) as revoked:
            while generation:
                stopped += ApiToken.objects.filter(pk__in=generation, revoked_at=None).update(revoked_at=now)
                generation = list(ApiToken.objects.filter(parent__in=generation).values_list("pk", flat=True))
            revoked.on(str(self), of=self.user.get_username(), name=self.name, stopped=stopped)
            if not stopped:
                revoked.nothing()
        return stopped

    def note_use(self, now: datetime) -> None:
        if self.last_used_at is None or now - self.last_used_at >= USE_RESOLUTION:
            ApiToken.objects.filter(pk=self.pk).update(last_used_at=now)


class UserScope(models.Model):
    """What the role of a user is for: places, one a line, as `scopes` reads them. Who has no row has the role on everything."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="scope")
    places = models.TextField()

    class Meta:
        # No place at all would read as everything.
        constraints = [models.CheckConstraint(condition=~models.Q(places=""), name="scope_has_places")]

    def __str__(self) -> str:
        return self.places


class SignInAllowance(models.Model):
    """How much of one limit on guessing is used up: nothing from `free_at` on (see `sign_in_limit`).

    key: what is limited, such as an account at an address. In a table, so that all processes share it.
    """

    key = models.CharField(max_length=160, unique=True)
    free_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.key} until {self.free_at:%Y-%m-%d %H:%M}"


class KnownAddress(models.Model):
    """Where an account has signed in well: guessing from elsewhere does not hold it up there."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    address = models.CharField(max_length=64)
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "address"], name="one_row_of_an_address")]

    def __str__(self) -> str:
        return self.address


# Tables that stand in modules of their own; Django looks here.
from accounts.saved_views import SavedView  # noqa: E402, F401
