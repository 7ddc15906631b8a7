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


def role_wanted(view: Any) -> Role | None:
    """The role that a view function or class needs; None when it is open."""
    places = [view, getattr(view, "cls", None), getattr(view, "view_class", None)]
    if any(getattr(place, "open_to_all", False) for place in places):
        return None
    return Role.VIEWER
