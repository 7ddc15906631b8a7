"""One view, two answers: the whole page, or only its live part for the refresh.

The live part carries a fingerprint (ages left out). A refresh that names the fingerprint that it has gets 204 when nothing changed,
so the reader's place is touched only when there is something new. Knows no tables.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.safestring import mark_safe

from pages.frame.navigation import sync_line

_AGES = re.compile(r"(<time[^>]*>)[^<]*")
HEADER = "X-Fingerprint"


class LivePage(HttpResponse):
    """A whole page. live, fingerprint: the part that is refreshed; trigger: what a refresh tells the page's script besides."""

    live = fingerprint = trigger = ""


def live_page(
    request: HttpRequest, page: str, part: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """page: template of the whole, which prints `live` where the part belongs. part: template of what is refreshed.

    status: of the whole page; a refresh of it is one that works.
    """
    live = render_to_string(part, context, request)
    fingerprint = fingerprint_of(live)
    if request.htmx:  # type: ignore[attr-defined]
        response = refreshed(request, live.encode(), fingerprint, _trigger(request))
    else:
        more = {"live": mark_safe(live), "fingerprint": fingerprint, "here": request.get_full_path()}  # noqa: S308 - rendered above
        whole = LivePage(render_to_string(page, context | more, request), status=status)
        whole.live, whole.fingerprint, whole.trigger = live, fingerprint, _trigger(request)
        response = whole
    response.headers["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ["HX-Request"])
    return response


def fingerprint_of(html: str) -> str:
    """The same for the same content, whatever the ages in it say."""
    return blake2b(_AGES.sub(r"\1", html).encode(), digest_size=9).hexdigest()


def refreshed(request: HttpRequest, live: bytes, fingerprint: str, trigger: str) -> HttpResponse:
    """The live part, or 204 for who has it."""
    known = request.headers.get(HEADER) == fingerprint
    response = HttpResponse(status=204) if known else HttpResponse(live)
    if trigger:
        response.headers["HX-Trigger"] = trigger
    response.headers[HEADER] = fingerprint
    return response


def _trigger(request: HttpRequest) -> str:
    """The header that brings the line of the clusters up to date; "" without one."""
    line = sync_line(request)
    return json.dumps({"sync": {"level": line.level, "text": line.text}}) if line else ""
