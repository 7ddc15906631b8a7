"""What administrators do to accounts, by page and by command alike. Each act is in the audit log, in the transaction of the act."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth import SESSION_KEY, get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import ApiToken, UserScope
from accounts.roles import Role, granted, set_role
from accounts.scopes import most_role
from audit.actions import Action
from audit.acts import act, together

_READ_AT_ONCE = 500


class NotThatUser(Exception):
    """The account cannot be changed so; says why, and what to do."""


class LastAdministrator(NotThatUser):
    """Nobody else could undo it."""


def create(name: str, password: str, role: Role, places: Iterable[str] = ()) -> User:
    """Raises ValidationError where the name or the password is not good, and NotThatUser."""
    user = User(username=name)
    user.full_clean(exclude=["password"])
    validate_password(password, user)
    user.set_password(password)
    with together():
        with act(Action.USER_CREATE, user.get_username()):
            user.save()
        give(user, role, places)
    return user


def set_password(user: User, password: str) -> None:
    """Another one, which also ends the user's sessions and tokens. Raises ValidationError where it is not good."""
    validate_password(password, user)
    user.set_password(password)
    with act(Action.PASSWORD, user.get_username()):
        user.save()
        end_sessions(user)


def give(user: User, role: Role | None, places: Iterable[str] = ()) -> None:
    """This role for these places (none: for everything), and no other. Raises NotThatUser."""
    given = tuple(places)
    if role is not None and not most_role(given).covers(role):
        raise NotThatUser(
            _("The role %(role)s cannot have this scope. For this scope the role can be at most %(most)s.")
            % {"role": role.value, "most": most_role(given).value}
        )
    with together():
        if role != Role.ADMIN:
            _keep_an_administrator(user)
        follow(user, role, given)


def follow(user: User, role: Role | None, places: Iterable[str]) -> None:
    """As `give`, of what somebody else decides: also where no administrator is left, since groups may give another one the role."""
    given, (role_before, places_before) = tuple(places), granted(user)
    with together():
        if role != role_before:
            set_role(user, role)
        if list(given) != places_before:
            _set_scope(user, given)


def _set_scope(user: User, given: Sequence[str]) -> None:
    with act(Action.USER_SCOPE, user.get_username(), scope=", ".join(given) or "everything"):
        if given:
            UserScope.objects.update_or_create(user=user, defaults={"places": "\n".join(given)})
        else:
            UserScope.objects.filter(user=user).delete()


def set_active(user: User, active: bool) -> None:
    """A deactivated account signs in nowhere; its sessions and tokens end and do not come back. Raises NotThatUser."""
    with act(Action.USER_STATE, user.get_username(), state="active" if active else "deactivated"):
        if not active:
            _keep_an_administrator(user)
        user.is_active = active
        user.save(update_fields=["is_active"])
        if not active:
            end_sessions(user)
            ApiToken.revoke_all(user)


def end_sessions(user: User, but: str = "") -> int:
    """Delete the sessions of a user, but the one with this key. How many there were.

    Sessions do not say whose they are until they are read, so all that have not run out are read, some hundred at once.
    """
    mine = [one.session_key for one in _open_sessions() if _is_of(one, user) and one.session_key != but]
    if mine:
        with act(Action.SESSIONS_END, user.get_username(), ended=len(mine)):
            Session.objects.filter(pk__in=mine).delete()
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
            _("%(name)s is the last administrator. Create another administrator first.") % {"name": user.get_username()}
        )
