"""No body of a request needs a mebibyte: a longer one is refused by its length, before any of it is read.

A body without a length: the web server puts one in its place (waitress), or Django reads nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from gpudash.middleware.refusals import too_large

#: A longer number is not worth reading: it is too large, whatever it is.
_DIGITS = 18


class BodyLimitMiddleware:
    """413 above `settings.DATA_UPLOAD_MAX_MEMORY_SIZE` bytes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or ""
        if length.isascii() and length.isdigit() and _bytes(length) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            return too_large(request)
        return self.get_response(request)


def _bytes(length: str) -> int:
    return int(length) if len(length) <= _DIGITS else 10**_DIGITS
