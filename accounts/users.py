"""What administrators do to accounts, by page and by command alike. Each act is in the audit log, in the transaction of the act."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth import SESSION_KEY, get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import ApiToken, UserScope
from accounts.roles import Role, granted, set_role
from accounts.scopes import most_role
from audit.actions import Action
from audit.chain import record

_READ_AT_ONCE = 500


class NotThatUser(Exception):
    """The account cannot be changed so; says why, and what to do."""


class LastAdministrator(NotThatUser):
    """Nobody else could undo it."""


@transaction.atomic
def create(name: str, password: str, role: Role, places: Iterable[str] = ()) -> User:
    """Raises ValidationError where the name or the password is not good, and NotThatUser."""
    user = User(username=name)
    user.full_clean(exclude=["password"])
    validate_password(password, user)
    user.set_password(password)
    user.save()
    record(Action.USER_MAKE, user.get_username())
    give(user, role, places)
    return user


@transaction.atomic
def give(user: User, role: Role | None, places: Iterable[str] = ()) -> None:
    """This role for these places (none: for everything), and no other. Raises NotThatUser."""
    given = tuple(places)
    if role is not None and not most_role(given).covers(role):
        raise NotThatUser(
            _("The role %(role)s cannot be for a part. For these places it is %(most)s at most.")
            % {"role": role.value, "most": most_role(given).value}
        )
    if role != Role.ADMIN:
        _keep_an_administrator(user)
    follow(user, role, given)


@transaction.atomic
def follow(user: User, role: Role | None, places: Iterable[str]) -> None:
    """As `give`, of what somebody else decides: also where no administrator is left, since groups may give another one the role."""
    given, (role_before, places_before) = tuple(places), granted(user)
    if role != role_before:
        set_role(user, role)
    if list(given) == places_before:
        return
    if given:
        UserScope.objects.update_or_create(user=user, defaults={"places": "\n".join(given)})
    else:
        UserScope.objects.filter(user=user).delete()
    record(Action.USER_SCOPE, user.get_username(), places=", ".join(given) or "everything")


@transaction.atomic
def set_active(user: User, active: bool) -> None:
    """A deactivated account signs in nowhere; its sessions and tokens end and do not come back. Raises NotThatUser."""
    if not active:
        _keep_an_administrator(user)
    user.is_active = active
    user.save(update_fields=["is_active"])
    record(Action.USER_STATE, user.get_username(), state="active" if active else "deactivated")
    if not active:
        end_sessions(user)
        ApiToken.revoke_all(user)


@transaction.atomic
def end_sessions(user: User, but: str = "") -> int:
    """Delete the sessions of a user, but the one with this key. How many there were.

    Sessions do not say whose they are until they are read, so all that have not run out are read, some hundred at once.
    """
    mine = [one.session_key for one in _open_sessions() if _is_of(one, user) and one.session_key != but]
    Session.objects.filter(pk__in=mine).delete()
    if mine:
        record(Action.SESSIONS_END, user.get_username(), ended=len(mine))
    return len(mine)


def _open_sessions() -> Iterable[Session]:
    return Session.objects.filter(expire_date__gt=timezone.now()).order_by("pk").iterator(_READ_AT_ONCE)


def _is_of(session: Session, user: User) -> bool:
    decoded: dict[str, Any] = session.get_decoded()
    return decoded.get(SESSION_KEY) == str(user.pk)


def _keep_an_administrator(user: User) -> None:
    """Raises NotThatUser where nobody else could undo what is about to be done. Locked, so that two do not go at once."""
    administrators = Q(is_superuser=True) | Q(groups__name=Role.ADMIN.value)
    rows = get_user_model()._default_manager.filter(administrators, is_active=True)
    keys = set(User.objects.select_for_update().filter(pk__in=rows.values("pk")).values_list("pk", flat=True))
    if keys == {user.pk}:
        raise LastAdministrator(
            _("%(name)s is the last administrator: make another one first.") % {"name": user.get_username()}
        )
