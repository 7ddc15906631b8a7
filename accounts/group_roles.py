"""Which role the groups of a company's directory give: `GPUDASH_GROUP_ROLES`. Pure: settings are read before there are models.

`gpu-admins=admin; gpu-users=viewer; ml=operator:prod; team-a=viewer:prod/team-a,*/team-a`: a group, a role, and what it is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from accounts.places import is_place, most_role

#: From the lowest on, as `roles.Role` has them.
ROLES = ("viewer", "operator", "admin")
WANTED = "use group=role or group=role:scope,scope, separated by semicolons"


class Granted(NamedTuple):
    """A role, and the places that it is for; none: for everything."""

    role: str
    places: tuple[str, ...]


def parsed(text: str) -> dict[str, Granted]:
    """By group. Raises ValueError, whose text says what is wrong and what is wanted."""
    found: dict[str, Granted] = {}
    for entry in filter(None, (part.strip() for part in re.split(r"[;\n]", text))):
        # From the right: names of groups may hold "=", as those of LDAP do.
        group, equals, given = entry.rpartition("=")
        if not equals or not (group := group.strip()):
            raise ValueError(f"invalid entry {entry[:100]!r}: {WANTED}")
        if group in found:
            raise ValueError(f"group {group[:100]!r} is listed twice")
        found[group] = _granted(given)
    return found


def _granted(text: str) -> Granted:
    role, colon, listed = text.strip().partition(":")
    places = tuple(dict.fromkeys(listed.replace(",", " ").split()))
    if role not in ROLES:
        raise ValueError(f"invalid role {role[:100]!r}: must be one of: {', '.join(ROLES)}")
    if colon and not places:
        raise ValueError(f"{text.strip()[:100]!r} has no scope: remove the colon for all clusters")
    if wrong := [place for place in places if not is_place(place)]:
        raise ValueError(f"invalid scope {wrong[0][:100]!r}: use cluster, cluster/namespace or */namespace")
    if ROLES.index(role) > ROLES.index(most_role(places)):
        raise ValueError(f"{text.strip()[:100]!r}: for this scope the role can be at most {most_role(places)}")
    return Granted(role, places)


def granted_by(groups: Iterable[str], roles: dict[str, Granted]) -> Granted | None:
    """What somebody in these groups has; None where no group gives a role.

    The highest role counts, and the places of all groups that give it are added up; one that gives it for everything wins.
    """
    given = [roles[group] for group in dict.fromkeys(groups) if group in roles]
    if not given:
        return None
    role = max((one.role for one in given), key=ROLES.index)
    scopes = [one.places for one in given if one.role == role]
    if not all(scopes):
        return Granted(role, ())
    # Operators have clusters only, so the role still fits what was added up.
    return Granted(role, tuple(dict.fromkeys(place for places in scopes for place in places)))
