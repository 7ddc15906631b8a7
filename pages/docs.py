"""The documentation that came with this version, as it was written: it is there where no other place can be reached."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from pages.glossary import WORDS

#: Name → title, by task, in the order in which an administrator comes to them. Others are for who changes gpudash.
TITLES = {
    "try": gettext_lazy("Quick start (demo)"),
    "connect-a-cluster": gettext_lazy("Connect a cluster"),
    "prepare": gettext_lazy("Prepare a cluster for a stack"),
    "access": gettext_lazy("Accounts, roles, tokens"),
    "team": gettext_lazy("Deploy for a team"),
    "kubernetes": gettext_lazy("Deploy on Kubernetes"),
    "settings": gettext_lazy("Settings"),
    "security": gettext_lazy("Security"),
    "lists": gettext_lazy("Lists: views, columns, shortcuts"),
    "numbers": gettext_lazy("Concepts and metrics reference"),
    "find-room": gettext_lazy("Find capacity"),
    "pods": gettext_lazy("Pending and past pods"),
    "findings": gettext_lazy("Findings"),
    "components": gettext_lazy("Components"),
    "chargeback": gettext_lazy("Chargeback"),
    "validations": gettext_lazy("Validations"),
    "verdicts": gettext_lazy("Log patterns by suite"),
    "reasons": gettext_lazy("Reason codes"),
    "usage": gettext_lazy("Utilization and exporters"),
    "health": gettext_lazy("Health"),
    "rest": gettext_lazy("REST"),
    "metrics": gettext_lazy("Metrics"),
    "sizing": gettext_lazy("Sizing"),
    "troubleshooting": gettext_lazy("Troubleshooting"),
}


def _folder() -> Path:
    return Path(settings.BASE_DIR) / "docs"


def titles() -> list[tuple[str, str]]:
    """(name, title) of those that are there: an installation may have been made without them."""
    return [(name, str(TITLES[name])) for name in _there()]


@lru_cache(maxsize=1)
def _there() -> tuple[str, ...]:
    return tuple(name for name in TITLES if (_folder() / f"{name}.md").is_file())


@require_safe
def words(request: HttpRequest) -> HttpResponse:
    """The glossary, in the language of the visitor."""
    known = dict(titles())
    shown = [(name, one, known.get(one.doc, "")) for name, one in WORDS.items()]
    return render(request, "docs/words.html", {"words": sorted(shown, key=lambda one: str(one[1].title))})


@require_safe
def doc(request: HttpRequest, name: str) -> HttpResponse:
    title = dict(titles()).get(name)
    if title is None:
        raise Http404
    text = (_folder() / f"{name}.md").read_text(encoding="utf-8")
    return render(request, "docs/page.html", {"title": title, "text": text, "name": name})
