"""The documentation that came with this version, rendered: it is there where no other place can be reached."""

from __future__ import annotations

import posixpath
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from pages.glossary import WORDS
from pages.markdown import rendered

#: Group → name → title, by task, in the order in which readers come to them. The name is the path in docs/, without its ending.
_GROUPS = (
    (
        gettext_lazy("Install"),
        {
            "try": gettext_lazy("Quick start (demo)"),
            "one-person": gettext_lazy("Run locally"),
            "install-pipx": gettext_lazy("Install for one person"),
            "install-offline": gettext_lazy("Install without a network"),
            "team": gettext_lazy("Deploy for a team"),
            "kubernetes": gettext_lazy("Deploy on Kubernetes"),
            "connect-a-cluster": gettext_lazy("Connect a cluster"),
            "prepare": gettext_lazy("Prepare a cluster for a stack"),
            "upgrade": gettext_lazy("Upgrade notes"),
        },
    ),
    (
        gettext_lazy("Capacity"),
        {
            "numbers": gettext_lazy("Concepts and metrics reference"),
            "stacks": gettext_lazy("Supported stacks"),
            "lists": gettext_lazy("Lists: views, columns, shortcuts"),
            "find-room": gettext_lazy("Find capacity"),
            "pods": gettext_lazy("Pending and past pods"),
            "usage": gettext_lazy("Utilization and exporters"),
            "chargeback": gettext_lazy("Chargeback"),
        },
    ),
    (
        gettext_lazy("Health"),
        {
            "health": gettext_lazy("Health"),
            "components": gettext_lazy("Components"),
            "out-of-service": gettext_lazy("Out of service"),
            "notifications": gettext_lazy("Notifications"),
        },
    ),
    (
        gettext_lazy("Validations"),
        {
            "validations": gettext_lazy("Validations"),
            "policies": gettext_lazy("Policies"),
            "results": gettext_lazy("Results from other tools"),
            "certificate": gettext_lazy("Certificates"),
        },
    ),
    (
        gettext_lazy("Automation"),
        {
            "rest": gettext_lazy("REST"),
            "metrics": gettext_lazy("Metrics"),
            "inspect": gettext_lazy("Command line"),
            "kubectl": gettext_lazy("kubectl plugin"),
            "headlamp": gettext_lazy("Headlamp plugin"),
        },
    ),
    (
        gettext_lazy("Administration"),
        {
            "access": gettext_lazy("Accounts, roles, tokens"),
            "settings": gettext_lazy("Settings"),
            "security": gettext_lazy("Security"),
            "sizing": gettext_lazy("Sizing"),
            "troubleshooting": gettext_lazy("Troubleshooting"),
            "design": gettext_lazy("Architecture"),
        },
    ),
    (
        gettext_lazy("Reference"),
        {
            "reference/findings": gettext_lazy("Findings"),
            "reference/health-actions": gettext_lazy("Health actions"),
            "reference/suites": gettext_lazy("Suites and their requirements"),
            "reference/reasons": gettext_lazy("Reason codes"),
            "reference/verdicts": gettext_lazy("Log patterns by suite"),
            "reference/exporters": gettext_lazy("Supported exporters"),
            "reference/metrics": gettext_lazy("List of metrics"),
            "reference/csv": gettext_lazy("CSV"),
            "reference/access-table": gettext_lazy("REST permissions"),
        },
    ),
)
TITLES = {name: title for _group, named in _GROUPS for name, title in named.items()}
#: Documents of the repository's root, which others link.
ROOT_TITLES = {
    "CHANGELOG": gettext_lazy("Changelog"),
    "CONTRIBUTING": gettext_lazy("Contributing"),
    "SECURITY": gettext_lazy("Report a vulnerability"),
}
_PICTURES = {".webp": "image/webp", ".svg": "image/svg+xml"}


def _root() -> Path:
    return Path(settings.BASE_DIR)


def _path(name: str) -> str:
    """Where a document is, from the root of the repository."""
    return f"{name}.md" if name in ROOT_TITLES else f"docs/{name}.md"


def titles() -> list[tuple[str, str]]:
    """(name, title) of those that are there: an installation may have been made without them."""
    return [(name, str(TITLES[name])) for name in _there() if name in TITLES]


def grouped() -> list[tuple[str, list[tuple[str, str]]]]:
    """(group, its documents), of those that are there."""
    there = dict(titles())
    groups = [(str(group), [(name, there[name]) for name in named if name in there]) for group, named in _GROUPS]
    return [(group, found) for group, found in groups if found]


@lru_cache(maxsize=1)
def _there() -> tuple[str, ...]:
    return tuple(name for name in (*TITLES, *ROOT_TITLES) if (_root() / _path(name)).is_file())


@require_safe
def words(request: HttpRequest) -> HttpResponse:
    """The glossary, in the language of the visitor."""
    known = dict(titles())
    shown = [(name, one, known.get(one.doc, "")) for name, one in WORDS.items()]
    return render(request, "docs/words.html", {"words": sorted(shown, key=lambda one: str(one[1].title))})


@require_safe
def doc(request: HttpRequest, name: str) -> HttpResponse:
    if name not in _there():
        raise Http404
    title = str({**TITLES, **ROOT_TITLES}[name])
    context = {"title": title, "html": _html(name), "path": _path(name), "name": name, "groups": grouped()}
    return render(request, "docs/page.html", context)


@require_safe
def picture(request: HttpRequest, name: str) -> HttpResponseBase:
    """A picture that documents show."""
    path = _root() / "docs" / "pictures" / name
    kind = _PICTURES.get(path.suffix)
    if kind is None or not path.is_file():
        raise Http404
    return FileResponse(path.open("rb"), content_type=kind)


@lru_cache(maxsize=64)
def _html(name: str) -> str:
    """Made once per process: the files belong to the version that runs."""
    folder = posixpath.dirname(_path(name))
    text = (_root() / _path(name)).read_text(encoding="utf-8")
    return mark_safe(rendered(text, lambda target: _address(folder, target)))  # noqa: S308 our own files, no raw HTML


def _address(folder: str, target: str) -> str:
    """Where a target of a document in this folder leads; "" for files that are only in the repository."""
    if "://" in target or target.startswith("#"):
        return target
    file, _, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(folder, file))
    if path == "docs/openapi.yaml":
        return reverse("api-docs")
    if path.startswith("docs/pictures/"):
        return reverse("doc-picture", args=[posixpath.basename(path)])
    name = path.removeprefix("docs/").removesuffix(".md")
    if path != _path(name) or name not in _there():
        return ""
    return reverse("doc", args=[name]) + (f"#{anchor}" if anchor else "")
