"""Accounts that somebody else keeps: made at their first sign-in, with the role that their groups give at each.

Such an account is known by who keeps it and by the subject there, never by a name or an e-mail address: whoever has the
name of a local account elsewhere does not get into it. allauth's table holds which subject is which account.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import msgspec
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.group_roles import granted_by
from accounts.roles import Role
from accounts.users import end_sessions, follow
from audit import who
from audit.actions import Action, Kind
from audit.acts import act, refuse, together

BACKEND = "accounts.backend.ExternalBackend"
MOST_SUBJECT = 191
_NAME_CHARS = 140
_TRIES = 5


class NotLetIn(Exception):
    """Who asks is known and may not sign in; the text says why, and whom to ask."""


def account_of(source: str, subject: str, name: str) -> User:
    """The account of this subject, made at its first sign-in. name: as the source has it; a taken one gets a number."""
    for _again in range(_TRIES):
        found = SocialAccount.objects.filter(provider=source, uid=subject).select_related("user").first()
        if found is not None:
            user: User = found.user
            return user
        # Of two first sign-ins at the same moment one finds the account of the other.
        with suppress(IntegrityError):
            return _made(source, subject, name)
    raise NotLetIn(_("Could not create the account. Try again."))


def _made(source: str, subject: str, name: str) -> User:
    user = User(username=_free_name(name))
    user.set_unusable_password()
    with _by_gpudash(), act(Action.USER_CREATE, user.get_username(), by=source, subject=subject):
        user.save()
        SocialAccount.objects.create(user=user, provider=source, uid=subject)
    return user


def _free_name(name: str) -> str:
    """Of what Django's names may hold; "ana-2" where somebody else is "ana", in whatever case."""
    plain = re.sub(r"[^\w.@+-]+", "-", name)[:_NAME_CHARS].strip("-") or "user"
    taken = {one.lower() for one in User.objects.filter(username__istartswith=plain).values_list("username", flat=True)}
    names = (plain, *(f"{plain}-{number}" for number in range(2, len(taken) + 3)))
    return next(one for one in names if one.lower() not in taken)


def let_in(user: User, groups: Iterable[str], by: str) -> None:
    """Give the account what its groups give now. Raises NotLetIn; in no group, role, scope and sessions are gone then."""
    if not user.is_active:
        _refused(user, by, "deactivated")
        raise NotLetIn(_("Your account is deactivated. Ask an administrator."))
    granted = granted_by(groups, settings.GROUP_ROLES)
    with _by_gpudash(), together():
        follow(user, Role(granted.role) if granted else None, granted.places if granted else ())
        if granted is None:
            end_sessions(user)
    if granted is None:
        _refused(user, by, "no group with a role")
        raise NotLetIn(_("None of your groups has access to gpudash. Ask an administrator."))


def sign_in(request: Any, user: User, by: str) -> None:
    """by: a word for the audit log. The session ends after GPUDASH_EXTERNAL_SESSION_HOURS, used or not: then groups are looked at."""
    request.signed_in_by = by
    login(request, user, backend=BACKEND)
    request.session.set_expiry(timezone.now() + timedelta(hours=settings.EXTERNAL_SESSION_HOURS))


def _refused(user: User, by: str, why: str) -> None:
    refuse(Action.SIGN_IN, user.get_username(), by=by, why=why)


def _by_gpudash() -> Any:
    """What groups give is given by no person."""
    return who.acting(msgspec.structs.replace(who.current(), kind=Kind.PROCESS.value))
