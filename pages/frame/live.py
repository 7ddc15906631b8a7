"""One view, two answers: the whole page, or its live part where that has changed since the reader's page was drawn.

The live part carries a fingerprint of its content (ages left out) and of the line of the clusters in the header. A refresh names
the one that it has. Nothing changed: 204, and no more headers than needed. Something changed: the part, which the browser puts into
what it shows (static/js/morph.js). Knows no tables.

Pages ask, nothing is pushed: the web server has 8 threads (waitress; each process of a team the same), and an open stream would
hold one for as long as a page is open. Asking is cheap: connections are kept, and where a view is shared the version of the mirror
answers without any rendering (`gpudash.middleware.shared_answers`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.safestring import mark_safe

from pages.frame.navigation import sync_line

#: The browser writes these ages itself (times.js).
_AGES = re.compile(r'(<time[^>]* data-form="[^>]*>)[^<]*')
HEADER = "X-Fingerprint"


@dataclass(frozen=True)
class Part:
    """A live part as rendered. trigger: what the page's script is told besides, as the header HX-Trigger; "" for nothing."""

    html: str
    trigger: str

    def fingerprint(self) -> str:
        """Of the content, and behind a dot of what is told besides."""
        return f"{fingerprint_of(self.html)}.{blake2b(self.trigger.encode(), digest_size=3).hexdigest()}"


class LivePage(HttpResponse):
    """A whole page, the part of it that is refreshed, and its fingerprint."""

    part = Part("", "")
    fingerprint = ""


def live_page(
    request: HttpRequest, page: str, part: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """page: template of the whole, which prints `live` where the part belongs. part: template of what is refreshed.

    status: of the whole page; a refresh of it is one that works.
    """
    live = Part(render_to_string(part, context, request), _trigger(request))
    fingerprint = live.fingerprint()
    if request.htmx:  # type: ignore[attr-defined]
        response = refreshed(request, live, fingerprint, lambda: HttpResponse(live.html))
    else:
        more = {"live": mark_safe(live.html), "fingerprint": fingerprint, "here": request.get_full_path()}  # noqa: S308 - rendered above
        whole = LivePage(render_to_string(page, context | more, request), status=status)
        whole.part, whole.fingerprint = live, fingerprint
        response = whole
    response.headers["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ["HX-Request"])
    return response


def fingerprint_of(html: str) -> str:
    """The same for the same content, whatever the ages in it say."""
    return blake2b(_AGES.sub(r"\1", html).encode(), digest_size=9).hexdigest()


def refreshed(request: HttpRequest, live: Part, fingerprint: str, answer: Callable[[], HttpResponse]) -> HttpResponse:
    """The part for who has another, else 204. answer: makes the response of the part."""
    known, told = request.headers.get(HEADER, "").partition("."), fingerprint.partition(".")
    response = HttpResponse(status=204) if known[0] == told[0] else answer()
    response.headers[HEADER] = fingerprint
    if live.trigger and known[2] != told[2]:
        response.headers["HX-Trigger"] = live.trigger
    return response


def _trigger(request: HttpRequest) -> str:
    """The header that brings the line of the clusters up to date; "" without one."""
    line = sync_line(request)
    return json.dumps({"sync": {"level": line.level, "text": line.text}}) if line else ""
