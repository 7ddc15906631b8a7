"""Saved views: a list with its filters, order, time and columns under a name, one's own or shared.

The menu of a list is asked for when it is opened: the page itself may serve many (`runtime.cached`), and views are of a person.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import saved_views as kept
from accounts.roles import Role
from accounts.saved_views import NAME_CHARS, QUERY_CHARS, SavedView
from accounts.sharing import MayNotShare, foreign, may_share, places_to_share
from pages.frame.kept import parameter
from pages.frame.links import with_query
from pages.frame.refusals import BadParameter, NotThere, answered
from pages.frame.worded import named
from resources.view import closed_to, open_to, telling, understood
from runtime.scope import current
from validations import querysets

#: Name of a list's address → what people call it.
TITLES = {
    "nodes": gettext_lazy("Nodes"),
    "cards": gettext_lazy("Cards"),
    "allocations": gettext_lazy("Allocations"),
    "pending": gettext_lazy("Pending pods"),
    "idle": gettext_lazy("Idle allocations"),
    "namespaces": gettext_lazy("Namespaces"),
    "findings": gettext_lazy("Findings"),
    "component-list": gettext_lazy("Components"),
    "validations": gettext_lazy("Runs"),
    "campaigns": gettext_lazy("Campaigns"),
    "campaign-targets": gettext_lazy("Targets of a campaign"),
    "results": gettext_lazy("Results from other tools"),
    "policies": gettext_lazy("Policies"),
    "policy-cards": gettext_lazy("Cards under policies"),
    "out-of-service": gettext_lazy("Marked nodes"),
    "cases": gettext_lazy("Cases"),
    "users": gettext_lazy("Users"),
    "audit": gettext_lazy("Audit log"),
}
#: A list that each campaign has: a view of it opens in the campaign that `at` names, else in the newest.
OF_A_CAMPAIGN = "campaign-targets"


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
    note: str = ""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@answered
def saved_views(request: HttpRequest) -> HttpResponseBase:
    """All views, and a form that saves the list of `of` with the parameters `query`. A menu asks for its part only."""
    if request.method == "POST":
        return _save(request)
    page, query = request.GET.get("of", ""), request.GET.get("query", "")
    if page:
        _check_list(request, page)
    return _page(request, page, query[:QUERY_CHARS])


def _check_list(request: HttpRequest, page: str) -> None:
    names = open_to(_role(request))
    if page not in names:
        raise BadParameter({"of": [_("Must be one of: %(names)s.") % {"names": ", ".join(names)}]})


def _page(request: HttpRequest, page: str, query: str, status: int = 200, **more: Any) -> HttpResponse:
    clean = understood(page, query)[0] if page else ""
    at = _at(request)
    lines = lines_of(request, page, clean, at)
    context = {
        "at": at,
        "manage_url": with_query(reverse("saved-views"), of=page, query=clean, at=at),
        "of": page,
        "of_title": str(TITLES[page]) if page else "",
        "query": clean,
        "words": _words(clean),
        "back": address(page, clean, at) if page else "",
        "lines": [line for line in lines if line.row.page == page],
        "groups": [_group(name, [line for line in lines if line.row.page == name]) for name in TITLES],
        "may_share": may_share(_role(request)),
        "name_chars": NAME_CHARS,
        "most": kept.MOST,
    }
    part = request.htmx and status == 200  # type: ignore[attr-defined]
    return render(request, "saved_views/menu.html" if part else "saved_views/page.html", context | more, status=status)


def lines_of(request: HttpRequest, page: str = "", query: str = "", at: str = "") -> list[ViewLine]:
    """What this visitor is told of, by list and name; one's own first. at: see OF_A_CAMPAIGN."""
    me = cast(Any, request.user).pk
    rows = kept.told_to(me, current(), closed_to(_role(request))).order_by("page", "name", "pk")
    now = sorted(QueryDict(query).lists())
    admin = _role(request) == Role.ADMIN
    made = [
        ViewLine(
            row=row,
            url=with_query(reverse("saved-view", args=[row.pk]), at=at if row.page == OF_A_CAMPAIGN else ""),
            words=_words(row.query),
            mine=row.user_id == me,
            removable=row.user_id == me or admin,
            shown=row.page == page and sorted(QueryDict(row.query).lists()) == now,
        )
        for row in rows
    ]
    return sorted(made, key=lambda line: not line.mine)


def _group(name: str, lines: list[ViewLine]) -> Group:
    note = (
        _("Valid for every campaign. Opens in the current campaign, otherwise in the newest.")
        if name == OF_A_CAMPAIGN
        else ""
    )
    return Group(str(TITLES[name]), address(name, "") if lines else "", lines, note)


def _words(query: str) -> SafeString:
    """The parameters, as one reads them: "stack: hami, from: 24h"."""
    told = ((parameter(name), named(", ".join(values))) for name, values in QueryDict(query).lists() if any(values))
    return format_html_join(", ", "{}: {}", told)


def address(page: str, query: str, at: str = "") -> str:
    """at: the campaign, where each has such a list. Without a campaign there is only their list."""
    path = _of_campaign(at) if page == OF_A_CAMPAIGN else reverse(page)
    return f"{path}?{query}" if query and path else path or reverse("campaigns")


def _of_campaign(at: str) -> str:
    found = at or querysets.campaigns().order_by("-id").values_list("pk", flat=True).first()
    return reverse(OF_A_CAMPAIGN, args=[found]) if found else ""


def _at(request: HttpRequest) -> str:
    """The campaign that the list is of, "" for none."""
    text = request.POST.get("at", "") or request.GET.get("at", "")
    if text and querysets.campaigns().of_id(text) is None:
        close = [(_("all campaigns"), reverse("campaigns"))]
        raise NotThere(_("There is no campaign %(id)s.") % {"id": text[:64]}, "", close)
    return text


@require_safe
@answered
def saved_view(request: HttpRequest, view_id: int) -> HttpResponseBase:
    """Leads to the list. What no longer makes sense of it is said there, and left out."""
    row = _told(request, view_id)
    query, wrong = understood(row.page, row.query)
    for name, text in wrong.items():
        told = {"view": row.name, "name": name[:64], "text": text[:300]}
        messages.warning(
            request, _("View “%(view)s” opened without %(name)s, which is no longer valid: %(text)s") % told
        )
    return HttpResponseRedirect(address(row.page, query, _at(request)))


def _save(request: HttpRequest) -> HttpResponseBase:
    page, name = request.POST.get("of", ""), request.POST.get("name", "").strip()
    given = request.POST.get("query", "")
    shared, places = bool(request.POST.get("shared")), request.POST.get("scope", "")
    _check_list(request, page)
    at = _at(request)
    query, wrong = understood(page, given)
    over = bool(request.POST.get("over"))
    typed = {"name": name[:NAME_CHARS], "shared": shared, "scope": places[:2000]}
    if error := _wrong_name(name) or _wrong_query(query, wrong):
        return _page(request, page, query[:QUERY_CHARS], 400, error=error, typed=typed)
    try:
        to = places_to_share(_role(request), places, page, query, telling) if shared else ()
        kept.save(request.user, page, name, query, shared=shared, places=to, over=over)
    except MayNotShare as error:
        return _page(request, page, query, 400, error=str(error), typed=typed)
    except kept.NameTaken:
        taken = _("A view with this name exists. Select “Replace the existing view”, or choose another name.")
        return _page(request, page, query, 400, error=taken, typed=typed, taken=True)
    except kept.TooManyViews:
        return _page(request, page, query, 400, error=_too_many(), typed=typed)
    messages.success(request, _("Saved as “%(name)s”.") % {"name": name})
    return HttpResponseRedirect(address(page, query, at))


def _wrong_name(name: str) -> str:
    if not name:
        return _("Enter a name.")
    if len(name) > NAME_CHARS or not name.isprintable():
        return _("The name must be one line of at most %(n)d characters.") % {"n": NAME_CHARS}
    return ""


def _wrong_query(query: str, wrong: dict[str, str]) -> str:
    if wrong:
        return "; ".join(f"{name[:64]}: {text}" for name, text in wrong.items())
    return _("This view is too long to save.") if len(query) > QUERY_CHARS else ""


def _too_many() -> str:
    return _("You have reached the limit of %(n)d views. Remove one first.") % {"n": kept.MOST}


@require_POST
@answered
def saved_view_change(request: HttpRequest, view_id: int, verb: str) -> HttpResponseBase:
    """rename, overwrite or remove. Leads back to the list of views."""
    row = _told(request, view_id)
    mine = row.user_id == cast(Any, request.user).pk
    if not (mine or (verb == "remove" and _role(request) == Role.ADMIN)):
        raise NotThere(_("You have no view with this number."))
    return _VERBS[verb](request, row)


def _back(request: HttpRequest, row: SavedView) -> HttpResponseRedirect:
    of = QueryDict(mutable=True)
    of.update({"of": row.page, "query": row.query})
    if at := _at(request):
        of["at"] = at
    return HttpResponseRedirect(f"{reverse('saved-views')}?{of.urlencode()}")


def _rename(request: HttpRequest, row: SavedView) -> HttpResponseBase:
    name = request.POST.get("name", "").strip()
    error = _wrong_name(name)
    try:
        if not error:
            kept.rename(row, name)
    except kept.NameTaken:
        error = _("A view with this name exists.")
    if error:
        messages.error(request, error)
    return _back(request, row)


def _overwrite(request: HttpRequest, row: SavedView) -> HttpResponseBase:
    query, wrong = understood(row.page, request.POST.get("query", ""))
    error = _wrong_query(query, wrong)
    if not error and row.shared:
        error = _tells(row, query)
    if error:
        messages.error(request, error)
        return _back(request, row)
    kept.overwrite(row, query)
    messages.success(request, _("Saved as “%(name)s”.") % {"name": row.name})
    return HttpResponseRedirect(address(row.page, query, _at(request)))


def _tells(row: SavedView, query: str) -> str:
    """Why these parameters may not stand in a view that is shared as this one is; "" when they may."""
    found = foreign(row.places_list, row.page, query, telling)
    told = _(
        "These filters may contain names outside that scope: %(names)s. Remove the filters, or share with fewer users."
    )
    return told % {"names": ", ".join(found)} if found else ""


def _remove(request: HttpRequest, row: SavedView) -> HttpResponseBase:
    back = _back(request, row)
    kept.remove(row)
    messages.success(request, _("Removed “%(name)s”.") % {"name": row.name})
    return back


_VERBS: dict[str, Callable[[HttpRequest, SavedView], HttpResponseBase]] = {
    "rename": _rename,
    "overwrite": _overwrite,
    "remove": _remove,
}


def _told(request: HttpRequest, view_id: int) -> SavedView:
    rows = kept.told_to(cast(Any, request.user).pk, current(), closed_to(_role(request)))
    row = rows.filter(pk=view_id).first()
    if row is None:
        raise NotThere(_("You have no view with this number."), close=[(_("Saved views"), reverse("saved-views"))])
    return row


def _role(request: Any) -> Role | None:
    role: Role | None = request.role
    return role
