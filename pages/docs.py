"""The documentation that came with this version, as it was written: it is there where no other place can be reached."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

#: By task, in the order in which an administrator comes to them. Others are for who changes gpudash.
NAMES = (
    "connect-a-cluster",
    "access",
    "team",
    "kubernetes",
    "settings",
    "security",
    "validations",
    "usage",
    "health",
    "rest",
    "metrics",
    "sizing",
    "troubleshooting",
)


def _folder() -> Path:
    return Path(settings.BASE_DIR) / "docs"


@lru_cache(maxsize=1)
def titles() -> tuple[tuple[str, str], ...]:
    """(name, title) of those that are there: an installation may have been made without them."""
    found = [(name, _folder() / f"{name}.md") for name in NAMES]
    return tuple((name, _title(path)) for name, path in found if path.is_file())


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return lines.readline().lstrip("# ").strip()


@require_safe
def doc(request: HttpRequest, name: str) -> HttpResponse:
    title = dict(titles()).get(name)
    if title is None:
        raise Http404
    text = (_folder() / f"{name}.md").read_text(encoding="utf-8")
    return render(request, "docs/page.html", {"title": title, "text": text, "name": name})
