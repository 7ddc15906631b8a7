"""Who tries to sign in: which account, from where, and whether this account has signed in from there before.

Guessing must not lock an owner out. So an account is known at the addresses from which it signed in well, and in the browsers
with which it did: those carry a signed cookie, which helps where all requests seem to come from one address. A name that
nobody has is asked for and counted like any other.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.addresses import client_address
from accounts.models import KnownAddress
from accounts.sign_in_limit import ACCOUNT, ADDRESS, DEVICE, PAIR, Use

COOKIE = "gpudash_device"
SALT = "accounts.visitor"
KNOWN_FOR = timedelta(days=90)
MOST_ADDRESSES = 20
ON_THE_WAY = timedelta(minutes=15)


@dataclass(frozen=True)
class Visitor:
    """account: the same text for all spellings that lead to one account. device: "" where the cookie is of another account."""

    account: str
    address: str
    device: str
    address_known: bool

    @property
    def known(self) -> bool:
        return bool(self.device) or self.address_known

    @property
    def uses(self) -> list[Use]:
        """The limits that a try of theirs counts against."""
        if self.device:
            return [Use(f"device {self.account} {self.device}", DEVICE)]
        pair = Use(f"pair {self.account} {self.address}", PAIR)
        if self.address_known:
            return [pair]
        over_all = [Use(f"address {self.address}", ADDRESS, True), Use(f"account {self.account}", ACCOUNT, True)]
        return [pair, *over_all]


def visitor_of(request: HttpRequest, name: str) -> Visitor:
    """name: as the sign-in form has cleaned it, which is how the account is looked up."""
    key = get_user_model().objects.filter(username=name).values_list("pk", flat=True).first()
    address = client_address(request)
    known = KnownAddress.objects.filter(user_id=key or 0, address=address, seen_at__gt=timezone.now() - KNOWN_FOR)
    account = f"#{key}" if key else hashlib.sha256(name.encode()).hexdigest()[:32]
    return Visitor(account, address, _device(request, key), known.exists())


def remember(user: Any, request: HttpRequest, response: HttpResponse) -> None:
    """This account has signed in well from here."""
    now = timezone.now()
    own = KnownAddress.objects.filter(user=user)
    KnownAddress.objects.update_or_create(user=user, address=client_address(request), defaults={"seen_at": now})
    own.filter(seen_at__lte=now - KNOWN_FOR).delete()
    own.filter(
        pk__in=own.order_by("-seen_at").values_list("pk", flat=True)[MOST_ADDRESSES : MOST_ADDRESSES * 2]
    ).delete()
    device = _device(request, user.pk) or secrets.token_urlsafe(12)
    response.set_cookie(
        COOKIE,
        signing.dumps([user.pk, device], salt=SALT),
        max_age=KNOWN_FOR,
        path=settings.BASE_PATH,
        secure=settings.TLS,
        httponly=True,
        samesite="Lax",
    )


def on_the_way(request: Any) -> None:
    """What is kept of a stranger between two steps of a sign-in is kept for a short time: anybody may begin one, again and again."""
    if not request.user.is_authenticated:
        request.session.set_expiry(int(ON_THE_WAY.total_seconds()))


def arrived(request: Any) -> None:
    """Who has signed in has a session as long as any."""
    request.session.set_expiry(None)


def _device(request: HttpRequest, account: int | None) -> str:
    try:
        key, device = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=KNOWN_FOR)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(device) if key == account else ""
