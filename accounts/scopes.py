"""What is granted, as people write it (`places`), and the scope that it comes to.

Names, not rows: a cluster that is removed and added again is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from django.utils.translation import gettext as _

from accounts import places as written
from accounts.places import ANYWHERE, MOST_PLACES, is_place
from accounts.roles import Role, lesser
from inventory.models import Cluster
from runtime.scope import ANY, EVERYTHING, Scope


class BadScope(Exception):
    """A place that is none; the text names it and says what is wanted."""


class Access(NamedTuple):
    """What somebody may do at this moment, and see."""

    role: Role | None
    scope: Scope


def places_in(text: str) -> tuple[str, ...]:
    """The places in lines, or between commas or blanks, each once. Raises BadScope."""
    found = tuple(dict.fromkeys(re.split(r"[\s,]+", text.strip()))) if text.strip() else ()
    if len(found) > MOST_PLACES:
        raise BadScope(_("A scope can have at most %(most)d entries.") % {"most": MOST_PLACES})
    known = set(Cluster.objects.values_list("name", flat=True)) if found else set()
    for place in found:
        _check(place, known)
    return found


def _check(place: str, known: set[str]) -> None:
    cluster = place.partition("/")[0]
    if cluster and not is_place(place):
        raise BadScope(
            _("Invalid scope: %(place)s. Use cluster, cluster/namespace or */namespace.") % {"place": repr(place[:100])}
        )
    if cluster != ANYWHERE and cluster not in known:
        names = ", ".join(sorted(known)[:20]) or "–"
        raise BadScope(
            _("There is no cluster %(name)s. Clusters: %(known)s.") % {"name": repr(cluster[:64]), "known": names}
        )


def scope_of(places: Iterable[str]) -> Scope:
    """The scope of places that were checked once; a cluster that is gone since is in no scope. One query, none for everything."""
    split = [place.partition("/") for place in places]
    if not split:
        return EVERYTHING
    wanted = {cluster for cluster, _slash, _namespace in split} - {ANYWHERE}
    ids = dict(Cluster.objects.filter(name__in=wanted).values_list("name", "pk")) if wanted else {}
    ids[ANYWHERE] = ANY
    there = [(ids[cluster], namespace) for cluster, _slash, namespace in split if cluster in ids]
    whole = frozenset(cluster for cluster, namespace in there if not namespace)
    return Scope(whole, frozenset(place for place in there if place[1]))


def most_role(places: Iterable[str]) -> Role:
    """The highest role within these places. Who has namespaces only looks: a validation takes cards from all who use a cluster."""
    return Role(written.most_role(list(places)))


def access(role: Role | None, places: Iterable[str]) -> Access:
    """Of a user: what administrators may see is never less than everything."""
    given = list(places)
    if role == Role.ADMIN or not given:
        return Access(role, EVERYTHING)
    return Access(lesser(role, most_role(given)), scope_of(given))


def within(one: Access, role: Role, places: Iterable[str]) -> Access:
    """What a token of this role for these places may, that somebody with `one` has made."""
    given = list(places)
    if not given:
        return Access(lesser(one.role, role), one.scope)
    return Access(lesser(lesser(one.role, role), most_role(given)), one.scope.meet(scope_of(given)))
