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
    "try": gettext_lazy("Try it in a minute"),
    "connect-a-cluster": gettext_lazy("Connect a cluster"),
    "access": gettext_lazy("Accounts, roles, tokens"),
    "team": gettext_lazy("For a team"),
    "kubernetes": gettext_lazy("On Kubernetes"),
    "settings": gettext_lazy("Settings"),
    "security": gettext_lazy("Security"),
    "lists": gettext_lazy("Lists: views, columns, keys"),
    "numbers": gettext_lazy("What the numbers mean"),
    "find-room": gettext_lazy("Find room for a pod"),
    "pods": gettext_lazy("A pod waits, or is gone"),
    "findings": gettext_lazy("Findings"),
    "chargeback": gettext_lazy("Who uses what: charge back"),
    "validations": gettext_lazy("Validations"),
    "verdicts": gettext_lazy("What a log says"),
    "reasons": gettext_lazy("Reasons"),
    "usage": gettext_lazy("What cards use"),
    "health": gettext_lazy("Is this card well?"),
    "rest": gettext_lazy("REST"),
    "metrics": gettext_lazy("Metrics"),
    "sizing": gettext_lazy("How large a host"),
    "troubleshooting": gettext_lazy("When something is wrong"),
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
