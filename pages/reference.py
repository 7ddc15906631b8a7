"""REST's reference: the OpenAPI document as a page, with an anchor at each operation and shape. Needs no script and no other host."""

from __future__ import annotations

from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import override
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from pages import openapi


@lru_cache(maxsize=1)
def _read() -> tuple[list[openapi.Group], list[openapi.Shape]]:
    """The document is the same for everybody and as long as the process lives; it is in English, as its programs are."""
    with override("en"):
        document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
        return openapi.groups(document), openapi.shapes(document)


@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    groups, shapes = _read()
    root = reverse("api-root").removesuffix("/api/v1")
    return render(
        request,
        "reference/page.html",
        {
            "groups": groups,
            "shapes": shapes,
            # Behind a sub-path the document's addresses begin below it.
            "site": f"{request.scheme}://{request.get_host()}{root}",
            "count": sum(len(group.operations) for group in groups),
        },
    )
