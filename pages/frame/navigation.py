"""What every page has around it: navigation, the state of the clusters in the header, theme and languages.

A context processor (named in the settings); it asks the database nothing for a visitor who is not signed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.roles import Role
from inventory.models import Cluster
from pages.frame.doc_links import doc_link
from pages.frame.freshness import Freshness, freshness_of
from runtime.scope import ANY, current

THEMES = ("auto", "light", "dark")
#: URL name, title, and the names of pages below it. A page whose URL does not resolve is not offered.
_NAV = (
    ("overview", gettext_lazy("Overview"), ("history", "fit", "map")),
    ("nodes", gettext_lazy("Nodes"), ("node",)),
    ("cards", gettext_lazy("Cards"), ("card",)),
    ("allocations", gettext_lazy("Allocations"), ("pending", "idle", "pod")),
    ("namespaces", gettext_lazy("Namespaces"), ("chargeback",)),
    (
        "validations",
        gettext_lazy("Validations"),
        ("run", "campaigns", "campaign", "campaign-new", "suites", "validation-new", "card-runs"),
    ),
    ("findings", gettext_lazy("Findings"), ()),
    ("components", gettext_lazy("Components"), ("component-list",)),
    ("clusters", gettext_lazy("Clusters"), ("cluster", "cluster-prepare")),
)
#: For administrators.
_ADMINISTRATION = (
    ("administration", gettext_lazy("Administration"), ("users", "user", "user-new", "audit", "installation")),
)

_LETTERS = {
    "overview": "o",
    "nodes": "n",
    "cards": "c",
    "allocations": "a",
    "namespaces": "m",
    "validations": "v",
    "findings": "f",
    "components": "p",
    "clusters": "l",
    "administration": "d",
}


@dataclass(frozen=True)
class NavItem:
    """One entry. current: "page" on the page itself, "true" on one below it, else ""."""

    title: str
    url: str
    current: str
    #: "g" and this letter lead there; "" for none.
    letter: str = ""


@dataclass(frozen=True)
class SyncLine:
    """The clusters in one line of the header."""

    level: str
    text: str
    url: str


def frame(request: HttpRequest) -> dict[str, Any]:
    signed_in = bool(getattr(getattr(request, "user", None), "is_authenticated", False))
    # An address that is none, or a form that was refused before its view: what the visitor may see was not asked.
    let_in = signed_in and getattr(request, "role", None) is not None
    theme = request.COOKIES.get("theme", "auto")
    return {
        "nav": nav(request) if signed_in else [],
        "sync_line": sync_line(request) if let_in else None,
        "theme": theme if theme in THEMES else "auto",
        "themes": [("auto", _("auto")), ("light", _("light")), ("dark", _("dark"))],
        "languages": settings.LANGUAGES,
        "seen_places": seen_places() if let_in else [],
        "seen_partly": let_in and current().partial,
        "api_docs_url": _resolve("api-docs") if signed_in else "",
        "doc_link": doc_link(request) if let_in else None,
        "version": settings.VERSION if let_in else "",
    }


def seen_places() -> list[str]:
    """What the visitor sees, where that is not everything: clusters, and namespaces as cluster/namespace or */namespace."""
    scope = current()
    if scope.clusters is None:
        return []
    names = dict(Cluster.objects.values_list("pk", "name")) | {ANY: "*"}
    whole = [names[pk] for pk in scope.clusters if pk in names]
    parts = [f"{names[pk]}/{name}" for pk, name in scope.namespaces if pk in names]
    return sorted([*whole, *parts]) or [_("nothing (the clusters of your scope do not exist)")]


def nav(request: HttpRequest) -> list[NavItem]:
    here = request.resolver_match.url_name if request.resolver_match else ""
    made = []
    for name, title, below in (*_NAV, *(_ADMINISTRATION if getattr(request, "role", None) == Role.ADMIN else ())):
        url = _resolve(name)
        if url:
            current = "page" if name == here else "true" if here in below else ""
            made.append(NavItem(str(title), url, current, _LETTERS.get(name, "")))
    return made


def crumbs_of_administration(parent: str, here: str) -> list[tuple[str, str]]:
    """(title, address) of the way to a page below the administration; "" where one is. parent: "" or "users"."""
    way = [(_("Administration"), reverse("administration"))]
    way += [(_("Users"), reverse("users"))] if parent else []
    return [*way, (here, "")]


def sync_line(request: HttpRequest) -> SyncLine | None:
    """The worst cluster in words, or how many are in sync. None when there is no cluster."""
    found = freshness_of(request)
    url = _resolve("clusters")
    if not found:
        return SyncLine("none", _("no cluster yet"), url)
    bad = [one for one in found if one.level != "good"]
    if bad:
        worst = min(bad, key=lambda one: one.level != "error")
        return SyncLine(worst.level, _named(worst), url)
    if len(found) == 1:
        return SyncLine("good", _named(found[0]), url)
    text = ngettext("%(n)d cluster in sync", "%(n)d clusters in sync", len(found)) % {"n": len(found)}
    return SyncLine("good", text, url)


def _named(one: Freshness) -> str:
    return f"{one.cluster} · {one.title}"


def _resolve(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
