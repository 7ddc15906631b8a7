"""A certificate as a file: pages and REST send the same."""

from __future__ import annotations

from django.http import HttpResponse


def as_file(envelope: bytes, of: str) -> HttpResponse:
    """of: "campaign-0abc"."""
    name = f'attachment; filename="gpudash-{of}.intoto.json"'
    return HttpResponse(envelope, content_type="application/json", headers={"Content-Disposition": name})
