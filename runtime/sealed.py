"""Secrets that lie encrypted in the database: who reads a copy of it makes nothing of them without the secret key.

Encrypted with the secret key of today, and decrypted by those of `SECRET_KEY_FALLBACKS` too. What is sealed for one purpose cannot be
opened for another.
"""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class WrongKey(Exception):
    """It was encrypted with a secret key that is not known any more, or for another purpose."""


def seal(purpose: str, text: str) -> str:
    return _cipher(purpose).encrypt(text.encode()).decode()


def unseal(purpose: str, sealed: str) -> str:
    """Raises WrongKey."""
    try:
        return _cipher(purpose).decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise WrongKey from None


def _cipher(purpose: str) -> MultiFernet:
    return MultiFernet([_of(purpose, key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _of(purpose: str, key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(purpose.encode() + key.encode()).digest()))
