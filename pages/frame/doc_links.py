"""The document of each page, linked from its foot."""

from __future__ import annotations

from typing import NamedTuple

from django.http import HttpRequest
from django.urls import reverse

from pages.frame.site import DOC_OF


class DocLink(NamedTuple):
    title: str
    url: str


def doc_link(request: HttpRequest) -> DocLink | None:
    """None if the installation has no documents, or the address is not a page."""
    from pages.docs import titles  # it renders within this frame

    here = request.resolver_match.url_name if request.resolver_match else ""
    name = DOC_OF.get(here or "", "")
    title = dict(titles()).get(name)
    return None if title is None else DocLink(title, reverse("doc", args=[name]))
