"""The three roles. A role is a Django group of the same name; what each may do is in `groups`.

Knows nothing of requests: `middleware` and `permissions` ask here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import Group
from django.db import connection, models

from audit.actions import Action
from audit.acts import act

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class Role(models.TextChoices):
    """VIEWER sees what is in its scope. OPERATOR also starts validations. ADMIN also keeps users, tokens and clusters."""

    VIEWER = "viewer", "viewer"
    OPERATOR = "operator", "operator"
    ADMIN = "admin", "admin"

    @property
    def rank(self) -> int:
        return list(Role).index(self)

    def covers(self, wanted: Role) -> bool:
        """Whether who has this role may do what `wanted` may do."""
        return self.rank >= wanted.rank


def role_of(user: Any) -> Role | None:
    """The highest role of a user; None for nobody, for a deactivated account and for one without a role."""
    return granted(user)[0]


def granted(user: Any) -> tuple[Role | None, list[str]]:
    """The role, and the places that it is for (see `scopes`); none: for everything. One query."""
    if not user.is_authenticated or not user.is_active:
        return None, []
    if user.is_superuser:
        return Role.ADMIN, []
    names, places = _granted_to(user.pk)
    return max((role for role in Role if role.value in names), key=lambda role: role.rank, default=None), places


#: Asked with each request: as text, since making it anew from the models takes longer than the answer.
_GRANTED = (
    "SELECT g.name, s.places FROM auth_group g JOIN auth_user_groups m ON m.group_id = g.id "
    "LEFT JOIN access_userscope s ON s.user_id = m.user_id WHERE m.user_id = %s"
)


def _granted_to(key: int) -> tuple[set[str], list[str]]:
    with connection.cursor() as cursor:
        cursor.execute(_GRANTED, [key])
        rows = cursor.fetchall()
    return {name for name, _ in rows}, next((places.split() for _, places in rows if places), [])


def lesser(one: Role | None, other: Role | None) -> Role | None:
    """The role that both cover."""
    if one is None or other is None:
        return None
    return one if other.covers(one) else other


def set_role(user: User, role: Role | None) -> None:
    """Give a user this role and no other."""
    with act(Action.USER_ROLE, user.get_username(), role=role.value if role else "none"):
        user.groups.remove(*Group.objects.filter(name__in=Role.values))
        if role is not None:
            user.groups.add(Group.objects.get_or_create(name=role.value)[0])
