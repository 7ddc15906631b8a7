"""API tokens and the memory of failed sign-ins. Accounts and groups are Django's own."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from gpudash.access.roles import Role

SECRET_BYTES = 32
PREFIX_LENGTH = 6
#: `last_used_at` is written at most this often: a scrape every few seconds must not be a write every few seconds.
USE_RESOLUTION = timedelta(minutes=1)


def hash_secret(secret: str) -> str:
    """SHA-256, as hex. A slow hash protects what people choose and others can guess; these secrets are 256 random bits, which
    nobody can try out, and they are checked at each request, where a slow hash would only cost time."""
    return hashlib.sha256(secret.encode()).hexdigest()


class ApiToken(models.Model):
    """A bearer token: `gpd_<id>_<secret>`. Only the hash of the secret is kept; the token itself is shown once.

    role: what the token may do, never more than its user may do at the moment of use. prefix: the first characters of the
    secret, to recognise it by.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    role = models.CharField(max_length=16, choices=Role.choices)
    secret_hash = models.CharField(max_length=64, editable=False)
    prefix = models.CharField(max_length=PREFIX_LENGTH, editable=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["user", "-created_at"], name="tokens_of_a_user")]

    def __str__(self) -> str:
        return f"gpd_{self.pk}_{self.prefix}…"

    @classmethod
    def issue(cls, user: models.Model, name: str, role: Role, expires_at: datetime) -> tuple[ApiToken, str]:
        """Make a token. Gives the row and the text that is shown once."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        token = cls.objects.create(
            user_id=user.pk,
            name=name,
            role=role.value,
            secret_hash=hash_secret(secret),
            prefix=secret[:PREFIX_LENGTH],
            created_at=timezone.now(),
            expires_at=expires_at,
        )
        return token, f"gpd_{token.pk}_{secret}"

    def usable(self, now: datetime) -> bool:
        return self.revoked_at is None and self.expires_at > now

    def revoke(self) -> None:
        """It stops working at once. A second time changes nothing."""
        ApiToken.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=timezone.now())

    def note_use(self, now: datetime) -> None:
        if self.last_used_at is None or now - self.last_used_at >= USE_RESOLUTION:
            ApiToken.objects.filter(pk=self.pk).update(last_used_at=now)


class FailedSignIn(models.Model):
    """A sign-in that was refused: name as it was typed (cut), address, time. In a table, so that all processes share it."""

    username = models.CharField(max_length=150)
    address = models.CharField(max_length=64)
    failed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["username", "address", "failed_at"], name="failures_of_one")]

    def __str__(self) -> str:
        return f"{self.address} {self.failed_at:%Y-%m-%d %H:%M}"
