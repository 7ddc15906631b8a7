"""Who may share a view, and with whom: pages and REST alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.utils.translation import gettext as _

from accounts.roles import Role
from accounts.scopes import BadScope, places_in, scope_of
from runtime.scope import current

#: (page, parameters, scope) → filters that may hold names that this scope does not see: `resources.view.telling`.
Telling = Callable[..., list[str]]


class MayNotShare(Exception):
    """The text says why."""


def may_share(role: Role | None) -> bool:
    """Operators and administrators; who sees namespaces only may look, whatever their role."""
    return role is not None and role.covers(Role.OPERATOR) and not current().partial


def places_to_share(role: Role | None, text: str, page: str, query: str, telling: Telling) -> Sequence[str]:
    """The places in the text, as a view of this address may be shared with who sees them. None: who sees what oneself does.

    With who sees less than oneself only what names nothing that they do not see. Raises MayNotShare.
    """
    if not may_share(role):
        raise MayNotShare(_("Sharing requires the role operator on whole clusters."))
    try:
        places = places_in(text)
    except BadScope as error:
        raise MayNotShare(str(error)) from None
    if not places:
        return ()
    scope = scope_of(places)
    if not current().covers(scope):
        raise MayNotShare(_("Parts of this scope are outside your own scope."))
    if found := foreign(places, page, query, telling):
        told = _(
            "These filters may contain names outside that scope: %(names)s. Remove the filters, or share with fewer users."
        )
        raise MayNotShare(told % {"names": ", ".join(found)})
    return places


def foreign(places: Sequence[str], page: str, query: str, telling: Telling) -> list[str]:
    """Filters whose values somebody who sees these places may not be told. None where they see all that oneself sees."""
    scope = scope_of(places)
    return [] if scope.covers(current()) else telling(page, query, scope)
