"""How a view says who may see it. Without a word, a view needs the viewer role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from accounts.roles import Role

View = TypeVar("View", bound=Callable[..., Any])


def open_to_all(view: View) -> View:
    """The view is open without signing in. Only health, sign-in and the choice of language are."""
    setattr(view, "open_to_all", True)  # noqa: B010
    return view


def needs(role: Role) -> Callable[[View], View]:
    """The view needs this role, also for reading."""

    def marked(view: View) -> View:
        setattr(view, "needs_role", role)  # noqa: B010
        return view

    return marked


def role_wanted(view: Any) -> Role | None:
    """The role that a view function or class needs; None when it is open."""
    places = [view, getattr(view, "cls", None), getattr(view, "view_class", None)]
    if any(getattr(place, "open_to_all", False) for place in places):
        return None
    return next((role for place in places if (role := getattr(place, "needs_role", None))), Role.VIEWER)
