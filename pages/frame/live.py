"""One view, two answers: the whole page, or what changed in its live part since the reader's page was drawn.

The live part carries a fingerprint of its content (ages left out) and of the line of the clusters in the header. A refresh names
the one that it has. Nothing changed: 204, and no more headers than needed. Something changed: only the changes
(`pages.frame.changes`), where this process still has what the reader sees; else the whole part. Knows no tables.

Pages ask, nothing is pushed: the web server has 8 threads (waitress; each process of a team the same), and an open stream would
hold one for as long as a page is open. Asking is cheap: connections are kept, and where a view is shared the version of the mirror
answers without any rendering (`gpudash.middleware.shared_answers`).
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.safestring import mark_safe

from pages.frame.changes import changes
from pages.frame.earlier import earlier
from pages.frame.navigation import sync_line

#: The browser writes these ages itself (ages.js, parts.js has the same pattern).
_AGES = re.compile(r'(<time[^>]* data-form="[^>]*>)[^<]*')
HEADER = "X-Fingerprint"


@dataclass(frozen=True)
class Part:
    """A live part as rendered. trigger: what the page's script is told besides, as the header HX-Trigger; "" for nothing."""

    html: str
    trigger: str

    @property
    def text(self) -> str:
        """Without ages."""
        return _AGES.sub(r"\1", self.html)

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
    own = (request.user.pk, request.get_full_path())
    if own[0] is not None:
        earlier.keep(own, content_of(fingerprint), live.text)
    if request.htmx:  # type: ignore[attr-defined]
        response = refreshed(request, live, fingerprint, lambda known: difference(live, own, known))
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


def content_of(fingerprint: str) -> str:
    """That part of a page's fingerprint which is of its content."""
    return fingerprint.partition(".")[0]


def refreshed(
    request: HttpRequest, live: Part, fingerprint: str, answer: Callable[[str], HttpResponse]
) -> HttpResponse:
    """What changed, or 204 for who has it all. answer: to who has content of this fingerprint, which is another one."""
    known, told = request.headers.get(HEADER, "").partition("."), fingerprint.partition(".")
    if known[0] == told[0]:
        response = HttpResponse(status=204)
    else:
        # Who takes no changes has no text that they could be made to: scripts, and pages that were just drawn.
        follows = "application/json" in request.headers.get("Accept", "")
        response = answer(known[0] if follows else "")
    response.headers[HEADER] = fingerprint
    if live.trigger and known[2] != told[2]:
        response.headers["HX-Trigger"] = live.trigger
    return response


def difference(live: Part, whose: Hashable, known: str) -> HttpResponse:
    """{"changes": […], "sum": Adler-32 of the new text in UTF-8}, or the whole part. whose: under what the old one was kept."""
    old = earlier.find(whose, known) if known else None
    if old is None:
        return HttpResponse(live.html)
    made = {"changes": changes(old, live.text), "sum": zlib.adler32(live.text.encode())}
    return HttpResponse(json.dumps(made, ensure_ascii=False, separators=(",", ":")), content_type="application/json")


def _trigger(request: HttpRequest) -> str:
    """The header that brings the line of the clusters up to date; "" without one."""
    line = sync_line(request)
    return json.dumps({"sync": {"level": line.level, "text": line.text}}) if line else ""
