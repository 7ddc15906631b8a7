"""What is shown once: a new token, the codes for when an app is lost. It has to last from the POST that made it to the page after.

The answer to a POST is a redirect, so that loading a page again makes nothing again. What is shown then must lie nowhere whole: not
in an address (histories, proxies, logs), and not in the database, where sessions lie. So half of it lies with each: the session has
it encrypted, and the browser has the key in a cookie that no script reads and that only the account's pages are sent. The first
page that shows it takes both away; who has a copy of the database, or the cookie alone, has nothing.
"""

from __future__ import annotations

from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import patch_cache_control

COOKIE = "gpudash_once"
#: In the session: [what it is, the encrypted text].
KEPT = "shown_once"
#: A redirect takes less. Later it is not shown any more.
LASTS_S = 120


def keep(request: HttpRequest, response: HttpResponse, what: str, text: str) -> HttpResponse:
    """Have the next page that asks for `what` show this text. response: the redirect to it. What was kept before is gone."""
    key = Fernet.generate_key()
    request.session[KEPT] = [what, Fernet(key).encrypt(text.encode()).decode()]
    response.set_cookie(
        COOKIE,
        key.decode(),
        max_age=LASTS_S,
        path=reverse("account"),
        secure=settings.TLS,
        httponly=True,
        samesite="Strict",
    )
    return response


def take(request: HttpRequest, what: str) -> str:
    """The text that was kept; "" for none, or where key and text do not belong together. It is gone from the session now."""
    kept: Any = request.session.get(KEPT)
    if request.method != "GET" or not isinstance(kept, list) or len(kept) != 2 or kept[0] != what:
        return ""
    # The session is written before the answer leaves: where it cannot be, the answer is another one and shows nothing.
    del request.session[KEPT]
    try:
        return Fernet(request.COOKIES.get(COOKIE, "")).decrypt(kept[1], ttl=LASTS_S).decode()
    except (InvalidToken, ValueError, TypeError):
        return ""


def forget(response: HttpResponse) -> HttpResponse:
    """Of a page that has shown it: the browser drops the key, and nobody compresses the page (its length would tell of the text)."""
    patch_cache_control(response, no_transform=True)
    response.delete_cookie(COOKIE, path=reverse("account"), samesite="Strict")
    return response
