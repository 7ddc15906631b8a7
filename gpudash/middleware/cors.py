"""Pages of other origins may read REST: those that `GPUDASH_CORS_ORIGINS` lists, such as a Headlamp with our plugin.

A browser lets a page read the answer of another origin only if the answer permits it (https://fetch.spec.whatwg.org/#http-cors-protocol).
Cookies never count: the page sends a token, so it reads what the owner of the token may read. Only GET and HEAD, only below /api/v1.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

_BELOW = "/api/v1"
_READING = ("GET", "HEAD")
#: So long a browser does not ask again whether it may ask.
_KNOWN_S = 600


class CorsMiddleware:
    """Outside of all that answers, so that the page can read refusals too. Does nothing where no origin is listed."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not settings.CORS_ORIGINS or not request.path_info.startswith(_BELOW):
            return self.get_response(request)
        origin = request.headers.get("Origin", "")
        listed = origin in settings.CORS_ORIGINS
        asks_first = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        response = _permission() if listed and asks_first else self.get_response(request)
        if listed and (asks_first or request.method in _READING):
            response.headers["Access-Control-Allow-Origin"] = origin
        patch_vary_headers(response, ("Origin",))
        return response


def _permission() -> HttpResponse:
    """The answer to a preflight request. It has no token yet, and needs none: it says nothing but this."""
    return HttpResponse(
        status=204,
        headers={
            "Access-Control-Allow-Methods": ", ".join(_READING),
            "Access-Control-Allow-Headers": "Authorization",
            "Access-Control-Max-Age": str(_KNOWN_S),
        },
    )
