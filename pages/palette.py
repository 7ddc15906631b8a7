"""The palette: one field from which everything is reached; and the list of keys. A dialog asks for these parts; who has no script has
the search, the saved views and the page of the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from inventory.models import Cluster, NamespaceAllocation
from pages.docs import titles
from pages.frame.links import with_query
from pages.frame.navigation import nav
from pages.frame.refusals import BadParameter
from pages.permission import may_campaign, may_launch, may_make_policies
from pages.saved_views import TITLES, lines_of
from pages.search import groups_of
from validations.suites import registry

#: Of each kind.
SHOWN = 6
MOST_CHARS, MOST_ADDRESS = 512, 8192


@dataclass(frozen=True)
class Entry:
    """note: what else is to be known of it; "" for nothing. sent: fields that are posted to the address; empty for a link."""

    title: str
    url: str
    note: str = ""
    sent: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    title: str
    entries: list[Entry]


@never_cache
@require_safe
def palette(request: HttpRequest) -> HttpResponseBase:
    """What is called so, in groups. Without words: the pages and the views. Always a part of a page."""
    text = request.GET.get("q", "").strip()[:MOST_CHARS].replace("\0", "")
    made = [*_places(request, text), *(_things(text) if text else [])]
    groups = [group for group in made if group.entries]
    count = sum(len(group.entries) for group in groups)
    return render(request, "palette/found.html", {"groups": groups, "count": count, "text": text})


def _places(request: HttpRequest, text: str) -> list[Group]:
    """What is known without the mirror: pages, views and documents."""
    more: list[tuple[str, Any]] = [
        ("idle", TITLES["idle"]),
        ("campaigns", TITLES["campaigns"]),
        ("policy-cards", TITLES["policy-cards"]),
        ("history", _("History")),
        ("saved-views", _("Saved views")),
        ("keys", _("Keyboard shortcuts")),
    ]
    pages = [Entry(one.title, one.url) for group in nav(request, counted=False) for one in group.items]
    pages += [Entry(str(title), reverse(name)) for name, title in more]
    views = [Entry(line.row.name, line.url, str(TITLES[line.row.page])) for line in lines_of(request)]
    found = [Group(_("Pages"), _named(text, pages, 30)), Group(_("Saved views"), _named(text, views))]
    found.append(Group(_("Actions"), _actions(request, text)))
    if text:
        docs = [Entry(title, reverse("doc", args=[name])) for name, title in titles()]
        docs.append(Entry(_("Glossary"), reverse("words")))
        suites = [
            Entry(_(suite.title), with_query(reverse("validations"), suite=suite.id), suite.id)
            for suite in registry().values()
        ]
        found += [Group(_("Test suites"), _named(text, suites)), Group(_("Documentation"), _named(text, docs))]
    return found


def _actions(request: HttpRequest, text: str) -> list[Entry]:
    """What can be done from anywhere. `here` is the address of the page that asks, to which theme and language lead back.

    Permissions are asked for what has this name alone.
    """
    here = urlsplit(request.GET.get("here", "")[:MOST_ADDRESS])
    launch = [
        (Entry(_("Launch run"), reverse("validation-new")), may_launch),
        (Entry(_("Start campaign"), reverse("campaign-new")), may_campaign),
        (Entry(_("New policy"), reverse("policy-new")), may_make_policies),
    ]
    found = [entry for entry, may in launch if _named(text, [entry]) and may(request)]
    themes = (("auto", _("Theme: auto")), ("light", _("Theme: light")), ("dark", _("Theme: dark")))
    back = urlunsplit(("", "", here.path, here.query, ""))
    found += [Entry(title, reverse("account-theme"), sent={"theme": value, "next": back}) for value, title in themes]
    found += [
        Entry(name, reverse("set_language"), _("language"), {"language": code, "next": back})
        for code, name in settings.LANGUAGES
    ]
    return _named(text, found, 20)


def _named(text: str, entries: Iterable[Entry], most: int = SHOWN) -> list[Entry]:
    """Those with each of the words in their name; those that begin with the first of them come first."""
    words = text.casefold().split()
    found = [one for one in entries if all(word in f"{one.title} {one.note}".casefold() for word in words)]
    return sorted(found, key=lambda one: bool(words) and not one.title.casefold().startswith(words[0]))[:most]


def _things(text: str) -> list[Group]:
    """What is mirrored, within what the visitor sees."""
    try:
        found = groups_of(text)
    except BadParameter:  # more words than are searched for
        return []
    clusters = Cluster.objects.filter(name__icontains=text).order_by("name").values_list("name", flat=True)[:SHOWN]
    spaces = NamespaceAllocation.objects.filter(namespace__icontains=text).order_by("namespace")
    names = spaces.values_list("namespace", flat=True).distinct()[:SHOWN]
    return [
        Group(_("Clusters"), [Entry(name, reverse("cluster", args=[name])) for name in clusters]),
        *(
            Group(group.title, [Entry(hit.title, hit.url or group.url, hit.note) for hit in group.hits])
            for group in found
        ),
        Group(_("Namespaces"), [Entry(name, with_query(reverse("allocations"), namespace=name)) for name in names]),
    ]


#: (keys, what they do). Pages have theirs in `pages.frame.navigation`.
KEYS = (
    (("Ctrl K", "⌘ K", "/"), gettext_lazy("search: pages, actions, views, nodes, cards, pods, documents")),
    (("j", "k"), gettext_lazy("next and previous row of a table; Enter opens it")),
    (("←", "→", "↑", "↓"), gettext_lazy("move in the card map, along a chart")),
    (("Esc",), gettext_lazy("leave a field, close a dialog")),
    (("?",), gettext_lazy("this list")),
)


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """All keys, as a page or as the part of a dialog."""
    pages = [(("g", one.letter), one.title) for group in nav(request, counted=False) for one in group.items]
    part = request.htmx  # type: ignore[attr-defined]
    return render(request, "palette/keys_part.html" if part else "palette/keys.html", {"keys": [*KEYS, *pages]})
