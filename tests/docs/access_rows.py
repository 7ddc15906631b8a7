"""Every operation of REST and the role that it needs, as its view says, by role and scope. Knows no document and asks nobody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

from accounts.permissions import role_for
from accounts.roles import Role, lesser
from accounts.scopes import most_role

READ, WRITE, REFUSED = "read", "write", "–"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Column(NamedTuple):
    """A user's role and, as places, the scope."""

    role: Role
    scope: str
    places: tuple[str, ...] = ()

    @property
    def acts_as(self) -> Role | None:
        return lesser(self.role, most_role(self.places))


class Row(NamedTuple):
    """One method of one address; role: that it needs; of_all: for who sees all clusters alone."""

    method: str
    route: str
    role: Role
    of_all: bool = False

    def told(self, column: Column) -> str:
        if column.acts_as is None or not column.acts_as.covers(self.role) or (self.of_all and column.places):
            return REFUSED
        return READ if self.method == "GET" else WRITE


_SCOPES = {"everything": (), "clusters": ("prod",), "namespaces": ("prod/team-a",)}
COLUMNS = tuple(
    Column(role, scope, places)
    for role in Role
    for scope, places in _SCOPES.items()
    if role is not Role.ADMIN or not places
)


def rows() -> list[Row]:
    """In the order of the addresses. Each is served with a slash at its end too; the one without stands here."""
    found = [row for route, view in _routes(get_resolver()) for row in _methods(route, view)]
    return sorted(found, key=lambda row: (row.route, METHODS.index(row.method)))


def _routes(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern, route)
        elif isinstance(pattern, URLPattern) and route.startswith(("api/v1", "metrics")) and not route.endswith("/"):
            yield route, pattern.callback


def _methods(route: str, view: Any) -> Iterator[Row]:
    kind = getattr(view, "cls", None)
    for method in METHODS:
        if hasattr(kind, method.lower()) or (kind is None and method == "GET"):
            role = role_for(kind or view, method)
            assert role is not None, f"{route} is open"
            yield Row(method, route, role, getattr(kind, "of_all_clusters", False))
