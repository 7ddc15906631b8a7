"""`Authorization: Bearer gpd_<id>_<secret>`: who is it? Knows nothing of views, of REST or of sessions."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from accounts.models import ApiToken, hash_secret
from accounts.roles import Role, lesser, role_of

_TOKEN = re.compile(r"^gpd_([0-9]{1,18})_([A-Za-z0-9_-]{20,128})$", re.ASCII)
#: (id, SHA-256 of the secret) of a bearer token; None: the request has none.
Presented = tuple[int, str] | None
#: Compared with when there is no such token, so that the answer takes as long.
_NOBODY = hash_secret("")
#: One text for all: it does not say whether the token was wrong, has expired, was revoked, or its user is deactivated.
REFUSED = "The bearer token is not valid: it is wrong, has expired or was revoked. Make a new one on the account page."


class BadToken(Exception):
    """The request carries a token that does not let in."""

    def __init__(self) -> None:
        super().__init__(REFUSED)


@dataclass(frozen=True)
class Bearer:
    """Who a token speaks for, and with which role (the lesser of the token's and the user's)."""

    user: Any
    token: ApiToken
    role: Role | None


def presented(authorization: str) -> Presented:
    """What an Authorization header presents; None when it is no bearer header. Raises BadToken."""
    scheme, _, text = authorization.partition(" ")
    if scheme.lower() != "bearer":
        return None
    found = _TOKEN.match(text.strip())
    if found is None:
        raise BadToken
    return int(found[1]), hash_secret(found[2])


def bearer_of(authorization: str) -> Bearer | None:
    """The bearer behind an Authorization header; None when it is no bearer header. Raises BadToken."""
    given = presented(authorization)
    return None if given is None else bearer_behind(*given)


def bearer_behind(key: int, digest: str) -> Bearer:
    """Who presents the token of this id with a secret of this digest. Raises BadToken."""
    token = ApiToken.objects.select_related("user").filter(pk=key).first()
    same = hmac.compare_digest(token.secret_hash if token else _NOBODY, digest)
    now = timezone.now()
    if token is None or not same or not token.usable(now) or not token.user.is_active:
        raise BadToken
    token.note_use(now)
    return Bearer(token.user, token, lesser(Role(token.role), role_of(token.user)))
