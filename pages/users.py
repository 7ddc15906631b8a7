"""Users as a page: who may do what. For administrators. One of them has a page of its own (`pages.user`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.required import needs
from accounts.roles import Role
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from resources.filter_sets import StrictFilterSet
from resources.user import ISSUER, NO_ROLE, NOTHING, PASSWORD, PROXY, USERS


@dataclass(frozen=True)
class UserLine:
    """What the templates print of an account. row: as `resources.user` reads it; sign_in_method: by what it signs in, in words."""

    row: Any
    sign_in_method: str


def unavailable_words(sign_in_method: str) -> str:
    words = {PASSWORD: _("password"), ISSUER: _("single sign-on"), PROXY: _("proxy"), NOTHING: _("no password")}
    return words.get(sign_in_method, sign_in_method)


def user_lines(rows: Iterable[Any]) -> list[UserLine]:
    return [UserLine(row, unavailable_words(row.sign_in_method)) for row in rows]


SPEC = ListSpec(
    resource=USERS,
    fields=(
        Field("q", gettext_lazy("Search"), placeholder=gettext_lazy("part of a name"), wide=True),
        Field("role", gettext_lazy("Role"), [*Role.choices, (NO_ROLE, gettext_lazy("none"))]),
        Field(
            "active",
            gettext_lazy("State"),
            [("true", gettext_lazy("active")), ("false", gettext_lazy("deactivated"))],
        ),
        Field(
            "sign_in_method",
            gettext_lazy("Sign-in method"),
            [
                (PASSWORD, gettext_lazy("password")),
                (ISSUER, gettext_lazy("single sign-on")),
                (PROXY, gettext_lazy("proxy")),
                (NOTHING, gettext_lazy("no password")),
            ],
        ),
    ),
    shape=user_lines,
    page="access/users.html",
    part="access/users_part.html",
    caption=gettext_lazy("Users"),
    cells="access/user_cells",
    key=lambda line: f"user-{line.row.pk}",
    gone=lambda line: not line.row.is_active,
)


def _context(found: StrictFilterSet) -> dict[str, Any]:
    return {}


@needs(Role.ADMIN)
@never_cache
@require_safe
@answered
def users(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, SPEC, _context)
