"""Refreshes of open pages are asked for all day: their answers carry no headers that only a document needs.

Where nothing or only changes are sent (204, or JSON that the page's own script asked for), there is nothing to frame, open or run.
Such an answer is kept by nobody.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from pages.frame.live import HEADER

#: Of documents; and of stores, since it is not to be kept.
LEFT_OUT = (
    "Content-Security-Policy",
    "Cross-Origin-Opener-Policy",
    "Referrer-Policy",
    "X-Frame-Options",
    "Content-Language",
    "Vary",
)


class ShortHeadsMiddleware:
    """Outside of all that set them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if HEADER in response.headers and (response.status_code == 204 or _is_json(response)):
            for name in LEFT_OUT:
                response.headers.pop(name, None)
            if response.status_code == 204:
                response.headers.pop("Content-Type", None)
            response.headers["Cache-Control"] = "no-store"
        return response


def _is_json(response: HttpResponse) -> bool:
    return response.headers.get("Content-Type") == "application/json"
