"""Pages are in the reader's time zone: the browser names it in a cookie (static/js/times.js). REST and CSV are not asked.

Without the cookie, or with one that names no zone, times are in the zone of the installation. Each page says in which they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

COOKIE = "zone"
#: The longest name in the database of zones has 32 letters.
_LONGEST = 64


class TimeZoneMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = None if request.path_info.startswith("/api/") else zone_of(request.COOKIES.get(COOKIE, ""))
        with timezone.override(zone or timezone.get_default_timezone()):
            return self.get_response(request)


@lru_cache(maxsize=512)
def zone_of(name: str) -> ZoneInfo | None:
    """None for a name that is none."""
    try:
        return ZoneInfo(name) if 0 < len(name) <= _LONGEST and name.isascii() else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
