"""Saved views: a list with its filters, order, time and columns under a name, one's own or shared.

The menu of a list is asked for when it is opened: the page itself may serve many (`inventory.shared`), and views are of a person.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import saved_views as kept
from accounts.roles import Role
from accounts.saved_views import NAME_CHARS, QUERY_CHARS, SavedView
from accounts.sharing import MayNotShare, foreign, may_share, places_to_share
from inventory.scope import current
from pages.frame.refusals import BadParameter, NotThere, answered
from resources.view import LISTS, telling, understood

#: Name of a list's address → what people call it.
TITLES = {
    "nodes": gettext_lazy("Nodes"),
    "cards": gettext_lazy("Cards"),
    "allocations": gettext_lazy("Allocations"),
    "waiting": gettext_lazy("Pending pods"),
    "idle": gettext_lazy("Held without work"),
    "namespaces": gettext_lazy("Namespaces"),
    "findings": gettext_lazy("Findings"),
    "validations": gettext_lazy("Runs"),
    "campaigns": gettext_lazy("Campaigns"),
}


@dataclass(frozen=True)
class ViewLine:
    """A view in a menu or a list. words: its parameters as people read them. shown: it is what the page shows now."""

    row: SavedView
    url: str
    words: str
    mine: bool
    removable: bool
    shown: bool


@dataclass(frozen=True)
class Group:
    """The views of one list."""

    title: str
    url: str
    lines: list[ViewLine]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@answered
def saved_views(request: HttpRequest) -> HttpResponseBase:
    """All views, and a form that saves the list of `of` with the parameters `query`. A menu asks for its part only."""
    if request.method == "POST":
        return _save(request)
    page, query = request.GET.get("of", ""), request.GET.get("query", "")
    if page and page not in LISTS:
        raise BadParameter({"of": [_("One of %(names)s is wanted.") % {"names": ", ".join(LISTS)}]})
    return _page(request, page, query[:QUERY_CHARS])


def _page(request: HttpRequest, page: str, query: str, status: int = 200, **more: Any) -> HttpResponse:
    clean = understood(page, query)[0] if page else ""
    lines = lines_of(request, page, clean)
    context = {
        "of": page,
        "of_title": str(TITLES[page]) if page else "",
        "query": clean,
        "words": _words(clean),
        "back": address(page, clean) if page else "",
        "lines": [line for line in lines if line.row.page == page],
        "groups": [_group(name, [line for line in lines if line.row.page == name]) for name in LISTS],
        "may_share": may_share(_role(request)),
        "name_chars": NAME_CHARS,
        "most": kept.MOST,
    }
    part = request.htmx and status == 200  # type: ignore[attr-defined]
    return render(request, "saved_views/menu.html" if part else "saved_views/page.html", context | more, status=status)


def lines_of(request: HttpRequest, page: str = "", query: str = "") -> list[ViewLine]:
    """What this visitor is told of, by list and name; one's own first."""
    me = cast(Any, request.user).pk
    rows = kept.told_to(me, current()).order_by("page", "name", "pk")
    now = sorted(QueryDict(query).lists())
    admin = _role(request) == Role.ADMIN
    made = [
        ViewLine(
            row=row,
            url=reverse("saved-view", args=[row.pk]),
            words=_words(row.query),
            mine=row.user_id == me,
            removable=row.user_id == me or admin,
            shown=row.page == page and sorted(QueryDict(row.query).lists()) == now,
        )
        for row in rows
    ]
    return sorted(made, key=lambda line: not line.mine)


def _group(name: str, lines: list[ViewLine]) -> Group:
    return Group(str(TITLES[name]), reverse(name), lines)


def _words(query: str) -> str:
    """The parameters, as one reads them: "stack: hami, from: 24h"."""
    return ", ".join(f"{name}: {', '.join(values)}" for name, values in QueryDict(query).lists() if any(values))


def address(page: str, query: str) -> str:
    return f"{reverse(page)}?{query}" if query else reverse(page)


@require_safe
@answered
def saved_view(request: HttpRequest, view_id: int) -> HttpResponseBase:
    """Leads to the list. What no longer makes sense of it is said there, and left out."""
    row = _told(request, view_id)
    query, wrong = understood(row.page, row.query)
    for name, text in wrong.items():
        told = {"view": row.name, "name": name[:64], "text": text[:300]}
        messages.warning(
            request, _("The view “%(view)s” is shown without %(name)s, which no longer makes sense: %(text)s") % told
        )
    return HttpResponseRedirect(address(row.page, query))


def _save(request: HttpRequest) -> HttpResponseBase:
    page, name = request.POST.get("of", ""), request.POST.get("name", "").strip()
    given = request.POST.get("query", "")
    shared, places = bool(request.POST.get("shared")), request.POST.get("places", "")
    if page not in LISTS:
        raise BadParameter({"of": [_("One of %(names)s is wanted.") % {"names": ", ".join(LISTS)}]})
    query, wrong = understood(page, given)
    over = bool(request.POST.get("over"))
    typed = {"name": name[:NAME_CHARS], "shared": shared, "places": places[:2000]}
    if error := _wrong_name(name) or _wrong_query(query, wrong):
        return _page(request, page, query[:QUERY_CHARS], 400, error=error, typed=typed)
    try:
        to = places_to_share(_role(request), places, page, query, telling) if shared else ()
        kept.save(request.user, page, name, query, shared=shared, places=to, over=over)
    except MayNotShare as error:
        return _page(request, page, query, 400, error=str(error), typed=typed)
    except kept.NameTaken:
        taken = _("There is a view of this name. Tick “in its place”, or choose another name.")
        return _page(request, page, query, 400, error=taken, typed=typed, taken=True)
    except kept.TooManyViews:
        return _page(request, page, query, 400, error=_too_many(), typed=typed)
    messages.success(request, _("Saved as “%(name)s”.") % {"name": name})
    return HttpResponseRedirect(address(page, query))


def _wrong_name(name: str) -> str:
    if not name:
        return _("A name is wanted.")
    if len(name) > NAME_CHARS or not name.isprintable():
        return _("A name of at most %(n)d characters is wanted, in one line.") % {"n": NAME_CHARS}
    return ""


def _wrong_query(query: str, wrong: dict[str, str]) -> str:
    if wrong:
        return "; ".join(f"{name[:64]}: {text}" for name, text in wrong.items())
    return _("This address is too long to be saved.") if len(query) > QUERY_CHARS else ""


def _too_many() -> str:
    return _("You have %(n)d views, as many as one may have. Remove one first.") % {"n": kept.MOST}


@require_POST
@answered
def saved_view_change(request: HttpRequest, view_id: int, verb: str) -> HttpResponseBase:
    """rename, overwrite or remove. Leads back to the list of views."""
    row = _told(request, view_id)
    mine = row.user_id == cast(Any, request.user).pk
    if not (mine or (verb == "remove" and _role(request) == Role.ADMIN)):
        raise NotThere(_("No view of yours has this number."))
    return _VERBS[verb](request, row)


def _back(row: SavedView, query: str = "") -> HttpResponseRedirect:
    of = QueryDict(mutable=True)
    of.update({"of": row.page, "query": query or row.query})
    return HttpResponseRedirect(f"{reverse('saved-views')}?{of.urlencode()}")


def _rename(request: HttpRequest, row: SavedView) -> HttpResponseBase:
    name = request.POST.get("name", "").strip()
    error = _wrong_name(name)
    try:
        if not error:
            kept.rename(row, name)
    except kept.NameTaken:
        error = _("There is a view of this name.")
    if error:
        messages.error(request, error)
    return _back(row)


def _overwrite(request: HttpRequest, row: SavedView) -> HttpResponseBase:
    query, wrong = understood(row.page, request.POST.get("query", ""))
    error = _wrong_query(query, wrong)
    if not error and row.shared:
        error = _tells(row, query)
    if error:
        messages.error(request, error)
        return _back(row)
    kept.overwrite(row, query)
    messages.success(request, _("Saved as “%(name)s”.") % {"name": row.name})
    return HttpResponseRedirect(address(row.page, query))


def _tells(row: SavedView, query: str) -> str:
    """Why these parameters may not stand in a view that is shared as this one is; "" when they may."""
    found = foreign(row.places_list, row.page, query, telling)
    told = _("These filters may hold names that are not seen there: %(names)s. Leave them out, or share with fewer.")
    return told % {"names": ", ".join(found)} if found else ""


def _remove(request: HttpRequest, row: SavedView) -> HttpResponseBase:
    back = _back(row)
    kept.remove(row)
    messages.success(request, _("“%(name)s” is removed.") % {"name": row.name})
    return back


_VERBS: dict[str, Callable[[HttpRequest, SavedView], HttpResponseBase]] = {
    "rename": _rename,
    "overwrite": _overwrite,
    "remove": _remove,
}


def _told(request: HttpRequest, view_id: int) -> SavedView:
    row = kept.told_to(cast(Any, request.user).pk, current()).filter(pk=view_id).first()
    if row is None:
        raise NotThere(_("No view of yours has this number."), close=[(_("Saved views"), reverse("saved-views"))])
    return row


def _role(request: Any) -> Role | None:
    role: Role | None = request.role
    return role
