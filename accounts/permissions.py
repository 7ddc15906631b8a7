"""REST: may they? The view names a role as any view does; `write_role` is the one for methods that change something."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from accounts.required import role_wanted
from accounts.roles import Role, role_of
from audit.actions import Action
from audit.acts import refuse


def request_role(request: Any) -> Role | None:
    """The role that this request acts with."""
    seen = getattr(request, "_request", request)
    role: Role | None = seen.role if hasattr(seen, "role") else role_of(request.user)
    return role


def role_for(view: Any, method: str | None) -> Role | None:
    """The role that this method of a view class needs; None when it is open."""
    wanted = role_wanted(view)
    if wanted is None or method in SAFE_METHODS:
        return wanted
    return max(wanted, Role(getattr(view, "write_role", Role.OPERATOR)), key=lambda one: one.rank)


class RolePermission(BasePermission):
    """The role of the view for reading; its `write_role` (operator when it names none) for the rest."""

    def has_permission(self, request: Request, view: Any) -> bool:
        wanted = role_for(type(view), request.method)
        if wanted is None:
            return True
        role = request_role(request)
        self.message = f"Requires the role {wanted.value}. Ask an administrator."
        may = role is not None and role.covers(wanted)
        if not may:
            target = f"{request.method} {request._request.path_info}"
            refuse(Action.ACCESS, target, wanted=wanted.value, **_asked(request, view))
        return may


def _asked(request: Request, view: Any) -> dict[str, str]:
    """What the view says that was asked for (`told_of`, names of fields of the body), as far as the body can be read."""
    names: tuple[str, ...] = getattr(view, "told_of", ())
    if not names:
        return {}
    try:
        body = request.data
    except APIException:
        return {}
    return {name: str(body[name])[:253] for name in names if isinstance(body, dict) and body.get(name)}
