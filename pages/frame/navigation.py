"""What every page has around it: navigation, the state of the clusters in the header, theme and languages.

A context processor (named in the settings); it asks the database nothing for a visitor who is not signed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import SimpleLazyObject
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.roles import Role
from inventory.models import Cluster
from inventory.queries import rows as querysets
from pages.frame.doc_links import doc_link
from pages.frame.freshness import Freshness, freshness_of
from pages.frame.links import state_url, with_query
from pages.frame.recommended import recommended
from pages.frame.site import BY_CLUSTER, NAVIGATION, OF_CLUSTER
from pages.frame.times import zone_words
from runtime.cached import shared
from runtime.scope import ANY, current
from stacks.engine.base import ERROR

THEMES = ("auto", "light", "dark")


@dataclass(frozen=True)
class NavItem:
    """One entry. current: "page" on the page itself, "true" on one below it, else "". count: what needs action there; 0 is not
    shown."""

    title: str
    url: str
    current: str
    letter: str
    count: int = 0


@dataclass(frozen=True)
class NavGroup:
    title: str
    items: list[NavItem]


@dataclass(frozen=True)
class ClusterSwitch:
    """chosen: name of a cluster; "" for all. choices: (name or "", address, whether it is chosen)."""

    chosen: str
    choices: list[tuple[str, str, bool]]


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
        # Read where a template prints it: parts of pages have no navigation.
        "nav": SimpleLazyObject(lambda: nav(request) if signed_in else []),
        "cluster_switch": SimpleLazyObject(lambda: cluster_switch(request) if let_in else None),
        "sync_line": sync_line(request) if let_in else None,
        "theme": theme if theme in THEMES else "auto",
        "themes": [("auto", _("auto")), ("light", _("light")), ("dark", _("dark"))],
        "languages": settings.LANGUAGES,
        "seen_places": seen_places() if let_in else [],
        "seen_partly": let_in and current().partial,
        "api_docs_url": _resolve("api-docs") if signed_in else "",
        "doc_link": doc_link(request) if let_in else None,
        "version": settings.VERSION if let_in else "",
        "reader_zone": {"name": get_current_timezone_name(), "words": zone_words(), "path": settings.BASE_PATH},
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


def nav(request: HttpRequest, counted: bool = True) -> list[NavGroup]:
    """counted: with the numbers of what needs action."""
    here = request.resolver_match.url_name if request.resolver_match else ""
    role = getattr(request, "role", None)
    counts = _counts() if counted and role is not None else {}
    chosen = _chosen_cluster(request)
    groups = []
    for title, pages in NAVIGATION:
        items = []
        for page in pages:
            url = _resolve(page.name)
            if not url or (page.for_administrators and role != Role.ADMIN):
                continue
            if chosen and page.name in BY_CLUSTER:
                url = with_query(url, cluster=chosen)
            current = "page" if page.name == here else "true" if here in {one.name for one in page.below} else ""
            items.append(NavItem(str(page.title), url, current, page.letter, counts.get(page.name, 0)))
        if items:
            groups.append(NavGroup(str(title), items))
    return groups


def _counts() -> dict[str, int]:
    """What needs action: pending pods, errors among the findings, and cards that are recommended to be taken out of service."""

    def count() -> dict[str, int]:
        errors = querysets.findings_now().filter(severity=ERROR)
        return {
            "pending": querysets.pods_pending().count(),
            "findings": errors.count(),
            "out-of-service": sum(one.number for one in recommended()),
        }

    return shared("navigation", (), count)


def cluster_switch(request: HttpRequest) -> ClusterSwitch | None:
    """None where there are no two clusters to choose from."""
    names = [one.cluster for one in freshness_of(request)]
    if len(names) < 2:
        return None
    chosen = _chosen_cluster(request)
    here = request.resolver_match.url_name if request.resolver_match else ""

    def address(name: str) -> str:
        if here in BY_CLUSTER:
            return state_url(request, cluster=name or None)
        if here == "cluster" and name:
            return reverse("cluster", args=[name])
        return with_query(reverse("overview"), cluster=name)

    return ClusterSwitch(chosen, [(name, address(name), name == chosen) for name in ("", *names)])


def _chosen_cluster(request: HttpRequest) -> str:
    """The cluster that the address names: as filter, or as the place of what the page shows. "" where there is one only."""
    found = request.resolver_match
    place = found.kwargs if found else {}
    of_cluster = found is not None and found.url_name in OF_CLUSTER
    asked = place.get("name") if of_cluster else request.GET.get("cluster") or place.get("cluster")
    if not asked or getattr(request, "role", None) is None:
        return ""
    names = {one.cluster for one in freshness_of(request)}
    return str(asked) if asked in names and len(names) > 1 else ""


def crumbs_of_administration(parent: str, here: str) -> list[tuple[str, str]]:
    """(title, address) of the way to a page below the administration; "" where one is. parent: "" or "users"."""
    way = [(_("Administration"), reverse("administration"))]
    way += [(_("Users"), reverse("users"))] if parent else []
    return [*way, (here, "")]


def crumbs_of_clusters(cluster: str, here: str) -> list[tuple[str, str]]:
    """The same of a page below the clusters, or below one of them. cluster: "" for none."""
    way = [(_("Clusters"), reverse("clusters"))]
    way += [(cluster, reverse("cluster", args=[cluster]))] if cluster else []
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
