"""The keys of the chain, derived from the secret key: who has only the database makes no entry that holds."""

from __future__ import annotations

import hmac
from functools import lru_cache

from django.conf import settings


def keys() -> tuple[bytes, ...]:
    """The oldest first. The last one is of `SECRET_KEY` and writes; those before are of `SECRET_KEY_FALLBACKS` and only verify."""
    return tuple(_derived(secret) for secret in (*reversed(settings.SECRET_KEY_FALLBACKS), settings.SECRET_KEY))


def sealed(key: bytes, text: bytes) -> str:
    """HMAC-SHA256, in hex."""
    return hmac.digest(key, text, "sha256").hex()


@lru_cache(maxsize=16)
def _derived(secret: str) -> bytes:
    return hmac.digest(secret.encode(), b"gpudash: the chain of the audit log", "sha256")
