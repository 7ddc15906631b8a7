"""The second step of a sign-in with a password: a code of an authenticator app (TOTP), or one of the codes for when it is lost.

allauth keeps the secrets and compares the codes. Ours are how often one may guess, that a code counts once in all processes,
and that secrets lie encrypted in the database.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret, validate_totp_code
from django.db import transaction

from accounts import sign_in_limit
from accounts.sign_in_limit import Limit, TooManyTries, Use
from audit.actions import Action
from audit.acts import act
from runtime.sealed import WrongKey, seal, unseal

#: Codes are short: so few tries, whoever has the password.
TRIES = Limit(5, timedelta(minutes=15))
#: As long as a code may be taken, and the neighbour on either side.
ONCE = Limit(1, timedelta(seconds=90))
MAX_LENGTH = 32
_PURPOSE = "accounts.two_factor"


class Secrets(DefaultMFAAdapter):
    """Encrypted by the secret key: who reads a copy of the database makes no codes of it. With another key none is right, unless
    the key of then is among `SECRET_KEY_FALLBACKS`."""

    def encrypt(self, text: str) -> str:
        return seal(_PURPOSE, text)

    def decrypt(self, encrypted_text: str) -> str:
        """Raises WrongKey, where the secret key has become another one."""
        return unseal(_PURPOSE, encrypted_text)


def is_on(user: Any) -> bool:
    return bool(Authenticator.objects.filter(user_id=user.pk, type=Authenticator.Type.TOTP).exists())


def new_secret() -> str:
    return str(generate_totp_secret())


def fits(user: Any, secret: str, code: str) -> bool:
    """Whether the app shows codes of this new secret. Raises TooManyTries."""
    uses = _uses(user)
    sign_in_limit.take(uses)
    good = bool(validate_totp_code(secret, code[:MAX_LENGTH]))
    if good:
        sign_in_limit.forgive(uses)
    return good


def switch_on(user: Any, secret: str) -> list[str]:
    """From the next sign-in on. The codes for when the app is lost; they are shown once."""
    with act(Action.TWO_FACTOR, user.get_username(), state="on"):
        _forget(user)
        TOTP.activate(user, secret)
        codes: list[str] = RecoveryCodes.activate(user).generate_codes()
    return codes


def switch_off(user: Any) -> bool:
    """Whether it was on."""
    with act(Action.TWO_FACTOR, user.get_username(), state="off") as done:
        was = _forget(user)
        if not was:
            done.nothing()
    return was


def _forget(user: Any) -> bool:
    return bool(Authenticator.objects.filter(user_id=user.pk).delete()[0])


def check(user: Any, code: str) -> bool:
    """Whether this is a code of theirs that was not used yet. Raises TooManyTries."""
    uses, code = _uses(user), code[:MAX_LENGTH]
    sign_in_limit.check(uses)
    sign_in_limit.take(uses)
    good = _is_good(user, code)
    if good:
        sign_in_limit.forgive(uses)
    return good


@transaction.atomic
def _is_good(user: Any, code: str) -> bool:
    for one in Authenticator.objects.filter(user_id=user.pk).order_by("-type"):
        try:
            good = one.wrap().validate_code(code)
        except WrongKey:
            return False
        if good:
            return _is_first_use(user, code)
    return False


def _is_first_use(user: Any, code: str) -> bool:
    """allauth notes used codes of an app for one process only."""
    used = hashlib.sha256(normalize_user_code(code).encode()).hexdigest()[:32]
    try:
        sign_in_limit.take([Use(f"used code #{user.pk} {used}", ONCE)])
    except TooManyTries:
        return False
    return True


def _uses(user: Any) -> list[Use]:
    return [Use(f"code #{user.pk}", TRIES)]
