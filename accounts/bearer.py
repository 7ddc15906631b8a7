"""`Authorization: Bearer gpd_<id>_<secret>`: who is it? Knows nothing of views, of REST or of sessions."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Any

import msgspec
from django.utils import timezone

from accounts.models import ApiToken, hash_secret
from accounts.networks import Address, reached_from
from accounts.roles import Role, granted
from accounts.scopes import access, within
from audit.actions import Action
from audit.acts import refuse
from audit.who import acting, current
from runtime.scope import Scope

_TOKEN = re.compile(r"^gpd_([1-9][0-9]{0,17})_([A-Za-z0-9_-]{20,128})$", re.ASCII)
#: (id, SHA-256 of the secret) of a bearer token; None: the request has none.
Presented = tuple[int, str] | None
#: Compared with when there is no such token, so that the answer takes as long.
_NOBODY = hash_secret("")
#: One text for all: it does not say whether the token was wrong, has expired, was revoked, comes from another address, or whether
#: its user is deactivated.
REFUSED = "Invalid bearer token: unknown, expired or revoked. Create a new token on the account page."


class BadToken(Exception):
    """The request carries a token that does not let in."""

    def __init__(self) -> None:
        super().__init__(REFUSED)


@dataclass(frozen=True)
class Bearer:
    """Who a token speaks for, with which role (the lesser of the token's and the user's), and for what (what both are for)."""

    user: Any
    token: ApiToken
    role: Role | None
    scope: Scope


def credentials(authorization: str) -> str | None:
    """What an Authorization header says after the scheme Bearer, in whatever case (RFC 9110, 11.1); None for any other scheme.

    Everything that asks whether a request brings a token asks here, so that no two of them read one header differently.
    """
    scheme, _, text = authorization.partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None


def presented(authorization: str) -> Presented:
    """What an Authorization header presents; None when it is no bearer header. Raises BadToken."""
    text = credentials(authorization)
    if text is None:
        return None
    found = _TOKEN.match(text)
    if found is None:
        raise BadToken
    return int(found[1]), hash_secret(found[2])


def bearer_of(authorization: str, address: Address | None) -> Bearer | None:
    """The bearer behind an Authorization header; None when it is no bearer header. Raises BadToken."""
    given = presented(authorization)
    return None if given is None else bearer_behind(*given, address)


def bearer_behind(key: int, digest: str, address: Address | None) -> Bearer:
    """Who presents, from this address, the token of this id with a secret of this digest. Raises BadToken."""
    token = ApiToken.objects.select_related("user").filter(pk=key).first()
    same = hmac.compare_digest(token.secret_hash if token else _NOBODY, digest)
    now = timezone.now()
    if token is None or not same or not token.usable(now) or not token.user.is_active:
        raise BadToken
    check_address(token, address)
    token.note_use(now)
    may = within(access(*granted(token.user)), Role(token.role), token.places.split())
    return Bearer(token.user, token, may.role, may.scope)


def check_address(token: ApiToken, address: Address | None) -> None:
    """Raises BadToken where it may not be used from there; the audit log says so, since somebody else may have found it."""
    if not reached_from(token.networks.split(), address):
        known = msgspec.structs.replace(current(), name=token.user.get_username(), token=f"gpd_{token.pk}")
        with acting(known):
            refuse(Action.ACCESS, str(token), wanted="another address")
        raise BadToken
